import * as ops from "../../../lib/ggml/ops/mod.ts";
import { type Case, HALF } from "./case.ts";
import { Nd, nd } from "./nd.ts";

/** Shapes, copies and rows. */
export const shapeCases: readonly Case[] = [
  {
    name: "reshape",
    make: (draw) => {
      const [n0, n1, n2, n3] = draw.shape();
      const to = draw.of([n0 * n1 * n2 * n3], [n0 * n1, n2 * n3], [n1, n0, n2 * n3], [n3, n2, n1, n0]);
      return {
        operands: [draw.operand([n0, n1, n2, n3])],
        build: (context, a) => ops.scale(context, ops.reshape(context, a!, to), 2),
        reference: (a) => a.reshape(to).map((x) => 2 * x),
        gradients: [0],
      };
    },
  },
  {
    name: "reshape by a tensor",
    make: (draw) => {
      const [n0, n1, n2] = draw.shape();
      return {
        operands: [draw.operand([n0, n1, n2])],
        build: (context, a) => ops.reshape(context, a!, context.tensor("f32", [n2, n0 * n1])),
        reference: (a) => a.reshape([n2, n0 * n1]),
      };
    },
  },
  {
    name: "view",
    make: (draw) => {
      const [n0, n1, n2, n3] = [draw.int(2, 6), draw.int(2, 5), draw.int(1, 3), draw.int(1, 2)];
      const [m0, m1] = [draw.int(1, n0), draw.int(1, n1)];
      const [x, y] = [draw.int(0, n0 - m0), draw.int(0, n1 - m1)];
      const dimensions = draw.int(2, 4);
      const to = [m0, m1, n2, n3].slice(0, dimensions);
      return {
        operands: [draw.operand([n0, n1, n2, n3])],
        build: (context, a) => ops.cont(context, ops.view(context, a!, to, { offset: 4 * (x + y * n0) })),
        reference: (a) => nd(to, (i, j, k, l) => a.at(i + x, j + y, k, l)),
        gradients: [0],
      };
    },
  },
  {
    name: "view of one dimension",
    make: (draw) => {
      const n = draw.int(2, 20);
      const m = draw.int(1, n);
      const x = draw.int(0, n - m);
      return {
        operands: [draw.operand([n])],
        build: (context, a) => ops.sqr(context, ops.view(context, a!, [m], { offset: 4 * x })),
        reference: (a) => nd([m], (i) => a.at(i + x) ** 2),
        gradients: [0],
      };
    },
  },
  {
    name: "permute",
    make: (draw) => {
      const shape = draw.shape(5);
      const axes = draw.of([1, 0, 2, 3], [2, 0, 1, 3], [0, 2, 1, 3], [3, 2, 1, 0], [1, 2, 3, 0]) as [
        number,
        number,
        number,
        number,
      ];
      const to = [0, 1, 2, 3].map((at) => shape[axes.indexOf(at) as 0]!);
      return {
        operands: [draw.operand(shape)],
        build: (context, a) => ops.cont(context, ops.permute(context, a!, axes)),
        reference: (a) => nd(to, (...to) => a.at(...axes.map((axis) => to[axis]!) as [number, number, number, number])),
        gradients: [0],
      };
    },
  },
  {
    name: "transpose",
    make: (draw) => {
      const [n0, n1, n2, n3] = draw.shape();
      return {
        operands: [draw.operand([n0, n1, n2, n3])],
        build: (context, a) => ops.cont(context, ops.transpose(context, a!)),
        reference: (a) => nd([n1, n0, n2, n3], (i, j, k, l) => a.at(j, i, k, l)),
        gradients: [0],
      };
    },
  },
  {
    name: "alias",
    make: (draw) => ({
      operands: [draw.operand(draw.shape())],
      build: (context, a) => ops.scale(context, ops.alias(context, a!), 3),
      reference: (a) => a.map((x) => 3 * x),
    }),
  },
  ...(["dup", "cont"] as const).map((name): Case => ({
    name,
    make: (draw) => {
      const [n0, n1, n2, n3] = draw.shape();
      return {
        operands: [draw.operand([n0, n1, n2, n3])],
        build: (context, a) => ops[name](context, ops.permute(context, a!, [1, 0, 2, 3])),
        reference: (a) => nd([n1, n0, n2, n3], (i, j, k, l) => a.at(j, i, k, l)),
        gradients: [0],
      };
    },
  })),
  {
    name: "cont in a shape",
    make: (draw) => {
      const [n0, n1, n2] = draw.shape();
      const to = draw.of([n0 * n1 * n2], [n0 * n1, n2], [n2, n1, n0], [n2, 1, n1, n0]);
      return {
        operands: [draw.operand([n0, n1, n2])],
        build: (context, a) => ops.cont(context, ops.transpose(context, a!), to),
        reference: (a) => nd([n1, n0, n2], (i, j, k) => a.at(j, i, k)).reshape(to),
        gradients: [0],
      };
    },
  },
  {
    name: "cpy",
    make: (draw) => {
      const [n0, n1, n2] = draw.shape();
      return {
        operands: [draw.operand([n0, n1, n2]), draw.operand([n2, n0 * n1])],
        build: (context, a, b) => ops.cpy(context, a!, b!),
        reference: (a) => a.reshape([n2, n0 * n1]),
        gradients: [0],
      };
    },
  },
  {
    name: "cast",
    tolerance: HALF,
    make: (draw) => {
      const [from, to] = draw.of(["f32", "f16"], ["f16", "f32"], ["bf16", "f32"], ["f16", "f16"]) as ["f32", "f16"];
      return {
        operands: [draw.operand(draw.shape(), -2, 2, from)],
        build: (context, a) => ops.cast(context, a!, to),
        reference: (a) => a,
      };
    },
  },
  {
    name: "cast to whole numbers and back",
    make: (draw) => ({
      operands: [draw.operand(draw.shape(), -20, 20)],
      build: (context, a) => ops.cast(context, ops.cast(context, a!, "i32"), "f32"),
      reference: (a) => a.map(Math.trunc),
    }),
  },
  {
    name: "cast through types in blocks",
    tolerance: 0.05,
    make: (draw) => {
      const type = draw.of("q4_1", "q5_0", "q8_0", "q5_K", "q6_K", "iq4_xs");
      const coarse = type === "q4_1" || type === "iq4_xs" ? 0.15 : 0.1;
      return {
        operands: [draw.operand([256, draw.int(1, 3)], -1, 1)],
        build: (context, a) => ops.scale(context, ops.cast(context, ops.cast(context, a!, type), "f32"), 0.05 / coarse),
        reference: (a) => a.map((x) => x * 0.05 / coarse),
      };
    },
  },
  {
    name: "repeat",
    make: (draw) => {
      const small = draw.shape(4);
      const large = small.map((size) => size * draw.int(1, 3));
      return {
        operands: [draw.operand(small)],
        build: (context, a) => ops.repeat(context, a!, large),
        reference: (a) => nd(large, (...at) => a.wrap(...at)),
        gradients: [0],
      };
    },
  },
  {
    name: "repeat to a tensor's shape, f16 and i32",
    make: (draw) => {
      const small = draw.shape(4);
      const large = small.map((size) => size * draw.int(1, 3));
      const type = draw.of("f16", "i32") as "f16";
      return {
        operands: [type === "f16" ? draw.operand(small, -2, 2, "f16") : draw.indices(small, 100)],
        build: (context, a) => ops.repeat(context, a!, context.tensor(type, large)),
        reference: (a) => nd(large, (...at) => a.wrap(...at)),
      };
    },
  },
  {
    name: "repeatBack",
    make: (draw) => {
      const small = draw.shape(3);
      const large = small.map((size) => size * draw.int(1, 3));
      return {
        operands: [draw.operand(large)],
        build: (context, a) => ops.repeatBack(context, a!, context.tensor("f32", small)),
        reference: (a) => {
          const made = new Nd(small);
          nd(large, (i, j, k, l) => {
            const to = [i % small[0]!, j % small[1]!, k % small[2]!, l % small[3]!] as const;
            made.put(made.at(...to) + a.at(i, j, k, l), ...to);
            return 0;
          });
          return made;
        },
      };
    },
  },
  {
    name: "concat",
    make: (draw) => {
      const a = draw.shape(5);
      const along = draw.int(0, 3);
      const b = a.map((size, index) => index === along ? draw.int(1, 4) : size);
      const type = draw.of("f32", "f16", "i32");
      const operand = (shape: readonly number[]) =>
        type === "i32" ? draw.indices(shape, 50) : draw.operand(shape, -2, 2, type);
      return {
        operands: [operand(a), operand(b)],
        build: (context, x, y) => ops.concat(context, x!, y!, along),
        reference: (x, y) =>
          nd(a.map((size, index) => size + (index === along ? b[index]! : 0)), (...at) => {
            if (at[along]! < a[along]!) return x.at(...at);
            at[along]! -= a[along]!;
            return y.at(...at);
          }),
      };
    },
  },
  {
    name: "concat of types in blocks",
    make: (draw) => {
      const along = draw.int(0, 1);
      return {
        operands: [draw.operand([64, 2], -1, 1, "q8_0"), draw.operand([64, 2], -1, 1, "q8_0")],
        build: (context, a, b) => ops.cast(context, ops.concat(context, a!, b!, along), "f32"),
        reference: (a, b) =>
          nd(
            along === 0 ? [128, 2] : [64, 4],
            (i, j) => along === 0 ? (i < 64 ? a.at(i, j) : b.at(i - 64, j)) : j < 2 ? a.at(i, j) : b.at(i, j - 2),
          ),
      };
    },
  },
  ...(["f32", "f16", "bf16", "q4_0", "q8_0", "q6_K", "i32"] as const).map((type): Case => ({
    name: `getRows of ${type}`,
    make: (draw) => {
      const n0 = type.startsWith("q") ? 256 : draw.int(1, 8);
      const [n1, n2, n3, k] = [draw.int(1, 5), draw.int(1, 2), draw.int(1, 2), draw.int(1, 6)];
      return {
        operands: [
          type === "i32" ? draw.indices([n0, n1, n2, n3], 100, "i32") : draw.operand([n0, n1, n2, n3], -2, 2, type),
          draw.indices([k, n2, n3], n1),
        ],
        build: (context, a, ids) => ops.getRows(context, a!, ids!),
        reference: (a, ids) => nd([n0, k, n2, n3], (i, j, x, y) => a.at(i, ids.at(j, x, y), x, y)),
      };
    },
  })),
  {
    name: "getRows, its gradient",
    make: (draw) => {
      const [n0, n1, k] = [draw.int(1, 6), draw.int(1, 5), draw.int(1, 6)];
      return {
        operands: [draw.operand([n0, n1]), draw.indices([k], n1)],
        build: (context, a, ids) => ops.getRows(context, a!, ids!),
        reference: (a, ids) => nd([n0, k], (i, j) => a.at(i, ids.at(j))),
        gradients: [0],
      };
    },
  },
  {
    name: "getRowsBack",
    make: (draw) => {
      const [n0, n1, k] = [draw.int(1, 6), draw.int(1, 5), draw.int(1, 6)];
      return {
        operands: [draw.operand([n0, k], -2, 2, draw.of("f32", "f16")), draw.indices([k], n1)],
        build: (context, gradient, ids) => ops.getRowsBack(context, gradient!, ids!, context.tensor("f32", [n0, n1])),
        reference: (gradient, ids) => {
          const made = new Nd([n0, n1]);
          for (let j = 0; j < k; j++) {
            for (let i = 0; i < n0; i++) made.put(made.at(i, ids.at(j)) + gradient.at(i, j), i, ids.at(j));
          }
          return made;
        },
      };
    },
  },
  {
    name: "setRows",
    tolerance: HALF,
    make: (draw) => {
      const [n0, k, n2] = [draw.int(1, 6), draw.int(1, 4), draw.int(1, 2)];
      const n1 = k + draw.int(0, 3);
      const [into, from] = draw.of(["f32", "f32"], ["f16", "f32"], ["f32", "f16"]) as ["f32", "f32"];
      const index = draw.of("i64", "i32") as "i64";
      const first = draw.int(0, n1 - k);
      // Rows that are set must not be the same: some in a row, backwards.
      const ids = { type: index, values: nd([k], (i) => first + k - 1 - i) };
      return {
        operands: [draw.operand([n0, n1, n2], -2, 2, into), draw.operand([n0, k, n2], -2, 2, from), ids],
        build: (context, a, b, at) => ops.setRows(context, a!, b!, at!),
        reference: (a, b, at) => {
          const made = new Nd(a.shape, a.data);
          for (let x = 0; x < n2; x++) {
            for (let j = 0; j < k; j++) for (let i = 0; i < n0; i++) made.put(b.at(i, j, x), i, at.at(j), x);
          }
          return made;
        },
      };
    },
  },
];
