import * as ops from "../../../lib/ggml/ops/mod.ts";
import type { Draw } from "./case.ts";
import { type Case, HALF } from "./case.ts";
import { Nd, nd, rows, sum, sumOf } from "./nd.ts";

const quantized = [
  "q4_0",
  "q4_1",
  "q5_0",
  "q5_1",
  "q8_0",
  "q2_K",
  "q3_K",
  "q4_K",
  "q5_K",
  "q6_K",
  "iq4_nl",
  "iq4_xs",
  "mxfp4",
  "tq2_0",
] as const;

function product(a: Nd, b: Nd): Nd {
  const [k, m, a2, a3] = a.shape;
  const [, n, b2, b3] = b.shape;
  return nd(
    [m, n, b2, b3],
    (i, j, x, y) =>
      sum(k, (at) => a.at(at, i, Math.floor(x / (b2 / a2)), Math.floor(y / (b3 / a3))) * b.at(at, j, x, y)),
  );
}

/** Batches where the second operand's are multiples of the first's. */
function batches(draw: Draw): [number, number, number, number] {
  const [a2, a3] = [draw.int(1, 2), draw.int(1, 2)];
  return [a2, a3, a2 * draw.int(1, 2), a3 * draw.int(1, 2)];
}

/** Matrices, norms, and copies. */
export const matrixCases: readonly Case[] = [
  {
    name: "mulMat",
    make: (draw) => {
      const [k, m, n] = [draw.int(1, 40), draw.int(1, 6), draw.int(1, 6)];
      const [a2, a3, b2, b3] = batches(draw);
      return {
        operands: [draw.operand([k, m, a2, a3]), draw.operand([k, n, b2, b3])],
        build: (context, a, b) => ops.mulMat(context, a!, b!),
        reference: product,
      };
    },
  },
  {
    name: "mulMat, its gradients",
    make: (draw) => {
      const [k, m, n, heads, repeat] = [draw.int(1, 8), draw.int(1, 5), draw.int(1, 5), draw.int(1, 2), draw.int(1, 2)];
      return {
        operands: [draw.operand([k, m, heads]), draw.operand([k, n, heads * repeat])],
        build: (context, a, b) => ops.mulMat(context, a!, b!),
        reference: product,
        gradients: [0, 1],
      };
    },
  },
  ...(["f16", "bf16"] as const).map((type): Case => ({
    name: `mulMat of ${type}`,
    // The other operand is rounded to 16 bits too.
    tolerance: type === "f16" ? HALF : 0.01,
    make: (draw) => {
      const [k, m, n] = [draw.int(1, 80), draw.int(1, 6), draw.int(1, 6)];
      return {
        operands: [draw.operand([k, m], -2, 2, type), draw.operand([k, n])],
        build: (context, a, b) => ops.mulMat(context, a!, b!),
        reference: product,
      };
    },
  })),
  ...quantized.map((type): Case => ({
    name: `mulMat of ${type}`,
    // The other operand is rounded to 8 bits: some hundredths for each of 256 or 512 products, which nearly cancel in some sums.
    tolerance: 0.2,
    make: (draw) => {
      const [k, m, n] = [256 * draw.int(1, 2), draw.int(1, 5), draw.int(1, 5)];
      return {
        operands: [draw.operand([k, m], -2, 2, type), draw.operand([k, n])],
        build: (context, a, b) => ops.mulMat(context, a!, b!),
        reference: product,
      };
    },
  })),
  {
    name: "mulMatId",
    make: (draw) => {
      const [k, m, experts, used, tokens] = [
        draw.int(1, 20),
        draw.int(1, 5),
        draw.int(1, 4),
        draw.int(1, 3),
        draw.int(1, 4),
      ];
      const shared = draw.of(1, used);
      return {
        operands: [
          draw.operand([k, m, experts]),
          draw.operand([k, shared, tokens]),
          draw.indices([used, tokens], experts),
        ],
        build: (context, a, b, ids) => ops.mulMatId(context, a!, b!, ids!),
        reference: (a, b, ids) =>
          nd([m, used, tokens], (i, e, t) => sum(k, (at) => a.at(at, i, ids.at(e, t)) * b.at(at, e % shared, t))),
      };
    },
  },
  {
    name: "outProd",
    make: (draw) => {
      const [k, m, n] = [draw.int(1, 6), draw.int(1, 9), draw.int(1, 6)];
      const [a2, a3, b2, b3] = batches(draw);
      return {
        operands: [draw.operand([m, k, a2, a3]), draw.operand([n, k, b2, b3])],
        build: (context, a, b) => ops.outProd(context, a!, b!),
        reference: (a, b) =>
          nd(
            [m, n, b2, b3],
            (i, j, x, y) =>
              sum(k, (at) => a.at(i, at, Math.floor(x / (b2 / a2)), Math.floor(y / (b3 / a3))) * b.at(j, at, x, y)),
          ),
      };
    },
  },
  {
    name: "outProd of types in blocks",
    tolerance: 1e-4,
    make: (draw) => {
      const [k, n] = [draw.int(1, 4), draw.int(1, 4)];
      const type = draw.of("q4_0", "q8_0", "q6_K", "f16") as "q4_0";
      return {
        operands: [draw.operand([256, k], -2, 2, type), draw.operand([n, k])],
        build: (context, a, b) => ops.outProd(context, a!, b!),
        reference: (a, b) => nd([256, n], (i, j) => sum(k, (at) => a.at(i, at) * b.at(j, at))),
      };
    },
  },
  {
    name: "diag",
    make: (draw) => {
      const [n, x, y] = [draw.int(1, 6), draw.int(1, 3), draw.int(1, 2)];
      return {
        operands: [draw.operand([n, 1, x, y])],
        build: (context, a) => ops.diag(context, a!),
        reference: (a) => nd([n, n, x, y], (i, j, k, l) => i === j ? a.at(i, 0, k, l) : 0),
      };
    },
  },
  {
    name: "tri",
    make: (draw) => {
      const [n, x, y] = [draw.int(1, 6), draw.int(1, 3), draw.int(1, 2)];
      const kind = draw.of("upperWithDiagonal", "upper", "lowerWithDiagonal", "lower") as "upper";
      const keeps = {
        upperWithDiagonal: (i: number, j: number) => i >= j,
        upper: (i: number, j: number) => i > j,
        lowerWithDiagonal: (i: number, j: number) => i <= j,
        lower: (i: number, j: number) => i < j,
      }[kind];
      return {
        operands: [draw.operand([n, n, x, y])],
        build: (context, a) => ops.tri(context, a!, kind),
        reference: (a) => nd([n, n, x, y], (i, j, k, l) => keeps(i, j) ? a.at(i, j, k, l) : 0),
      };
    },
  },
  {
    name: "solveTri",
    tolerance: 1e-4,
    make: (draw) => {
      const [n, m, x] = [draw.int(1, 6), draw.int(1, 5), draw.int(1, 2)];
      const a = draw.operand([n, n, x], -1, 1);
      for (let k = 0; k < x; k++) for (let i = 0; i < n; i++) a.values.put(2 + Math.abs(a.values.at(i, i, k)), i, i, k);
      return {
        operands: [a, draw.operand([m, n, x])],
        build: (context, one, b) => ops.solveTri(context, one!, b!),
        reference: (one, b) => {
          const made = new Nd([m, n, x]);
          for (let k = 0; k < x; k++) {
            for (let col = 0; col < m; col++) {
              for (let row = 0; row < n; row++) {
                const rest = sum(row, (at) => one.at(at, row, k) * made.at(col, at, k));
                made.put((b.at(col, row, k) - rest) / one.at(row, row, k), col, row, k);
              }
            }
          }
          return made;
        },
      };
    },
  },
  ...(["diagMaskInf", "diagMaskZero"] as const).map((name): Case => ({
    name,
    make: (draw) => {
      const past = draw.int(0, 3);
      const value = name === "diagMaskInf" ? -Infinity : 0;
      const inPlace = draw.of(true, false);
      return {
        operands: [draw.operand(draw.shape())],
        build: (context, a) => ops[name](context, a!, past, { inPlace }),
        reference: (a) => nd(a.shape, (i, j, k, l) => i > past + j ? value : a.at(i, j, k, l)),
      };
    },
  })),
  {
    name: "diagMaskZero, its gradient",
    make: (draw) => {
      const past = draw.int(0, 3);
      return {
        operands: [draw.operand(draw.shape())],
        build: (context, a) => ops.diagMaskZero(context, a!, past),
        reference: (a) => nd(a.shape, (i, j, k, l) => i > past + j ? 0 : a.at(i, j, k, l)),
        gradients: [0],
      };
    },
  },
  {
    name: "norm",
    tolerance: 1e-4,
    make: (draw) => {
      const inPlace = draw.of(true, false);
      return {
        operands: [draw.operand([draw.int(3, 20), ...draw.shape().slice(1)])],
        build: (context, a) => ops.norm(context, a!, { epsilon: 1e-3, inPlace }),
        reference: (a) => rows(a, (row) => normalized(row, 1e-3)),
      };
    },
  },
  {
    name: "rmsNorm",
    make: (draw) => ({
      operands: [draw.operand([draw.int(3, 20), ...draw.shape().slice(1)])],
      build: (context, a) => ops.rmsNorm(context, a!, { epsilon: 1e-3 }),
      reference: (a) =>
        rows(a, (row) => row.map((x) => x / Math.sqrt(sumOf(row.map((one) => one * one)) / row.length + 1e-3))),
      gradients: [0],
    }),
  },
  {
    name: "rmsNorm in place",
    make: (draw) => ({
      operands: [draw.operand([draw.int(3, 20), ...draw.shape().slice(1)])],
      build: (context, a) => ops.rmsNorm(context, a!, { epsilon: 1e-3, inPlace: true }),
      reference: (a) =>
        rows(a, (row) => row.map((x) => x / Math.sqrt(sumOf(row.map((one) => one * one)) / row.length + 1e-3))),
    }),
  },
  {
    name: "rmsNormBack",
    tolerance: 1e-4,
    make: (draw) => {
      const shape = [draw.int(3, 12), draw.int(1, 4)];
      return {
        operands: [draw.operand(shape), draw.operand(shape)],
        build: (context, gradient, a) => ops.rmsNormBack(context, gradient!, a!, 1e-3),
        reference: (gradient, a) =>
          rows(a, (row, i1) => {
            const square = sumOf(row.map((x) => x * x)) / row.length + 1e-3;
            const dot = sumOf(row.map((x, at) => x * gradient.at(at, i1)));
            return row.map((x, at) => (gradient.at(at, i1) - x * dot / (row.length * square)) / Math.sqrt(square));
          }),
      };
    },
  },
  {
    name: "groupNorm",
    tolerance: 1e-4,
    make: (draw) => {
      const groups = draw.int(1, 3);
      const shape = [draw.int(2, 5), draw.int(1, 4), groups * draw.int(1, 3), draw.int(1, 2)];
      const inPlace = draw.of(true, false);
      return {
        operands: [draw.operand(shape)],
        build: (context, a) => ops.groupNorm(context, a!, groups, { epsilon: 1e-3, inPlace }),
        reference: (a) => {
          const size = shape[0]! * shape[1]! * shape[2]! / groups;
          const parts = Array.from(
            { length: a.count / size },
            (_, at) => [...a.data.slice(at * size, (at + 1) * size)],
          );
          return new Nd(shape, parts.flatMap((one) => normalized(one, 1e-3)));
        },
      };
    },
  },
  {
    name: "l2Norm",
    make: (draw) => {
      const inPlace = draw.of(true, false);
      return {
        operands: [draw.operand([draw.int(3, 20), ...draw.shape().slice(1)])],
        build: (context, a) => ops.l2Norm(context, a!, { epsilon: 1e-3, inPlace }),
        reference: (a) =>
          rows(a, (row) => row.map((x) => x / Math.max(Math.sqrt(sumOf(row.map((one) => one * one))), 1e-3))),
      };
    },
  },
];

function normalized(values: readonly number[], epsilon: number): number[] {
  const mean = sumOf([...values]) / values.length;
  const variance = sumOf(values.map((x) => (x - mean) ** 2)) / values.length;
  return values.map((x) => (x - mean) / Math.sqrt(variance + epsilon));
}
