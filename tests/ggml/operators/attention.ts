import * as ops from "../../../lib/ggml/ops/mod.ts";
import type { Case, Draw } from "./case.ts";
import { Nd, nd, rows, sum, sumOf } from "./nd.ts";

function softMax(row: readonly number[], sink?: number): number[] {
  const most = Math.max(...row, sink ?? -Infinity);
  const powers = row.map((x) => Math.exp(x - most));
  const total = sumOf(powers) + (sink === undefined ? 0 : Math.exp(sink - most));
  return powers.map((x) => x / total);
}

/** ALiBi's slope of each head. */
function slope(head: number, heads: number, maxBias: number): number {
  if (maxBias === 0) return 1;
  const whole = 2 ** Math.floor(Math.log2(heads));
  return head < whole ? 2 ** (-maxBias / whole * (head + 1)) : 2 ** (-maxBias / 2 / whole * (2 * (head - whole) + 1));
}

function attend(
  q: Nd,
  k: Nd,
  v: Nd,
  mask: Nd | undefined,
  scale: number,
  maxBias: number,
  cap: number,
  sinks: Nd | undefined,
): Nd {
  const [, queries, heads, n] = q.shape;
  const [d, keys, kHeads] = k.shape;
  const [e, , vHeads] = v.shape;
  const weights = (t: number, h: number, x: number): number[] => {
    const scores = Array.from({ length: keys }, (_, key) => {
      let s = scale * sum(d, (at) => q.at(at, t, h, x) * k.at(at, key, Math.floor(h / (heads / kHeads)), x));
      if (cap > 0) s = cap * Math.tanh(s / cap);
      return s +
        (mask === undefined ? 0 : slope(h, heads, maxBias) * mask.at(key, t, h % mask.shape[2], x % mask.shape[3]));
    });
    return softMax(scores, sinks?.at(h));
  };
  const made = new Nd([e, heads, queries, n]);
  for (let x = 0; x < n; x++) {
    for (let t = 0; t < queries; t++) {
      for (let h = 0; h < heads; h++) {
        const w = weights(t, h, x);
        for (let i = 0; i < e; i++) {
          made.put(sum(keys, (key) => w[key]! * v.at(i, key, Math.floor(h / (heads / vHeads)), x)), i, h, t, x);
        }
      }
    }
  }
  return made;
}

interface Turn {
  readonly dimensions: number;
  readonly neox: boolean;
  readonly base: number;
  readonly scale: number;
  readonly offset: number;
  readonly back: boolean;
  /** The position of a pair. */
  readonly position: (pair: number, token: number) => number;
  readonly factor: (pair: number) => number;
}

function turn(a: Nd, { dimensions, neox, base, scale, offset, back, position, factor }: Turn): Nd {
  const made = new Nd(a.shape, a.data);
  const [, heads, tokens, n] = a.shape;
  for (let x = 0; x < n; x++) {
    for (let t = 0; t < tokens; t++) {
      for (let h = 0; h < heads; h++) {
        for (let pair = 0; pair < dimensions / 2; pair++) {
          const angle = (back ? -1 : 1) * position(pair, t) * scale * base ** (-2 * pair / dimensions) / factor(pair);
          const [i, j] = neox
            ? [pair + offset, pair + dimensions / 2 + offset]
            : [2 * pair + offset, 2 * pair + 1 + offset];
          const [p, q] = [a.at(i, h, t, x), a.at(j, h, t, x)];
          made.put(p * Math.cos(angle) - q * Math.sin(angle), i, h, t, x);
          made.put(p * Math.sin(angle) + q * Math.cos(angle), j, h, t, x);
        }
      }
    }
  }
  return made;
}

function ropeCase(name: string, back: boolean, inPlace: boolean): Case {
  return {
    name,
    tolerance: 1e-4,
    make: (draw) => {
      const head = 2 * draw.int(1, 6);
      const [heads, tokens] = [draw.int(1, 3), draw.int(1, 4)];
      const dimensions = 2 * draw.int(1, head / 2);
      const mode = draw.of("normal", "neox") as "normal";
      const offset = 2 * draw.int(0, (head - dimensions) / 2);
      const [base, scale] = draw.of([10_000, 1], [500, 0.5]) as [number, number];
      const factors = draw.of(true, false);
      const settings = { dimensions, mode, offset, frequencyBase: base, frequencyScale: scale };
      return {
        operands: [draw.operand([head, heads, tokens]), draw.indices([tokens], 20), draw.operand([head / 2], 0.5, 2)],
        build: (context, a, positions, f) => {
          const options = { ...settings, ...(factors ? { factors: f! } : {}) };
          return back
            ? ops.ropeBack(context, a!, positions!, options)
            : ops.rope(context, a!, positions!, { ...options, inPlace });
        },
        reference: (a, positions, f) =>
          turn(a, {
            dimensions,
            neox: mode !== "normal",
            base,
            scale,
            offset,
            back,
            position: (_, t) => positions.at(t),
            factor: (pair) => factors ? f.at(pair) : 1,
          }),
        ...(back || inPlace || offset > 0 ? {} : { gradients: [0] }),
      };
    },
  };
}

/** The position of a pair with sections. */
function sectioned(positions: Nd, tokens: number, sections: readonly number[], interleaved: boolean) {
  const total = sumOf(sections);
  return (pair: number, t: number): number => {
    const at = pair % total;
    let which = sections.findIndex((_, index) => at < sumOf(sections.slice(0, index + 1)));
    if (interleaved) {
      which = at % 3 === 1 && at < 3 * sections[1]!
        ? 1
        : at % 3 === 2 && at < 3 * sections[2]!
        ? 2
        : at % 3 === 0 && at < 3 * sections[0]!
        ? 0
        : 3;
    }
    return positions.at(t + which * tokens);
  };
}

function multiRope(back: boolean): Case {
  return {
    name: back ? "ropeBack with sections" : "rope with sections",
    tolerance: 1e-4,
    make: (draw) => {
      const sections = [draw.int(1, 3), draw.int(0, 3), draw.int(0, 3), draw.int(0, 2)] as [
        number,
        number,
        number,
        number,
      ];
      const dimensions = 2 * sumOf(sections);
      const head = dimensions + 2 * draw.int(0, 2);
      const [heads, tokens] = [draw.int(1, 2), draw.int(1, 3)];
      const mode = draw.of("mrope", "imrope") as "mrope";
      const options = { sections, dimensions, mode };
      return {
        operands: [draw.operand([head, heads, tokens]), draw.indices([4 * tokens], 20)],
        build: (context, a, positions) =>
          back ? ops.ropeBack(context, a!, positions!, options) : ops.rope(context, a!, positions!, options),
        reference: (a, positions) =>
          turn(a, {
            dimensions,
            neox: true,
            base: 10_000,
            scale: 1,
            offset: 0,
            back,
            position: sectioned(positions, tokens, sections, (mode as string) === "imrope"),
            factor: () => 1,
          }),
        ...(back ? {} : { gradients: [0] }),
      };
    },
  };
}

function maskFor(draw: Draw, keys: number, queries: number, heads: number, n: number) {
  return draw.operand([keys, queries + draw.int(0, 2), draw.of(1, heads), draw.of(1, n)], -2, 0, "f16");
}

/** Attention and positions. */
export const attentionCases: readonly Case[] = [
  {
    name: "softMax",
    make: (draw) => ({
      operands: [draw.operand(draw.shape(), -4, 4)],
      build: (context, a) => ops.softMax(context, a!),
      reference: (a) => rows(a, (row) => softMax(row)),
      gradients: [0],
    }),
  },
  {
    name: "softMax in place",
    make: (draw) => ({
      operands: [draw.operand(draw.shape(), -4, 4)],
      build: (context, a) => ops.softMax(context, a!, { inPlace: true }),
      reference: (a) => rows(a, (row) => softMax(row)),
    }),
  },
  {
    name: "softMax with a mask, ALiBi and sinks",
    make: (draw) => {
      const [n0, n1, n2, n3] = [draw.int(1, 8), draw.int(1, 4), draw.int(1, 5), draw.int(1, 2)];
      const [maxBias, inPlace, sunk] = [draw.of(0, 4), draw.of(true, false), draw.of(true, false)];
      return {
        operands: [draw.operand([n0, n1, n2, n3]), maskFor(draw, n0, n1, n2, n3), draw.operand([n2])],
        build: (context, a, mask, sinks) =>
          ops.softMax(context, a!, {
            mask: mask!,
            scale: 0.5,
            maxBias: Number(maxBias),
            inPlace,
            ...(sunk ? { sinks: sinks! } : {}),
          }),
        reference: (a, mask, sinks) =>
          rows(a, (row, j, k, l) =>
            softMax(
              row.map((x, i) =>
                x * 0.5 + slope(k, n2, Number(maxBias)) * mask.at(i, j, k % mask.shape[2], l % mask.shape[3])
              ),
              sunk ? sinks.at(k) : undefined,
            )),
      };
    },
  },
  {
    name: "softMax with a scale, its gradient",
    make: (draw) => ({
      operands: [draw.operand(draw.shape())],
      build: (context, a) => ops.softMax(context, a!, { scale: 0.5 }),
      reference: (a) => rows(a, (row) => softMax(row.map((x) => x / 2))),
      gradients: [0],
    }),
  },
  {
    name: "softMaxBack",
    make: (draw) => {
      const shape = draw.shape();
      const inPlace = draw.of(true, false);
      return {
        operands: [draw.operand(shape), draw.operand(shape, 0, 1)],
        build: (context, gradient, result) => ops.softMaxBack(context, gradient!, result!, { scale: 0.5, inPlace }),
        reference: (gradient, result) =>
          rows(gradient, (row, j, k, l) => {
            const dot = sumOf(row.map((g, i) => g * result.at(i, j, k, l)));
            return row.map((g, i) => 0.5 * (g - dot) * result.at(i, j, k, l));
          }),
      };
    },
  },
  ...(["f32", "f16", "q8_0", "q4_0"] as const).map((type): Case => ({
    name: `flashAttention with ${type} keys`,
    tolerance: type === "f32" ? 1e-4 : type === "f16" ? 5e-3 : 0.03,
    make: (draw) => {
      const d = type.startsWith("q") ? 64 : draw.int(1, 20);
      const e = type.startsWith("q") ? 64 : draw.int(1, 20);
      const [keys, queries, kvHeads, n] = [draw.int(1, 12), draw.int(1, 6), draw.int(1, 2), draw.int(1, 2)];
      const heads = kvHeads * draw.int(1, 2);
      const [masked, sunk, cap] = [draw.of(true, false), draw.of(true, false), Number(draw.of(0, 3))];
      const maxBias = masked ? Number(draw.of(0, 4)) : 0;
      return {
        operands: [
          draw.operand([d, queries, heads, n], -1, 1),
          draw.operand([d, keys, kvHeads, n], -1, 1, type),
          draw.operand([e, keys, kvHeads, n], -1, 1, type),
          maskFor(draw, keys, queries, heads, n),
          draw.operand([heads]),
        ],
        build: (context, q, k, v, mask, sinks) =>
          ops.flashAttention(context, q!, k!, v!, {
            scale: 0.3,
            softcap: cap,
            maxBias,
            ...(masked ? { mask: mask! } : {}),
            ...(sunk ? { sinks: sinks! } : {}),
          }),
        reference: (q, k, v, mask, sinks) =>
          attend(q, k, v, masked ? mask : undefined, 0.3, maxBias, cap, sunk ? sinks : undefined),
      };
    },
  })),
  ropeCase("rope", false, false),
  ropeCase("rope in place", false, true),
  ropeCase("ropeBack", true, false),
  multiRope(false),
  multiRope(true),
  {
    name: "rope for vision",
    tolerance: 1e-4,
    make: (draw) => {
      const half = 2 * draw.int(1, 4);
      const sections = [half / 2, half / 2, 0, 0] as [number, number, number, number];
      const [heads, tokens] = [draw.int(1, 2), draw.int(1, 3)];
      return {
        operands: [draw.operand([2 * half, heads, tokens]), draw.indices([4 * tokens], 20)],
        build: (context, a, positions) => ops.rope(context, a!, positions!, { mode: "vision", sections }),
        reference: (a, positions) =>
          nd(a.shape, (i, h, t) => {
            const pair = i % half;
            const within = pair % (half / 2);
            const angle = positions.at(t + (pair < half / 2 ? 0 : tokens)) * 10_000 ** (-2 * within / half);
            const [p, q] = [a.at(pair, h, t), a.at(pair + half, h, t)];
            return i < half ? p * Math.cos(angle) - q * Math.sin(angle) : p * Math.sin(angle) + q * Math.cos(angle);
          }),
      };
    },
  },
  {
    name: "windowPartition",
    make: (draw) => {
      const [c, x, y, w] = [draw.int(1, 3), draw.int(1, 7), draw.int(1, 7), draw.int(1, 4)];
      const across = Math.ceil(x / w);
      return {
        operands: [draw.operand([c, x, y])],
        build: (context, a) => ops.windowPartition(context, a!, w),
        reference: (a) =>
          nd(
            [c, w, w, across * Math.ceil(y / w)],
            (i, j, k, l) => a.zero(i, (l % across) * w + j, Math.floor(l / across) * w + k),
          ),
      };
    },
  },
  {
    name: "windowUnpartition",
    make: (draw) => {
      const [c, x, y, w] = [draw.int(1, 3), draw.int(1, 7), draw.int(1, 7), draw.int(1, 4)];
      const across = Math.ceil(x / w);
      return {
        operands: [draw.operand([c, w, w, across * Math.ceil(y / w)])],
        build: (context, a) => ops.windowUnpartition(context, a!, x, y),
        reference: (a) =>
          nd([c, x, y], (i, j, k) => a.at(i, j % w, k % w, Math.floor(k / w) * across + Math.floor(j / w))),
      };
    },
  },
  {
    name: "relativePositions",
    make: (draw) => {
      const [c, n] = [draw.int(1, 5), draw.int(1, 5)];
      return {
        operands: [draw.operand([c, 2 * n - 1], -2, 2, "f16")],
        build: (context, a) => ops.relativePositions(context, a!, n),
        reference: (a) => nd([c, n, n], (i, j, k) => a.at(i, n - 1 - j + k)),
      };
    },
  },
  {
    name: "addRelativePositions",
    make: (draw) => {
      const [k, x, y, n] = [draw.int(1, 3), draw.int(1, 3), draw.int(1, 3), draw.int(1, 2)];
      const inPlace = draw.of(true, false);
      return {
        operands: [draw.operand([k * k, x * y, n]), draw.operand([k, x, y, n]), draw.operand([k, x, y, n])],
        build: (context, a, pw, ph) => ops.addRelativePositions(context, a!, pw!, ph!, { inPlace }),
        reference: (a, pw, ph) =>
          nd(a.shape, (i, j, l) => {
            const at = [j % x, Math.floor(j / x), l] as const;
            return a.at(i, j, l) + ph.at(Math.floor(i / k), ...at) + pw.at(i % k, ...at);
          }),
      };
    },
  },
];
