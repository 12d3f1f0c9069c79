import type { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import * as ops from "../../../lib/ggml/ops/mod.ts";
import type { Tensor } from "../../../lib/ggml/tensor/tensor.ts";
import type { TypeName } from "../../../lib/ggml/tensor/types.ts";

/** Makes operands: their values are written once they have memory. */
export interface Maker {
  readonly context: GgmlContext;
  /** A number from `low` to `high`, both included. */
  whole(this: void, low: number, high: number): number;
  /** A tensor of random numbers, from -2 to 2 unless told otherwise. */
  random(this: void, shape: readonly number[], type?: TypeName, low?: number, high?: number): Tensor;
  /** A tensor of whole numbers from 0 up to, without, `below`. */
  indices(this: void, shape: readonly number[], below: number, type?: "i32" | "i64"): Tensor;
}

/** An operator as both backends compute it. */
export interface Case {
  readonly name: string;
  /** The most by which results may differ, of the largest value. */
  readonly tolerance?: number;
  make(this: void, maker: Maker): Tensor;
}

const shape = ({ whole }: Maker): [number, number, number, number] => [
  whole(1, 9),
  whole(1, 5),
  whole(1, 3),
  whole(1, 2),
];

const unaries = [
  "abs",
  "sgn",
  "neg",
  "step",
  "tanh",
  "elu",
  "relu",
  "sigmoid",
  "silu",
  "exp",
  "expm1",
  "softplus",
  "floor",
  "ceil",
  "trunc",
  "sqr",
  "sin",
  "cos",
  "geluErf",
  "hardswish",
  "hardsigmoid",
] as const; // deno-fmt-ignore

const weightTypes: readonly TypeName[] = ["f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q4_K", "q6_K", "iq4_nl", "mxfp4"];

/** Products by quantised weights: the CPU rounds what they are multiplied with to 8 bits. */
const ROUNDED = 0.03;
/** Values that pass through 16 bits on the CPU. */
const HALF = 3e-3;

function maskOf({ context: _, random }: Maker, keys: number, queries: number): Tensor {
  return random([keys, queries], "f16", -1, 0);
}

/** All cases. */
export const cases: readonly Case[] = [
  ...unaries.map((name): Case => ({ name, make: (m) => ops[name](m.context, m.random(shape(m))) })),
  ...(["gelu", "geluQuick"] as const).map((name): Case => ({
    name,
    tolerance: HALF,
    make: (m) => ops[name](m.context, m.random(shape(m))),
  })),
  { name: "round", make: (m) => ops.round(m.context, m.random(shape(m))) },
  { name: "sqrt", make: (m) => ops.sqrt(m.context, m.random(shape(m), "f32", 0.1, 4)) },
  { name: "log", make: (m) => ops.log(m.context, m.random(shape(m), "f32", 0.1, 4)) },
  { name: "leakyRelu", make: (m) => ops.leakyRelu(m.context, m.random(shape(m))) },
  { name: "scale", make: (m) => ops.scale(m.context, m.random(shape(m)), 1.7) },
  { name: "clamp", make: (m) => ops.clamp(m.context, m.random(shape(m)), { min: -0.5, max: 0.7 }) },
  { name: "fill", make: (m) => ops.fill(m.context, m.random(shape(m)), 2.5) },
  ...(["add", "sub", "mul", "div"] as const).map((name): Case => ({
    name: `${name}, repeated`,
    make: (m) => {
      const [a, b, c, d] = shape(m);
      return ops[name](
        m.context,
        m.random([a, b, c, d]),
        m.random([m.whole(0, 1) === 0 ? a : 1, 1, c, 1], "f32", 0.5, 2),
      );
    },
  })),
  ...(["reglu", "swiglu", "gegluErf"] as const).map((name): Case => ({
    name,
    make: (m) => {
      const size = shape(m);
      return ops[name](m.context, m.random(size), { gate: m.random(size) });
    },
  })),
  { name: "swiglu of halves", make: (m) => ops.swiglu(m.context, m.random([2 * m.whole(1, 9), m.whole(1, 4)])) },
  {
    name: "swigluOai",
    make: (m) => {
      const size = shape(m);
      return ops.swigluOai(m.context, m.random(size), m.random(size));
    },
  },
  ...(["norm", "rmsNorm", "l2Norm"] as const).map((name): Case => ({
    name,
    make: (m) => ops[name](m.context, m.random([m.whole(4, 40), m.whole(1, 5), m.whole(1, 3)])),
  })),
  ...(["sum", "sumRows", "mean", "cumsum"] as const).map((name): Case => ({
    name,
    make: (m) => ops[name](m.context, m.random(shape(m))),
  })),
  { name: "argmax", make: (m) => ops.argmax(m.context, m.random([m.whole(2, 30), m.whole(1, 5)])) },
  ...(["ascending", "descending"] as const).map((order): Case => ({
    name: `argsort ${order}`,
    make: (m) => ops.argsort(m.context, m.random([m.whole(2, 30), m.whole(1, 5)]), order),
  })),
  ...weightTypes.map((type): Case => ({
    name: `mulMat ${type}`,
    tolerance: type === "f32" ? 1e-5 : type === "f16" || type === "bf16" ? HALF * 4 : ROUNDED,
    make: (m) => {
      const [heads, parts] = [m.whole(1, 2), m.whole(1, 2)];
      const a = m.random([256, m.whole(1, 6), heads], type);
      return ops.mulMat(m.context, a, m.random([256, m.whole(1, 4), heads * parts, m.whole(1, 2)]));
    },
  })),
  {
    name: "mulMat of views that aren't contiguous",
    make: (m) => {
      const a = ops.permute(m.context, m.random([8, 3, 5]), [0, 2, 1, 3]);
      return ops.mulMat(m.context, a, m.random([8, 4, 3]));
    },
  },
  {
    name: "mulMatId",
    make: (m) => {
      const [experts, used, tokens] = [m.whole(2, 5), m.whole(1, 2), m.whole(1, 4)];
      const ids = m.indices([used, tokens], experts);
      return ops.mulMatId(m.context, m.random([32, 6, experts]), m.random([32, used, tokens]), ids);
    },
  },
  {
    name: "outProd",
    make: (m) => {
      const k = m.whole(1, 6);
      return ops.outProd(m.context, m.random([m.whole(1, 8), k]), m.random([m.whole(1, 5), k]));
    },
  },
  ...(["f32", "f16", "q4_1", "q8_0", "q6_K"] as const).map((type): Case => ({
    name: `getRows ${type}`,
    make: (m) => ops.getRows(m.context, m.random([256, 7], type), m.indices([m.whole(1, 9)], 7)),
  })),
  ...(["f32", "f16", "q8_0"] as const).map((type): Case => ({
    name: `setRows ${type}`,
    make: (m) => {
      const rows = m.indices([1], 7, "i64");
      return ops.cast(m.context, ops.setRows(m.context, m.random([64, 7], type), m.random([64, 1]), rows), "f32");
    },
  })),
  {
    name: "softMax",
    make: (m) => ops.softMax(m.context, m.random(shape(m)), { scale: 0.7 }),
  },
  {
    name: "softMax with a mask, ALiBi and sinks",
    make: (m) => {
      const [keys, queries, heads] = [m.whole(2, 20), m.whole(1, 5), m.whole(1, 5)];
      const mask = maskOf(m, keys, queries);
      const sinks = m.random([heads]);
      return ops.softMax(m.context, m.random([keys, queries, heads]), { mask, maxBias: 8, scale: 0.5, sinks });
    },
  },
  { name: "diagMaskInf", make: (m) => ops.softMax(m.context, ops.diagMaskInf(m.context, m.random([6, 6, 2]), 0)) },
  { name: "diagMaskZero", make: (m) => ops.diagMaskZero(m.context, m.random([6, 4, 2]), 1) },
  ...(["normal", "neox"] as const).flatMap((mode): Case[] => [
    {
      name: `rope ${mode}`,
      make: (m) => {
        const tokens = m.whole(1, 6);
        return ops.rope(m.context, m.random([16, m.whole(1, 3), tokens]), m.indices([tokens], 100), {
          mode,
          dimensions: 12,
        });
      },
    },
    {
      name: `rope ${mode}, stretched, with factors`,
      make: (m) => {
        const tokens = m.whole(1, 6);
        const factors = m.random([8], "f32", 0.5, 2);
        const options = {
          mode,
          factors,
          frequencyScale: 0.5,
          extFactor: 1,
          trainedContext: 32,
          frequencyBase: 5000,
        } as const;
        return ops.rope(m.context, m.random([16, 2, tokens]), m.indices([tokens], 100), options);
      },
    },
  ]),
  {
    name: "ropeBack",
    make: (m) => ops.ropeBack(m.context, m.random([16, 2, 3]), m.indices([3], 100)),
  },
  ...(["f16", "f32", "q8_0"] as const).map((type): Case => ({
    name: `flashAttention ${type}`,
    tolerance: 0.02,
    make: (m) => {
      const [keys, queries, kv] = [m.whole(1, 20), m.whole(1, 4), m.whole(1, 2)];
      const [k, v] = [m.random([32, keys, kv], type), m.random([32, keys, kv], type)];
      const mask = maskOf(m, keys, queries);
      return ops.flashAttention(m.context, m.random([32, queries, 2 * kv]), k, v, { mask, softcap: 10 });
    },
  })),
  {
    name: "cont of a transposed",
    make: (m) => ops.cont(m.context, ops.transpose(m.context, m.random([m.whole(1, 9), 5, 2]))),
  },
  ...(["f16", "bf16", "q8_0", "q4_0"] as const).map((type): Case => ({
    name: `there to ${type} and back`,
    make: (m) => ops.cast(m.context, ops.cast(m.context, m.random([64, m.whole(1, 4)]), type), "f32"),
  })),
  { name: "repeat", make: (m) => ops.repeat(m.context, m.random([3, 1, 2]), [6, 4, 2, 2]) },
  {
    name: "concat",
    make: (m) => {
      const dimension = m.whole(0, 3);
      const size = shape(m);
      const other = size.with(dimension, m.whole(1, 4));
      return ops.concat(m.context, m.random(size), m.random(other), dimension);
    },
  },
  { name: "acc", make: (m) => ops.acc(m.context, m.random([8, 4]), m.random([3, 2]), { offset: 36 }) },
  { name: "set", make: (m) => ops.set(m.context, m.random([8, 4]), m.random([3, 2]), { offset: 36 }) },
  { name: "pad", make: (m) => ops.pad(m.context, m.random(shape(m)), [1, 2, 0, 1], { before: [2, 0, 1, 0] }) },
  { name: "arange", make: (m) => ops.arange(m.context, { start: 1, stop: 9, step: 0.75 }) },
];
