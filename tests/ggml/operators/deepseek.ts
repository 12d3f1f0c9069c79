import * as ops from "../../../lib/ggml/ops/mod.ts";
import type { Case } from "./case.ts";
import { sigmoid } from "./elements.ts";
import { Nd, nd, range, sum, sumOf } from "./nd.ts";

/** What only DeepSeek has. */
export const deepseekCases: readonly Case[] = [
  {
    name: "lightningIndexer",
    tolerance: 2e-3,
    make: (draw) => {
      const [d, heads, tokens, keys, n] = [
        draw.int(1, 12),
        draw.int(1, 3),
        draw.int(1, 3),
        draw.int(1, 5),
        draw.int(1, 2),
      ];
      return {
        operands: [
          draw.operand([d, heads, tokens, n], -1, 1),
          draw.operand([d, 1, keys, n], -1, 1, draw.of("f32", "f16")),
          draw.operand([heads, tokens, 1, n], -1, 1),
          draw.operand([keys, tokens, 1, draw.of(1, n)], -1, 0, "f16"),
        ],
        build: (context, q, k, weights, mask) => ops.lightningIndexer(context, q!, k!, weights!, mask!),
        reference: (q, k, weights, mask) =>
          nd(
            [keys, tokens, 1, n],
            (key, t, _, x) =>
              sum(heads, (h) =>
                Math.max(sum(d, (i) => q.at(i, h, t, x) * k.at(i, 0, key, x)), 0) * weights.at(h, t, 0, x)) +
              mask.at(key, t, 0, x % mask.shape[3]),
          ),
      };
    },
  },
  {
    name: "hyperCombine",
    make: (draw) => {
      const [tokens, iterations] = [draw.int(1, 4), draw.int(1, 4)];
      const epsilon = 1e-3;
      return {
        operands: [draw.operand([24, tokens]), draw.operand([3]), draw.operand([24])],
        build: (context, mixes, scale, base) => ops.hyperCombine(context, mixes!, scale!, base!, epsilon, iterations),
        reference: (mixes, scale, base) => {
          const made = new Nd([4, 4, tokens]);
          for (let t = 0; t < tokens; t++) {
            let m = range(4).map((source) => {
              const row = range(4).map((to) =>
                mixes.at(8 + to + 4 * source, t) * scale.at(2) + base.at(8 + to + 4 * source)
              );
              const powers = row.map((x) => Math.exp(x - Math.max(...row)));
              return powers.map((x) => x / sumOf(powers) + epsilon);
            });
            const columns = () =>
              m = m.map((row) => row.map((x, to) => x / (sumOf(m.map((one) => one[to]!)) + epsilon)));
            columns();
            for (let round = 1; round < iterations; round++) {
              m = m.map((row) => row.map((x) => x / (sumOf(row) + epsilon)));
              columns();
            }
            m.forEach((row, source) => row.forEach((x, to) => made.put(x, to, source, t)));
          }
          return made;
        },
      };
    },
  },
  {
    name: "hyperBefore",
    make: (draw) => {
      const [n, streams, tokens] = [draw.int(1, 6), draw.int(1, 4), draw.int(1, 4)];
      return {
        operands: [draw.operand([n, streams, tokens]), draw.operand([streams, tokens])],
        build: (context, x, weights) => ops.hyperBefore(context, x!, weights!),
        reference: (x, weights) => nd([n, tokens], (i, t) => sum(streams, (h) => x.at(i, h, t) * weights.at(h, t))),
      };
    },
  },
  {
    name: "hyperBeforeGated",
    make: (draw) => {
      const shape = [draw.int(1, 6), draw.int(1, 4), draw.int(1, 4)];
      return {
        operands: [draw.operand(shape), draw.operand(shape)],
        build: (context, x, gate) => ops.hyperBeforeGated(context, x!, gate!, 0.5),
        reference: (x, gate) =>
          nd([shape[0]!, shape[2]!], (i, t) => 0.5 * sum(shape[1]!, (h) => x.at(i, h, t) * sigmoid(gate.at(i, h, t)))),
      };
    },
  },
  {
    name: "hyperAfter",
    make: (draw) => {
      const [n, streams, tokens] = [draw.int(1, 6), draw.int(1, 4), draw.int(1, 4)];
      const mixed = draw.of(true, false);
      return {
        operands: [
          draw.operand([n, tokens]),
          draw.operand([n, streams, tokens]),
          draw.operand([streams, tokens]),
          draw.operand([streams, streams, tokens]),
        ],
        build: (context, x, residual, post, comb) =>
          ops.hyperAfter(context, x!, residual!, post!, mixed ? comb! : undefined),
        reference: (x, residual, post, comb) =>
          nd([n, streams, tokens], (i, to, t) =>
            x.at(i, t) * post.at(to, t) +
            (mixed ? sum(streams, (from) => residual.at(i, from, t) * comb.at(to, from, t)) : residual.at(i, to, t))),
      };
    },
  },
];
