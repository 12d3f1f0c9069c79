import * as ops from "../../../lib/ggml/ops/mod.ts";
import type { Case, Draw } from "./case.ts";
import { Nd, nd } from "./nd.ts";

interface Pool {
  readonly kind: "max" | "mean";
  readonly size: [number, number];
  readonly stride: [number, number];
  readonly padding: [number, number];
}

function poolOf(draw: Draw): Pool {
  const size: [number, number] = [draw.int(1, 3), draw.int(1, 3)];
  return {
    kind: draw.of("max", "mean"),
    size,
    stride: [draw.int(1, 3), draw.int(1, 3)],
    padding: [draw.int(0, size[0] - 1), draw.int(0, size[1] - 1)],
  };
}

const pools = (n: number, at: 0 | 1, { size, stride, padding }: Pool): number =>
  Math.floor((n + 2 * padding[at] - size[at]) / stride[at]) + 1;

function inPool(
  a: Nd,
  pool: Pool,
  x: number,
  y: number,
  k: number,
  l: number,
): { at: [number, number]; value: number }[] {
  const found: { at: [number, number]; value: number }[] = [];
  for (let v = 0; v < pool.size[1]; v++) {
    for (let u = 0; u < pool.size[0]; u++) {
      const at: [number, number] = [x * pool.stride[0] + u - pool.padding[0], y * pool.stride[1] + v - pool.padding[1]];
      const inside = at[0] >= 0 && at[0] < a.shape[0] && at[1] >= 0 && at[1] < a.shape[1];
      if (inside) found.push({ at, value: a.at(at[0], at[1], k, l) });
    }
  }
  return found;
}

function pool2d(a: Nd, pool: Pool): Nd {
  const [n0, n1, n2, n3] = a.shape;
  return nd([pools(n0, 0, pool), pools(n1, 1, pool), n2, n3], (x, y, k, l) => {
    const values = inPool(a, pool, x, y, k, l).map(({ value }) => value);
    if (pool.kind === "max") return Math.max(...values);
    return values.reduce((total, one) => total + one, 0) / (pool.size[0] * pool.size[1]);
  });
}

/** Where a new number lies between the old ones. */
function scaled(a: Nd, shape: readonly number[], mode: string, corners: boolean): Nd {
  const factor = (index: number): number => {
    const [to, from] = [shape[index]!, a.shape[index as 0]];
    return corners && to > 1 && from > 1 ? (to - 1) / (from - 1) : to / from;
  };
  const f = [factor(0), factor(1), shape[2]! / a.shape[2], shape[3]! / a.shape[3]];
  const half = corners ? 0 : 0.5;
  const clamp = (index: number, at: 0 | 1): number => Math.min(Math.max(index, 0), a.shape[at] - 1);
  const cubic = (x: number): number[] => {
    const near = (t: number): number => ((-0.75 + 2) * t - (-0.75 + 3)) * t * t + 1;
    const far = (t: number): number => ((-0.75 * t - 5 * -0.75) * t + 8 * -0.75) * t - 4 * -0.75;
    return [far(x + 1), near(x), near(1 - x), far(2 - x)];
  };
  return nd(shape, (i, j, k, l) => {
    const [z, w] = [Math.floor(k / f[2]!), Math.floor(l / f[3]!)];
    if (mode === "nearest") return a.at(Math.floor(i / f[0]!), Math.floor(j / f[1]!), z, w);
    const [x, y] = [(i + half) / f[0]! - half, (j + half) / f[1]! - half];
    if (mode === "bilinear") {
      const [x0, y0] = [clamp(Math.floor(x), 0), clamp(Math.floor(y), 1)];
      const [x1, y1] = [clamp(Math.floor(x) + 1, 0), clamp(Math.floor(y) + 1, 1)];
      const [dx, dy] = [Math.min(Math.max(x - x0, 0), 1), Math.min(Math.max(y - y0, 0), 1)];
      return a.at(x0, y0, z, w) * (1 - dx) * (1 - dy) + a.at(x1, y0, z, w) * dx * (1 - dy) +
        a.at(x0, y1, z, w) * (1 - dx) * dy + a.at(x1, y1, z, w) * dx * dy;
    }
    const [wx, wy] = [cubic(x - Math.floor(x)), cubic(y - Math.floor(y))];
    let total = 0;
    for (let v = 0; v < 4; v++) {
      for (let u = 0; u < 4; u++) {
        total += wx[u]! * wy[v]! * a.at(clamp(Math.floor(x) + u - 1, 0), clamp(Math.floor(y) + v - 1, 1), z, w);
      }
    }
    return total;
  });
}

/** Pictures with a triangle as filter. */
function antialiased(a: Nd, shape: readonly number[]): Nd {
  const f = [shape[0]! / a.shape[0], shape[1]! / a.shape[1]];
  const weights = (to: number, at: 0 | 1): [number, number][] => {
    const support = Math.max(1, 1 / f[at]!);
    const center = (to + 0.5) / f[at]!;
    const found: [number, number][] = [];
    for (
      let from = Math.max(Math.trunc(center - support + 0.5), 0);
      from < Math.min(Math.trunc(center + support + 0.5), a.shape[at]);
      from++
    ) {
      const weight = Math.max(1 - Math.abs((from - center + 0.5) / support), 0);
      if (weight > 0) found.push([from, weight]);
    }
    return found;
  };
  return nd(shape, (i, j, k, l) => {
    let [value, total] = [0, 0];
    for (const [y, wy] of weights(j, 1)) {
      for (const [x, wx] of weights(i, 0)) {
        value += a.at(x, y, k, l) * wx * wy;
        total += wx * wy;
      }
    }
    return total > 0 ? value / total : value;
  });
}

const mod = (value: number, by: number): number => ((value % by) + by) % by;

/** Pictures and signals. */
export const pictureCases: readonly Case[] = [
  {
    name: "pool1d",
    make: (draw) => {
      const pool = { ...poolOf(draw) };
      const n = draw.int(pool.size[0], 9);
      return {
        operands: [draw.distinct([n, draw.int(1, 3), draw.int(1, 2)])],
        build: (context, a) =>
          ops.pool1d(context, a!, {
            kind: pool.kind,
            size: pool.size[0],
            stride: pool.stride[0],
            padding: pool.padding[0],
          }),
        reference: (a) =>
          nd([pools(n, 0, pool), a.shape[1], a.shape[2]], (x, j, k) => {
            const values = Array.from({ length: pool.size[0] }, (_, u) => x * pool.stride[0] + u - pool.padding[0])
              .filter((at) => at >= 0 && at < n).map((at) => a.at(at, j, k));
            if (pool.kind === "max") return Math.max(...values);
            return values.reduce((total, one) => total + one, 0) / values.length;
          }),
      };
    },
  },
  {
    name: "pool2d",
    make: (draw) => {
      const pool = poolOf(draw);
      return {
        operands: [draw.distinct([draw.int(3, 7), draw.int(3, 7), draw.int(1, 2), draw.int(1, 2)])],
        build: (context, a) => ops.pool2d(context, a!, pool),
        reference: (a) => pool2d(a, pool),
        gradients: [0],
      };
    },
  },
  {
    name: "pool2dBack",
    make: (draw) => {
      const pool = poolOf(draw);
      const shape = [draw.int(3, 6), draw.int(3, 6), draw.int(1, 2)];
      const small = [pools(shape[0]!, 0, pool), pools(shape[1]!, 1, pool), shape[2]!];
      return {
        operands: [draw.operand(small), draw.distinct(shape)],
        build: (context, gradient, a) => ops.pool2dBack(context, gradient!, a!, pool),
        reference: (gradient, a) => {
          const made = new Nd(shape);
          nd(small, (x, y, k) => {
            const found = inPool(a, pool, x, y, k, 0);
            const largest = found.reduce((one, other) => other.value > one.value ? other : one);
            for (const one of pool.kind === "max" ? [largest] : found) {
              const share = gradient.at(x, y, k) / (pool.kind === "max" ? 1 : pool.size[0] * pool.size[1]);
              made.put(made.at(one.at[0], one.at[1], k) + share, one.at[0], one.at[1], k);
            }
            return 0;
          });
          return made;
        },
      };
    },
  },
  {
    name: "upscale",
    make: (draw) => {
      const [n0, n1, n2, factor] = [draw.int(1, 4), draw.int(1, 4), draw.int(1, 2), draw.int(2, 3)];
      const mode = draw.of("nearest", "bilinear", "bicubic") as "nearest";
      return {
        operands: [draw.operand([n0, n1, n2])],
        build: (context, a) => ops.upscale(context, a!, factor, mode),
        reference: (a) => scaled(a, [n0 * factor, n1 * factor, n2, 1], mode, false),
      };
    },
  },
  {
    name: "interpolate",
    tolerance: 1e-4,
    make: (draw) => {
      const [n0, n1, n2] = [draw.int(1, 6), draw.int(1, 6), draw.int(1, 2)];
      const shape = [n0 * draw.int(1, 2), n1 * draw.int(1, 2), n2, 1];
      const mode = draw.of("nearest", "bilinear", "bicubic") as "nearest";
      const alignCorners = (mode as string) !== "nearest" && draw.of(true, false);
      return {
        operands: [draw.operand([n0, n1, n2])],
        build: (context, a) => ops.interpolate(context, a!, shape, { mode, alignCorners }),
        reference: (a) => scaled(a, shape, mode, alignCorners),
      };
    },
  },
  {
    name: "interpolate with antialias",
    tolerance: 1e-4,
    make: (draw) => {
      const shape = [draw.of(2, 4, 8), draw.of(2, 4, 8), draw.int(1, 2), 1];
      return {
        operands: [draw.operand([8, 4, shape[2]!])],
        build: (context, a) => ops.interpolate(context, a!, shape, { antialias: true }),
        reference: (a) => antialiased(a, shape),
      };
    },
  },
  {
    name: "pad",
    make: (draw) => {
      const shape = draw.shape(4);
      const after = shape.map(() => draw.int(0, 3));
      return {
        operands: [draw.operand(shape)],
        build: (context, a) => ops.pad(context, a!, after),
        reference: (a) => nd(shape.map((size, at) => size + after[at]!), (...at) => a.zero(...at)),
      };
    },
  },
  {
    name: "pad on both sides",
    make: (draw) => {
      const shape = draw.shape(4);
      const circular = draw.of(true, false);
      const border = () => shape.map((size) => draw.int(0, circular ? Math.min(size, 2) : 2));
      const [before, after] = [border(), border()];
      return {
        operands: [draw.operand(shape)],
        build: (context, a) => ops.pad(context, a!, after, { before, circular }),
        reference: (a) =>
          nd(shape.map((size, at) => size + after[at]! + before[at]!), (...at) => {
            const from = at.map((index, axis) => index - before[axis]!) as [number, number, number, number];
            if (!circular) return a.zero(...from);
            return a.at(...from.map((index, axis) => mod(index, shape[axis as 0])) as [number, number, number, number]);
          }),
      };
    },
  },
  {
    name: "pad in a circle",
    make: (draw) => {
      const shape = draw.shape(4);
      const after = shape.map((size) => draw.int(0, size));
      return {
        operands: [draw.operand(shape)],
        build: (context, a) => ops.pad(context, a!, after, { circular: true }),
        reference: (a) => nd(shape.map((size, at) => size + after[at]!), (...at) => a.wrap(...at)),
      };
    },
  },
  {
    name: "padReflect1d",
    make: (draw) => {
      const shape = [draw.int(1, 6), draw.int(1, 3), draw.int(1, 2), 1];
      const [before, after] = [draw.int(0, shape[0]! - 1), draw.int(0, shape[0]! - 1)];
      return {
        operands: [draw.operand(shape)],
        build: (context, a) => ops.padReflect1d(context, a!, before, after),
        reference: (a) =>
          nd([shape[0]! + before + after, shape[1]!, shape[2]!], (i, j, k) => {
            const at = Math.abs(i - before);
            return a.at(at < shape[0]! ? at : 2 * (shape[0]! - 1) - at, j, k);
          }),
      };
    },
  },
  {
    name: "roll",
    make: (draw) => {
      const shape = draw.shape();
      const shifts = shape.map((size) => draw.int(1 - size, size - 1));
      return {
        operands: [draw.operand(shape)],
        build: (context, a) => ops.roll(context, a!, shifts),
        reference: (a) =>
          nd(
            shape,
            (...at) =>
              a.at(
                ...at.map((index, axis) => mod(index - shifts[axis]!, shape[axis as 0])) as [
                  number,
                  number,
                  number,
                  number,
                ],
              ),
          ),
      };
    },
  },
  {
    name: "timestepEmbedding",
    tolerance: 1e-4,
    make: (draw) => {
      const [n, size] = [draw.int(1, 4), draw.int(1, 9)];
      const half = Math.floor(size / 2);
      return {
        operands: [draw.operand([n], 0, 10)],
        build: (context, times) => ops.timestepEmbedding(context, times!, size, 1000),
        reference: (times) =>
          nd([size, n], (i, j) => {
            if (i >= 2 * half) return 0;
            const angle = times.at(j) * Math.exp(-Math.log(1000) * (i % half) / half);
            return i < half ? Math.cos(angle) : Math.sin(angle);
          }),
      };
    },
  },
];
