import * as ops from "../../../lib/ggml/ops/mod.ts";
import type { BinaryOperator } from "../../../lib/ggml/ops/mod.ts";
import { type Case, type Draw, HALF } from "./case.ts";
import { Nd, nd, rows, sum, sumOf } from "./nd.ts";

const binary: Readonly<Record<string, (x: number, y: number) => number>> = {
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => x * y,
  div: (x, y) => x / y,
};
const operators = ops as unknown as Readonly<Record<string, BinaryOperator>>;

/** A shape, and one that can be repeated to it. */
function repeated(draw: Draw): [number[], number[]] {
  const small = draw.shape(4);
  return [small.map((size) => size * draw.int(1, 3)), small];
}

const binaries: readonly Case[] = Object.entries(binary).flatMap(([name, f]): Case[] => [
  {
    name: `${name}, repeated`,
    make: (draw) => {
      const [large, small] = repeated(draw);
      const inPlace = draw.of(true, false);
      return {
        operands: [draw.operand(large), draw.operand(small, 0.5, 2)],
        build: (context, a, b) => operators[name]!(context, a!, b!, { inPlace }),
        reference: (a, b) => nd(large, (i, j, k, l) => f(a.at(i, j, k, l), b.wrap(i, j, k, l))),
      };
    },
  },
  {
    name,
    make: (draw) => {
      const [large, small] = repeated(draw);
      const same = name === "sub" || name === "div" ? large : small;
      return {
        operands: [draw.operand(large), draw.operand(same, 0.5, 2)],
        build: (context, a, b) => operators[name]!(context, a!, b!),
        reference: (a, b) => nd(large, (i, j, k, l) => f(a.at(i, j, k, l), b.wrap(i, j, k, l))),
        gradients: [0, 1],
      };
    },
  },
  {
    name: `${name} of f16 and f32`,
    tolerance: HALF,
    make: (draw) => {
      const shape = draw.shape();
      const types = draw.of(["f16", "f32"], ["f16", "f16"], ["bf16", "f32"]) as ["f16", "f32"];
      return {
        operands: [draw.operand(shape, -2, 2, types[0]), draw.operand(shape, 0.5, 2, types[1])],
        build: (context, a, b) => ops.cast(context, operators[name]!(context, a!, b!), "f32"),
        reference: (a, b) =>
          new Nd(shape, a.data.map((x, at) => types[0] === "f16" ? f(x, b.data[at]!) : bf16(f(x, b.data[at]!)))),
      };
    },
  },
]);

/** Rounded to 8 bits of fraction. */
function bf16(value: number): number {
  const word = new Uint32Array(new Float32Array([value]).buffer);
  word[0] = (word[0]! + 0x7fff + ((word[0]! >>> 16) & 1)) & 0xffff0000;
  return new Float32Array(word.buffer)[0]!;
}

function place(a: Nd, b: Nd, at: readonly number[], f: (old: number, value: number) => number): Nd {
  const made = new Nd(a.shape, a.data);
  const [n0, n1, n2, n3] = b.shape;
  for (let i3 = 0; i3 < n3; i3++) {
    for (let i2 = 0; i2 < n2; i2++) {
      for (let i1 = 0; i1 < n1; i1++) {
        for (let i0 = 0; i0 < n0; i0++) {
          const to = [i0 + at[0]!, i1 + at[1]!, i2 + at[2]!, i3 + at[3]!] as const;
          made.put(f(a.at(...to), b.at(i0, i1, i2, i3)), ...to);
        }
      }
    }
  }
  return made;
}

function part(draw: Draw): { large: number[]; small: number[]; at: number[]; offset: number } {
  const large = [draw.int(2, 6), draw.int(2, 5), draw.int(1, 3), draw.int(1, 2)];
  const small = large.map((size) => draw.int(1, size));
  const at = large.map((size, index) => draw.int(0, size - small[index]!));
  const offset = 4 * (at[0]! + large[0]! * (at[1]! + large[1]! * (at[2]! + large[2]! * at[3]!)));
  return { large, small, at, offset };
}

/** Arithmetic, and one number of many. */
export const arithmeticCases: readonly Case[] = [
  ...binaries,
  {
    name: "add of types in blocks",
    tolerance: 0.05,
    make: (draw) => {
      const shape = [256, draw.int(1, 3)];
      const type = draw.of("q4_0", "q5_1", "q8_0", "q4_K", "q6_K", "iq4_nl", "mxfp4") as "q4_0";
      return {
        operands: [draw.operand(shape, -2, 2, type), draw.operand(shape)],
        build: (context, a, b) => ops.addCast(context, a!, b!, "f32"),
        reference: (a, b) => new Nd(shape, a.data.map((x, at) => x + b.data[at]!)),
      };
    },
  },
  {
    name: "addCast of f16",
    make: (draw) => {
      const shape = draw.shape();
      return {
        operands: [draw.operand(shape, -2, 2, draw.of("f16", "bf16")), draw.operand([shape[0], 1, shape[2]])],
        build: (context, a, b) => ops.addCast(context, a!, b!, "f32"),
        reference: (a, b) => nd(shape, (i, j, k, l) => a.at(i, j, k, l) + b.wrap(i, j, k, l)),
      };
    },
  },
  {
    name: "addId",
    make: (draw) => {
      const [n, used, tokens, experts] = [draw.int(1, 6), draw.int(1, 3), draw.int(1, 4), draw.int(1, 5)];
      return {
        operands: [draw.operand([n, used, tokens]), draw.operand([n, experts]), draw.indices([used, tokens], experts)],
        build: (context, a, b, ids) => ops.addId(context, a!, b!, ids!),
        reference: (a, b, ids) => nd([n, used, tokens], (i, j, k) => a.at(i, j, k) + b.at(i, ids.at(j, k))),
      };
    },
  },
  ...(["acc", "set"] as const).map((name): Case => ({
    name,
    make: (draw) => {
      const { large, small, at, offset } = part(draw);
      return {
        operands: [draw.operand(large), draw.operand(small)],
        build: (context, a, b) => ops[name](context, a!, b!, { offset }),
        reference: (a, b) => place(a, b, at, (old, value) => name === "acc" ? old + value : value),
        gradients: [0, 1],
      };
    },
  })),
  ...(["acc", "set"] as const).map((name): Case => ({
    name: `${name} in place`,
    make: (draw) => {
      const { large, small, at, offset } = part(draw);
      return {
        operands: [draw.operand(large), draw.operand(small)],
        build: (context, a, b) => ops[name](context, a!, b!, { offset, inPlace: true }),
        reference: (a, b) => place(a, b, at, (old, value) => name === "acc" ? old + value : value),
      };
    },
  })),
  {
    name: "arange",
    make: (draw) => {
      const [start, count, step] = [draw.int(-5, 5), draw.int(1, 20), draw.of(0.5, 1, 2)];
      return {
        operands: [],
        build: (context) => ops.arange(context, { start, stop: start + count * step, step }),
        reference: () => nd([count], (i) => start + i * step),
      };
    },
  },
  {
    name: "sum",
    make: (draw) => ({
      operands: [draw.operand(draw.shape())],
      build: (context, a) => ops.sum(context, a!),
      reference: (a) => new Nd([1], [sumOf([...a.data])]),
      gradients: [0],
    }),
  },
  {
    name: "sumRows",
    make: (draw) => ({
      operands: [draw.operand(draw.shape())],
      build: (context, a) => ops.sumRows(context, a!),
      reference: (a) => rows(a, (row) => [sumOf(row)]),
      gradients: [0],
    }),
  },
  {
    name: "cumsum",
    make: (draw) => ({
      operands: [draw.operand(draw.shape())],
      build: (context, a) => ops.cumsum(context, a!),
      reference: (a) => rows(a, (row) => row.map((_, at) => sumOf(row.slice(0, at + 1)))),
    }),
  },
  {
    name: "mean",
    make: (draw) => ({
      operands: [draw.operand(draw.shape())],
      build: (context, a) => ops.mean(context, a!),
      reference: (a) => rows(a, (row) => [sumOf(row) / row.length]),
      gradients: [0],
    }),
  },
  {
    name: "argmax",
    make: (draw) => ({
      operands: [draw.distinct([draw.int(1, 20), draw.int(1, 4)])],
      build: (context, a) => ops.argmax(context, a!),
      reference: (a) => rows(a, (row) => [row.indexOf(Math.max(...row))]).reshape([a.shape[1]]),
    }),
  },
  {
    name: "countEqual",
    make: (draw) => {
      const shape = [draw.int(1, 8), draw.int(1, 5)];
      return {
        operands: [draw.indices(shape, 3), draw.indices(shape, 3)],
        build: (context, a, b) => ops.countEqual(context, a!, b!),
        reference: (a, b) => new Nd([1], [sum(a.count, (at) => a.data[at] === b.data[at] ? 1 : 0)]),
      };
    },
  },
  {
    name: "argsort",
    make: (draw) => {
      const order = draw.of("ascending", "descending") as "ascending";
      return {
        operands: [draw.distinct([draw.int(1, 20), draw.int(1, 4)])],
        build: (context, a) => ops.argsort(context, a!, order),
        reference: (a) => rows(a, (row) => sorted(row, order === "ascending")),
      };
    },
  },
  {
    name: "argsortTopK",
    make: (draw) => {
      const n = draw.int(1, 20);
      const k = draw.int(1, n);
      return {
        operands: [draw.distinct([n, draw.int(1, 4)])],
        build: (context, a) => ops.argsortTopK(context, a!, k),
        reference: (a) => rows(a, (row) => sorted(row, false).slice(0, k)),
      };
    },
  },
  {
    name: "topK",
    make: (draw) => {
      const n = draw.int(1, 20);
      const k = draw.int(1, n);
      return {
        operands: [draw.distinct([n, draw.int(1, 4)])],
        // In no order: the sum says which they are.
        build: (context, a) => ops.sumRows(context, ops.cast(context, ops.topK(context, a!, k), "f32")),
        reference: (a) => rows(a, (row) => [sumOf(sorted(row, false).slice(0, k))]),
      };
    },
  },
];

function sorted(row: readonly number[], ascending: boolean): number[] {
  return row.map((_, index) => index).sort((x, y) => (row[x]! - row[y]!) * (ascending ? 1 : -1));
}
