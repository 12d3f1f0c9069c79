import * as ops from "../../../lib/ggml/ops/mod.ts";
import type { ElementOperator, GatedOperator } from "../../../lib/ggml/ops/mod.ts";
import { type Case, HALF } from "./case.ts";
import { Nd, nd } from "./nd.ts";

/** The error function, by its series and continued fraction. */
export function erf(x: number): number {
  const z = Math.abs(x);
  if (z < 2.5) {
    let term = z;
    let total = z;
    for (let n = 1; n < 80; n++) {
      term *= -z * z / n;
      total += term / (2 * n + 1);
    }
    return Math.sign(x) * total * 2 / Math.sqrt(Math.PI);
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / 2 / (z + fraction);
  return Math.sign(x) * (1 - Math.exp(-z * z) / ((z + fraction) * Math.sqrt(Math.PI)));
}

export const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const silu = (x: number): number => x * sigmoid(x);
const geluErf = (x: number): number => x * (1 + erf(x / Math.SQRT2)) / 2;
const gelu = (x: number): number => x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))) / 2;
const geluQuick = (x: number): number => x * sigmoid(1.702 * x);
const relu = (x: number): number => Math.max(x, 0);
export const softplus = (x: number): number => Math.log1p(Math.exp(x));

interface Element {
  readonly name: string;
  readonly f: (x: number) => number;
  readonly low?: number;
  readonly high?: number;
  readonly tolerance?: number;
  readonly gradient?: boolean;
}

const elements: readonly Element[] = [
  { name: "abs", f: Math.abs, low: 0.1, gradient: true },
  { name: "sgn", f: Math.sign },
  { name: "neg", f: (x) => -x, gradient: true },
  { name: "step", f: (x) => x > 0 ? 1 : 0 },
  { name: "tanh", f: Math.tanh },
  { name: "elu", f: (x) => x > 0 ? x : Math.expm1(x) },
  { name: "relu", f: relu, low: 0.1, gradient: true },
  { name: "sigmoid", f: sigmoid },
  { name: "gelu", f: gelu, tolerance: HALF },
  { name: "geluErf", f: geluErf },
  { name: "geluQuick", f: geluQuick, tolerance: HALF },
  { name: "silu", f: silu, gradient: true },
  { name: "hardswish", f: (x) => x * Math.min(Math.max(x + 3, 0), 6) / 6, low: -5, high: 5 },
  { name: "hardsigmoid", f: (x) => Math.min(Math.max(x + 3, 0), 6) / 6, low: -5, high: 5 },
  { name: "exp", f: Math.exp, gradient: true },
  { name: "expm1", f: Math.expm1, gradient: true },
  { name: "softplus", f: softplus, gradient: true },
  { name: "floor", f: Math.floor },
  { name: "ceil", f: Math.ceil },
  { name: "round", f: (x) => Math.sign(x) * Math.round(Math.abs(x)) },
  { name: "trunc", f: Math.trunc },
  { name: "sqr", f: (x) => x * x, gradient: true },
  { name: "sqrt", f: Math.sqrt, low: 0.2, high: 4, gradient: true },
  { name: "log", f: Math.log, low: 0.2, high: 4, gradient: true },
  { name: "sin", f: Math.sin, gradient: true },
  { name: "cos", f: Math.cos, gradient: true },
];

const operators = ops as unknown as Readonly<Record<string, ElementOperator>>;

const plain: readonly Case[] = elements.flatMap(({ name, f, low = -2, high = 2, tolerance, gradient }) => {
  const close = tolerance === undefined ? {} : { tolerance };
  const one: Case = {
    name,
    ...close,
    make: (draw) => ({
      operands: [draw.operand(draw.shape(), low, high)],
      build: (context, a) => operators[name]!(context, a!),
      reference: (a) => a.map(f),
      ...(gradient === true ? { gradients: [0] } : {}),
    }),
  };
  if (name.startsWith("hard")) return [one];
  const inPlace: Case = {
    name: `${name} in place`,
    ...close,
    make: (draw) => ({
      operands: [draw.operand(draw.shape(), low, high)],
      build: (context, a) => operators[name]!(context, a!, { inPlace: true }),
      reference: (a) => a.map(f),
    }),
  };
  return [one, inPlace];
});

const half: readonly Case[] = elements.filter(({ name }) => !["gelu", "geluErf", "geluQuick"].includes(name)).map(
  ({ name, f, low = -2, high = 2 }) => ({
    name: `${name} of f16`,
    tolerance: HALF,
    make: (draw) => ({
      operands: [draw.operand(draw.shape(), low, high, "f16")],
      build: (context, a) => operators[name]!(context, a!),
      reference: (a) => a.map(f),
    }),
  }),
);

const gated: readonly [name: string, f: (x: number) => number, tolerance: number | undefined][] = [
  ["reglu", relu, undefined],
  ["geglu", gelu, HALF],
  ["swiglu", silu, undefined],
  ["gegluErf", geluErf, undefined],
  ["gegluQuick", geluQuick, HALF],
];
const gates = ops as unknown as Readonly<Record<string, GatedOperator>>;

const glus: readonly Case[] = gated.flatMap(([name, f, tolerance]): Case[] => {
  const close = tolerance === undefined ? {} : { tolerance };
  return [
    {
      name: `${name} of halves`,
      ...close,
      make: (draw) => {
        const [n0, n1, n2] = draw.shape();
        const swapped = draw.of(true, false);
        return {
          operands: [draw.operand([n0 * 2, n1, n2])],
          build: (context, a) => gates[name]!(context, a!, { swapped }),
          reference: (a) =>
            nd([n0, n1, n2], (i, j, k) => {
              const [x, g] = [a.at(i, j, k), a.at(i + n0, j, k)];
              return swapped ? f(g) * x : f(x) * g;
            }),
        };
      },
    },
    {
      name,
      ...close,
      make: (draw) => {
        const shape = draw.shape();
        return {
          operands: [draw.operand(shape), draw.operand(shape)],
          build: (context, a, gate) => gates[name]!(context, a!, { gate: gate! }),
          reference: (a, gate) => new Nd(shape, a.data.map((x, at) => f(x) * gate.data[at]!)),
          ...(name === "swiglu" ? { gradients: [0, 1] } : {}),
        };
      },
    },
  ];
});

/** Operators on each element alone. */
export const elementCases: readonly Case[] = [
  ...plain,
  ...half,
  ...glus,
  {
    name: "unary",
    make: (draw) => {
      const name = draw.of("abs", "tanh", "elu", "exp", "trunc", "softplus") as "abs";
      return {
        operands: [draw.operand(draw.shape())],
        build: (context, a) => ops.unary(context, a!, name),
        reference: (a) => a.map(elements.find((one) => one.name === name)!.f),
      };
    },
  },
  {
    name: "glu",
    make: (draw) => {
      const shape = draw.shape();
      return {
        operands: [draw.operand(shape), draw.operand(shape)],
        build: (context, a, gate) => ops.glu(context, a!, "swiglu", { gate: gate! }),
        reference: (a, gate) => new Nd(shape, a.data.map((x, at) => silu(x) * gate.data[at]!)),
      };
    },
  },
  {
    name: "swigluOai",
    make: (draw) => {
      const shape = draw.shape();
      const [alpha, limit] = [1.3, 1.5];
      return {
        operands: [draw.operand(shape, -3, 3), draw.operand(shape, -3, 3)],
        build: (context, a, gate) => ops.swigluOai(context, a!, gate!, { alpha, limit }),
        reference: (a, gate) =>
          new Nd(
            shape,
            a.data.map((x, at) => {
              const y = Math.min(x, limit);
              return y * sigmoid(alpha * y) * (Math.min(Math.max(gate.data[at]!, -limit), limit) + 1);
            }),
          ),
      };
    },
  },
  {
    name: "swigluClamp",
    make: (draw) => {
      const shape = draw.shape();
      const limit = 1.5;
      return {
        operands: [draw.operand(shape, -3, 3), draw.operand(shape, -3, 3)],
        build: (context, a, gate) => ops.swigluClamp(context, a!, gate!, limit),
        reference: (a, gate) =>
          new Nd(
            shape,
            a.data.map((x, at) => silu(Math.min(x, limit)) * Math.min(Math.max(gate.data[at]!, -limit), limit)),
          ),
      };
    },
  },
  {
    name: "leakyRelu",
    make: (draw) => {
      const inPlace = draw.of(true, false);
      return {
        operands: [draw.operand(draw.shape())],
        build: (context, a) => ops.leakyRelu(context, a!, { slope: 0.2, inPlace }),
        reference: (a) => a.map((x) => x > 0 ? x : 0.2 * x),
      };
    },
  },
  {
    name: "xielu",
    make: (draw) => ({
      operands: [draw.operand(draw.shape())],
      build: (context, a) => ops.xielu(context, a!, { alphaN: 0.3, alphaP: 0.7, beta: 0.5, eps: -1e-6 }),
      reference: (a) =>
        a.map((x) =>
          x > 0
            ? softplus(0.7) * x * x + 0.5 * x
            : (Math.expm1(Math.min(x, -1e-6)) - x) * (0.5 + softplus(0.3)) + 0.5 * x
        ),
    }),
  },
  {
    name: "siluBack",
    make: (draw) => {
      const shape = draw.shape();
      return {
        operands: [draw.operand(shape), draw.operand(shape)],
        build: (context, gradient, a) => ops.siluBack(context, gradient!, a!),
        reference: (gradient, a) =>
          new Nd(shape, a.data.map((x, at) => gradient.data[at]! * sigmoid(x) * (1 + x * (1 - sigmoid(x))))),
      };
    },
  },
  {
    name: "clamp",
    make: (draw) => {
      const inPlace = draw.of(true, false);
      return {
        operands: [draw.operand(draw.shape())],
        build: (context, a) => ops.clamp(context, a!, { min: -0.5, max: 1.25, inPlace }),
        reference: (a) => a.map((x) => Math.min(Math.max(x, -0.5), 1.25)),
      };
    },
  },
  {
    name: "scale",
    make: (draw) => ({
      operands: [draw.operand(draw.shape())],
      build: (context, a) => ops.scale(context, a!, -1.5),
      reference: (a) => a.map((x) => -1.5 * x),
      gradients: [0],
    }),
  },
  {
    name: "scale with bias",
    make: (draw) => {
      const inPlace = draw.of(true, false);
      return {
        operands: [draw.operand(draw.shape())],
        build: (context, a) => ops.scale(context, a!, 1.5, { bias: 0.25, inPlace }),
        reference: (a) => a.map((x) => 1.5 * x + 0.25),
      };
    },
  },
  {
    name: "fill",
    make: (draw) => {
      const inPlace = draw.of(true, false);
      return {
        operands: [draw.operand(draw.shape())],
        build: (context, a) => ops.fill(context, a!, 3.5, { inPlace }),
        reference: (a) => a.map(() => 3.5),
      };
    },
  },
];
