import * as ops from "../../../lib/ggml/ops/mod.ts";
import { Tensor } from "../../../lib/ggml/tensor.ts";
import type { Case, Draw, Operand } from "./case.ts";
import { sigmoid, softplus } from "./elements.ts";
import { Nd, nd, rows, sum, sumOf } from "./nd.ts";

interface Mixing {
  readonly size: number;
  readonly heads: number;
  readonly tokens: number;
  readonly n: number;
}

function mixing(draw: Draw): Mixing {
  const n = draw.int(1, 2);
  return { size: draw.int(1, 20), heads: draw.int(1, 2), tokens: n * draw.int(1, 3), n };
}

/** Goes through the tokens with a state [size, size] for each head: gives the results, then the states. */
function scan(
  { size, heads, tokens, n }: Mixing,
  state: Nd,
  step: (s: number[][], t: number, h: number) => number[],
): Nd {
  const made = new Nd([size * heads, tokens + size * n]);
  const each = tokens / n;
  for (let x = 0; x < n; x++) {
    for (let h = 0; h < heads; h++) {
      const s = Array.from(
        { length: size },
        (_, i) => Array.from({ length: size }, (_, j) => state.at(j + size * (i + size * h), x)),
      );
      for (let t = x * each; t < (x + 1) * each; t++) {
        step(s, t, h).forEach((value, j) => made.put(value, h * size + j, t));
      }
      s.forEach((row, i) =>
        row.forEach((value, j) => made.data[size * heads * tokens + ((x * heads + h) * size + i) * size + j] = value)
      );
    }
  }
  return made;
}

/** A parameter, when it is a tensor that can be one. */
function marked(tensor: Tensor): Tensor {
  return tensor instanceof Tensor && tensor.op === "NONE" ? tensor.setParam() : tensor;
}

/** Rows that sum to 1: the gradient counts on it. */
function probabilities(draw: Draw, shape: readonly number[]): Operand {
  const { type, values } = draw.operand(shape, 0.1, 1);
  return { type, values: rows(values, (row) => row.map((x) => x / sumOf(row))) };
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Recurrent models, losses and what only DeepSeek has. */
export const recurrentCases: readonly Case[] = [
  {
    name: "ssmConv",
    make: (draw) => {
      const [k, inner, tokens, n] = [draw.int(1, 4), draw.int(1, 5), draw.int(1, 4), draw.int(1, 2)];
      return {
        operands: [draw.operand([k - 1 + tokens, inner, n]), draw.operand([k, inner])],
        build: (context, sx, c) => ops.ssmConv(context, sx!, c!),
        reference: (sx, c) => nd([inner, tokens, n], (i, t, x) => sum(k, (at) => sx.at(t + at, i, x) * c.at(at, i))),
      };
    },
  },
  {
    name: "ssmScan",
    tolerance: 1e-4,
    make: (draw) => {
      const [state, dim, groups, tokens, n] = [
        draw.int(1, 20),
        draw.int(1, 3),
        draw.int(1, 2),
        draw.int(1, 4),
        draw.int(1, 2),
      ];
      const heads = groups * draw.int(1, 2);
      const old = draw.of(true, false);
      const snapshots = old ? 1 : draw.int(1, Math.min(2, tokens));
      const sequences = n + draw.int(0, 2);
      return {
        operands: [
          draw.operand([state, dim, heads, sequences]),
          draw.operand([dim, heads, tokens, n]),
          draw.operand([heads, tokens, n], -1, 1),
          draw.operand([old ? state : 1, heads], -1, 0),
          draw.operand([state, groups, tokens, n]),
          draw.operand([state, groups, tokens, n]),
          draw.indices([n], sequences),
        ],
        build: (context, s, x, dt, a, b, c, ids) =>
          ops.ssmScan(context, { s: s!, x: x!, dt: dt!, a: a!, b: b!, c: c!, ids: ids!, snapshots }),
        reference: (s, x, dt, a, b, c, ids) => {
          const block = state * dim * heads;
          const made = new Nd([x.count + snapshots * block * n]);
          for (let seq = 0; seq < n; seq++) {
            const now = s.data.slice(ids.at(seq) * block, (ids.at(seq) + 1) * block);
            for (let t = 0; t < tokens; t++) {
              for (let h = 0; h < heads; h++) {
                const delta = softplus(dt.at(h, t, seq));
                const g = Math.floor(h / (heads / groups));
                for (let i = 0; i < dim; i++) {
                  let total = 0;
                  for (let k = 0; k < state; k++) {
                    const at = k + state * (i + dim * h);
                    now[at] = now[at]! * Math.exp(delta * a.at(old ? k : 0, h)) +
                      b.at(k, g, t, seq) * x.at(i, h, t, seq) * delta;
                    total += now[at]! * c.at(k, g, t, seq);
                  }
                  made.data[i + dim * (h + heads * (t + tokens * seq))] = total;
                }
              }
              const slot = tokens - 1 - t;
              if (slot < snapshots) made.data.set(now, x.count + (slot * n + seq) * block);
            }
          }
          return made;
        },
      };
    },
  },
  {
    name: "rwkvWkv6",
    tolerance: 1e-4,
    make: (draw) => {
      const m = mixing(draw);
      const { size, heads, tokens, n } = m;
      const each = () => draw.operand([size, heads, tokens], -1, 1);
      return {
        operands: [
          each(),
          each(),
          each(),
          draw.operand([size, heads], -1, 1),
          each(),
          draw.operand([size * size * heads, n], -1, 1),
        ],
        build: (context, k, v, r, timeFirst, timeDecay, state) =>
          ops.rwkvWkv6(context, { k: k!, v: v!, r: r!, timeFirst: timeFirst!, timeDecay: timeDecay!, state: state! }),
        reference: (k, v, r, first, decay, state) =>
          scan(m, state, (s, t, h) => {
            const out = range(size).map((j) =>
              sum(size, (i) => r.at(i, h, t) * (k.at(i, h, t) * v.at(j, h, t) * first.at(i, h) + s[i]![j]!))
            );
            for (const i of range(size)) {
              for (const j of range(size)) s[i]![j] = s[i]![j]! * decay.at(i, h, t) + k.at(i, h, t) * v.at(j, h, t);
            }
            return out;
          }),
      };
    },
  },
  {
    name: "gatedLinearAttention",
    tolerance: 1e-4,
    make: (draw) => {
      const m = mixing(draw);
      const { size, heads, tokens, n } = m;
      const each = () => draw.operand([size, heads, tokens], -1, 1);
      return {
        operands: [each(), each(), each(), each(), draw.operand([size * size * heads, n], -1, 1)],
        build: (context, k, v, q, g, state) =>
          ops.gatedLinearAttention(context, { k: k!, v: v!, q: q!, g: g!, state: state!, scale: 0.5 }),
        reference: (k, v, q, g, state) =>
          scan(m, state, (s, t, h) => {
            for (const i of range(size)) {
              for (const j of range(size)) s[i]![j] = s[i]![j]! * g.at(i, h, t) + k.at(i, h, t) * v.at(j, h, t);
            }
            return range(size).map((j) => 0.5 * sum(size, (i) => q.at(i, h, t) * s[i]![j]!));
          }),
      };
    },
  },
  {
    name: "rwkvWkv7",
    tolerance: 1e-4,
    make: (draw) => {
      const m = { ...mixing(draw), size: 64 };
      const { size, heads, tokens, n } = m;
      const each = () => draw.operand([size, heads, tokens], -0.2, 0.2);
      return {
        operands: [each(), each(), each(), each(), each(), each(), draw.operand([size * size * heads, n], -1, 1)],
        build: (context, r, w, k, v, a, b, state) =>
          ops.rwkvWkv7(context, { r: r!, w: w!, k: k!, v: v!, a: a!, b: b!, state: state! }),
        reference: (r, w, k, v, a, b, state) =>
          scan(m, state, (s, t, h) =>
            range(size).map((i) => {
              const sa = sum(size, (j) => a.at(j, h, t) * s[i]![j]!);
              for (const j of range(size)) {
                s[i]![j] = s[i]![j]! * w.at(j, h, t) + v.at(i, h, t) * k.at(j, h, t) + sa * b.at(j, h, t);
              }
              return sum(size, (j) => s[i]![j]! * r.at(j, h, t));
            })),
      };
    },
  },
  {
    name: "gatedDeltaNet",
    tolerance: 1e-4,
    make: (draw) => {
      const [size, shared, tokens, n] = [draw.int(1, 10), draw.int(1, 2), draw.int(1, 4), draw.int(1, 2)];
      const heads = shared * draw.int(1, 2);
      const wide = draw.of(true, false);
      const snapshots = draw.int(1, tokens);
      return {
        operands: [
          draw.operand([size, shared, tokens, n], -1, 1),
          draw.operand([size, shared, tokens, n], -0.5, 0.5),
          draw.operand([size, heads, tokens, n], -1, 1),
          draw.operand([wide ? size : 1, heads, tokens, n], -1, 0),
          draw.operand([1, heads, tokens, n], 0, 1),
          draw.operand([size, size, heads, n], -1, 1),
        ],
        build: (context, q, k, v, g, beta, state) =>
          ops.gatedDeltaNet(context, { q: q!, k: k!, v: v!, g: g!, beta: beta!, state: state!, snapshots }),
        reference: (q, k, v, g, beta, state) => {
          const outputs = size * heads * tokens * n;
          const made = new Nd([size * heads, tokens * n + snapshots * size * n]);
          for (let x = 0; x < n; x++) {
            for (let h = 0; h < heads; h++) {
              const s = range(size).map((j) => range(size).map((i) => state.at(i, j, h, x)));
              const from = h % shared;
              for (let t = 0; t < tokens; t++) {
                for (const row of s) {
                  for (const i of range(size)) row[i] = row[i]! * Math.exp(g.at(wide ? i : 0, h, t, x));
                }
                const delta = s.map((row, j) =>
                  (v.at(j, h, t, x) - sum(size, (i) => row[i]! * k.at(i, from, t, x))) * beta.at(0, h, t, x)
                );
                s.forEach((row, j) => range(size).forEach((i) => row[i] = row[i]! + k.at(i, from, t, x) * delta[j]!));
                s.forEach((row, j) => {
                  const value = sum(size, (i) => row[i]! * q.at(i, from, t, x)) / Math.sqrt(size);
                  made.data[((x * tokens + t) * heads + h) * size + j] = value;
                });
                const slot = tokens - 1 - t;
                if (slot < snapshots) {
                  s.forEach((row, j) =>
                    row.forEach((value, i) =>
                      made.data[outputs + ((slot * n + x) * heads + h) * size * size + j * size + i] = value
                    )
                  );
                }
              }
            }
          }
          return made;
        },
      };
    },
  },
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
  {
    name: "crossEntropyLoss",
    make: (draw) => {
      const shape = [draw.int(2, 8), draw.int(1, 5)];
      return {
        operands: [draw.operand(shape), probabilities(draw, shape)],
        build: (context, logits, labels) => ops.crossEntropyLoss(context, logits!, labels!),
        reference: (logits, labels) => {
          const each = rows(logits, (row, j) => {
            const total = Math.log(sumOf(row.map(Math.exp)));
            return [sumOf(row.map((x, i) => (total - x) * labels.at(i, j)))];
          });
          return new Nd([1], [sumOf([...each.data]) / shape[1]!]);
        },
        gradients: [0],
      };
    },
  },
  {
    name: "crossEntropyLossBack",
    make: (draw) => {
      const shape = [draw.int(2, 8), draw.int(1, 5)];
      return {
        operands: [draw.operand([1]), draw.operand(shape), draw.operand(shape, 0, 1)],
        build: (context, gradient, logits, labels) => ops.crossEntropyLossBack(context, gradient!, logits!, labels!),
        reference: (gradient, logits, labels) =>
          rows(logits, (row, j) => {
            const total = sumOf(row.map(Math.exp));
            return row.map((x, i) => (Math.exp(x) / total - labels.at(i, j)) * gradient.at(0) / shape[1]!);
          }),
      };
    },
  },
  {
    name: "stepAdamW",
    make: (draw) => {
      const shape = draw.shape();
      const settings = { type: "f32" as const, values: new Nd([7], [0.1, 0.9, 0.99, 1e-3, 0.01, 1.5, 2]) };
      return {
        operands: [
          draw.operand(shape),
          draw.operand(shape),
          draw.operand(shape),
          draw.operand(shape, 0.1, 1),
          settings,
        ],
        build: (context, a, gradient, m, v, s) => ops.stepAdamW(context, marked(a!), gradient!, m!, v!, s!),
        reference: (a, gradient, m, v, s) => {
          const [rate, beta1, beta2, epsilon, decay, h1, h2] = s.data as unknown as [
            number,
            number,
            number,
            number,
            number,
            number,
            number,
          ];
          return new Nd(
            shape,
            a.data.map((w, at) => {
              const g = gradient.data[at]!;
              const first = (m.data[at]! * beta1 + g * (1 - beta1)) * h1;
              const second = Math.sqrt((v.data[at]! * beta2 + g * g * (1 - beta2)) * h2) + epsilon;
              return w * (1 - rate * decay) - rate * first / second;
            }),
          );
        },
      };
    },
  },
  {
    name: "stepSgd",
    make: (draw) => {
      const shape = draw.shape();
      const settings = { type: "f32" as const, values: new Nd([2], [0.1, 0.02]) };
      return {
        operands: [draw.operand(shape), draw.operand(shape), settings],
        build: (context, a, gradient, s) => ops.stepSgd(context, marked(a!), gradient!, s!),
        reference: (a, gradient, s) =>
          new Nd(shape, a.data.map((w, at) => w * (1 - s.at(0) * s.at(1)) - s.at(0) * gradient.data[at]!)),
      };
    },
  },
  {
    name: "mapCustom",
    make: (draw) => {
      const shape = draw.shape();
      const count = draw.int(1, 3);
      const inPlace = draw.of(true, false);
      return {
        operands: range(count).map(() => draw.operand(shape)),
        build: (context, ...tensors) =>
          ops.mapCustom(context, tensors, (result, ...operands) => {
            const values = operands.map((one) => one.read() as Float32Array);
            (result.view() as Float32Array).set(values[0]!.map((_, at) => sumOf(values.map((one) => one[at]!)) + 1));
          }, { inPlace }),
        reference: (...all) => new Nd(shape, all[0]!.data.map((_, at) => sumOf(all.map((one) => one.data[at]!)) + 1)),
      };
    },
  },
  {
    name: "custom",
    make: (draw) => {
      const count = draw.int(1, 5);
      const into = draw.of(true, false);
      return {
        operands: [draw.operand([count]), ...range(count).map(() => draw.operand([draw.int(1, 6)]))],
        build: (context, target, ...tensors) =>
          ops.custom(context, tensors, (result, ...operands) => {
            (result.view() as Float32Array).set(operands.map((one) => sumOf([...one.read()].map(Number))));
          }, into ? { into: target! } : { shape: [count] }),
        reference: (_, ...all) => new Nd([count], all.map((one) => sumOf([...one.data]))),
      };
    },
  },
];
