import * as ops from "../../../lib/ggml/ops/mod.ts";
import type { Case, Draw } from "./case.ts";
import { softplus } from "./elements.ts";
import { Nd, nd, range, sum } from "./nd.ts";

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

/** Recurrent models. */
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
];
