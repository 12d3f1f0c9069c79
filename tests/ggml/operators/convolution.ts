import * as ops from "../../../lib/ggml/ops/mod.ts";
import { type Case, type Draw, HALF } from "./case.ts";
import { Nd, nd, sum } from "./nd.ts";

interface Axis {
  readonly s: number;
  readonly p: number;
  readonly d: number;
}

const places = (size: number, kernel: number, { s, p, d }: Axis): number =>
  Math.floor((size + 2 * p - d * (kernel - 1) - 1) / s) + 1;

/** A size that the kernel fits into. */
function sizeFor(draw: Draw, kernel: number, { p, d }: Axis): number {
  return Math.max(1, d * (kernel - 1) + 1 - 2 * p) + draw.int(0, 4);
}

const axis = (draw: Draw): Axis => ({ s: draw.int(1, 3), p: draw.int(0, 2), d: draw.int(1, 2) });

/** The sum over a kernel of what `at` gives for its places. */
function over(k0: number, k1: number, inputs: number, f: (x: number, y: number, c: number) => number): number {
  return sum(k0, (x) => sum(k1, (y) => sum(inputs, (c) => f(x, y, c))));
}

function conv2d(a: Nd, b: Nd, x: Axis, y: Axis): Nd {
  const [k0, k1, inputs, out] = a.shape;
  const [n0, n1, , n] = b.shape;
  return nd(
    [places(n0, k0, x), places(n1, k1, y), out, n],
    (i, j, o, l) =>
      over(
        k0,
        k1,
        inputs,
        (u, v, c) => a.at(u, v, c, o) * b.zero(i * x.s + u * x.d - x.p, j * y.s + v * y.d - y.p, c, l),
      ),
  );
}

function depthwise2d(a: Nd, b: Nd, x: Axis, y: Axis): Nd {
  const [k0, k1, , channels] = a.shape;
  const [n0, n1, , n] = b.shape;
  return nd(
    [places(n0, k0, x), places(n1, k1, y), channels, n],
    (i, j, c, l) =>
      over(k0, k1, 1, (u, v) => a.at(u, v, 0, c) * b.zero(i * x.s + u * x.d - x.p, j * y.s + v * y.d - y.p, c, l)),
  );
}

function conv3d(a: Nd, b: Nd, channels: number, axes: readonly [Axis, Axis, Axis]): Nd {
  const [k0, k1, k2] = a.shape;
  const [n0, n1, n2] = b.shape;
  const [out, n] = [a.shape[3] / channels, b.shape[3] / channels];
  const [x, y, z] = axes;
  return nd([places(n0, k0, x), places(n1, k1, y), places(n2, k2, z), out * n], (i, j, k, l) => {
    const [o, item] = [l % out, Math.floor(l / out)];
    return sum(k2, (w) =>
      over(k0, k1, channels, (u, v, c) =>
        a.at(u, v, w, o * channels + c) *
        b.zero(i * x.s + u * x.d - x.p, j * y.s + v * y.d - y.p, k * z.s + w * z.d - z.p, item * channels + c)));
  });
}

const optionsOf = (...axes: readonly Axis[]) => ({
  stride: axes.map(({ s }) => s),
  padding: axes.map(({ p }) => p),
  dilation: axes.map(({ d }) => d),
});

const kernelType = (draw: Draw) => draw.of("f32", "f16") as "f32";

function twoD(
  name: string,
  depthwise: boolean,
  tolerance: number,
  types: readonly ("f32" | "f16")[],
  gradients = false,
): Case {
  return {
    name,
    tolerance,
    make: (draw) => {
      const [k0, k1, inputs, out, n] = [draw.int(1, 3), draw.int(1, 3), draw.int(1, 3), draw.int(1, 3), draw.int(1, 2)];
      const [x, y] = [axis(draw), axis(draw)];
      const kernel = depthwise ? [k0, k1, 1, inputs] : [k0, k1, inputs, out];
      const build = (ops as unknown as Record<string, typeof ops.conv2d>)[name]!;
      return {
        operands: [
          draw.operand(kernel, -1, 1, draw.of(...types)),
          draw.operand([sizeFor(draw, k0, x), sizeFor(draw, k1, y), inputs, n], -1, 1),
        ],
        build: (context, a, b) => build(context, a!, b!, optionsOf(x, y)),
        reference: (a, b) => depthwise ? depthwise2d(a, b, x, y) : conv2d(a, b, x, y),
        ...(gradients ? { gradients: [1] } : {}),
      };
    },
  };
}

function oneD(name: "conv1d" | "conv1dHalf", half: boolean): Case {
  return {
    name,
    tolerance: HALF,
    make: (draw) => {
      const [k, inputs, out] = [draw.int(1, 4), draw.int(1, 3), draw.int(1, 3)];
      const x = { ...axis(draw), ...(half ? { p: Math.floor(k / 2) } : {}) };
      return {
        operands: [
          draw.operand([k, inputs, out], -1, 1, kernelType(draw)),
          draw.operand([sizeFor(draw, k, x), inputs], -1, 1),
        ],
        build: (context, a, b) =>
          half
            ? ops.conv1dHalf(context, a!, b!, { stride: x.s, dilation: x.d })
            : ops.conv1d(context, a!, b!, { stride: x.s, padding: x.p, dilation: x.d }),
        reference: (a, b) =>
          nd(
            [places(b.shape[0], k, x), out],
            (i, o) => sum(k, (u) => sum(inputs, (c) => a.at(u, c, o) * b.zero(i * x.s + u * x.d - x.p, c))),
          ),
      };
    },
  };
}

function oneDDepthwise(half: boolean): Case {
  return {
    name: half ? "conv1dDepthwiseHalf" : "conv1dDepthwise",
    tolerance: HALF,
    make: (draw) => {
      const [k, channels] = [draw.int(1, 4), draw.int(1, 4)];
      const x = { ...axis(draw), ...(half ? { p: Math.floor(k / 2) } : {}) };
      return {
        operands: [
          draw.operand([k, 1, channels], -1, 1, kernelType(draw)),
          draw.operand([sizeFor(draw, k, x), channels], -1, 1),
        ],
        build: (context, a, b) =>
          half
            ? ops.conv1dDepthwiseHalf(context, a!, b!, { stride: x.s, dilation: x.d })
            : ops.conv1dDepthwise(context, a!, b!, { stride: x.s, padding: x.p, dilation: x.d }),
        reference: (a, b) =>
          nd(
            [places(b.shape[0], k, x), channels],
            (i, c) => sum(k, (u) => a.at(u, 0, c) * b.zero(i * x.s + u * x.d - x.p, c)),
          ),
      };
    },
  };
}

function threeD(name: "conv3d" | "conv3dDirect", tolerance: number): Case {
  return {
    name,
    tolerance,
    make: (draw) => {
      const [k0, k1, k2] = [draw.int(1, 2), draw.int(1, 2), draw.int(1, 2)];
      const [channels, out, n] = [draw.int(1, 2), draw.int(1, 2), draw.int(1, 2)];
      const axes = [axis(draw), axis(draw), axis(draw)] as [Axis, Axis, Axis];
      const sizes = [k0, k1, k2].map((kernel, at) => sizeFor(draw, kernel, axes[at as 0]));
      return {
        operands: [
          draw.operand([k0, k1, k2, channels * out], -1, 1, name === "conv3d" ? kernelType(draw) : "f32"),
          draw.operand([...sizes, channels * n], -1, 1),
        ],
        build: (context, a, b) => ops[name](context, a!, b!, { channels, ...optionsOf(...axes) }),
        reference: (a, b) => conv3d(a, b, channels, axes),
      };
    },
  };
}

function im2col(a: readonly number[], b: Nd, x: Axis, y: Axis): Nd {
  const [k0 = 1, k1 = 1, inputs = 1] = a;
  const [n0, n1, , n] = b.shape;
  return nd([k0 * k1 * inputs, places(n0, k0, x), places(n1, k1, y), n], (at, i, j, l) => {
    const [u, v, c] = [at % k0, Math.floor(at / k0) % k1, Math.floor(at / (k0 * k1))];
    return b.zero(i * x.s + u * x.d - x.p, j * y.s + v * y.d - y.p, c, l);
  });
}

/** Convolutions. */
export const convolutionCases: readonly Case[] = [
  oneD("conv1d", false),
  oneD("conv1dHalf", true),
  oneDDepthwise(false),
  oneDDepthwise(true),
  twoD("conv2d", false, HALF, ["f32", "f16"]),
  twoD("conv2dDepthwise", true, HALF, ["f16"]),
  twoD("conv2dDepthwiseDirect", true, 1e-4, ["f32"]),
  twoD("conv2dDirect", false, 1e-4, ["f32"]),
  threeD("conv3d", HALF),
  threeD("conv3dDirect", 1e-4),
  {
    name: "conv2dPatches",
    tolerance: HALF,
    make: (draw) => {
      const [k0, k1, inputs, out] = [draw.int(1, 3), draw.int(1, 3), draw.int(1, 3), draw.int(1, 3)];
      return {
        operands: [
          draw.operand([k0, k1, inputs, out], -1, 1),
          draw.operand([k0 * draw.int(1, 3), k1 * draw.int(1, 3), inputs], -1, 1),
        ],
        build: (context, a, b) => ops.conv2dPatches(context, a!, b!),
        reference: (a, b) => conv2d(a, b, { s: k0, p: 0, d: 1 }, { s: k1, p: 0, d: 1 }),
      };
    },
  },
  {
    name: "conv2dHalf",
    tolerance: HALF,
    make: (draw) => {
      const [k0, k1, inputs, out] = [draw.int(1, 3), draw.int(1, 3), draw.int(1, 3), draw.int(1, 3)];
      return {
        operands: [
          draw.operand([k0, k1, inputs, out], -1, 1),
          draw.operand([draw.int(3, 6), draw.int(3, 6), inputs], -1, 1),
        ],
        build: (context, a, b) => ops.conv2dHalf(context, a!, b!),
        reference: (a, b) => conv2d(a, b, { s: 1, p: Math.floor(k0 / 2), d: 1 }, { s: 1, p: Math.floor(k1 / 2), d: 1 }),
      };
    },
  },
  {
    name: "convTranspose1d",
    tolerance: HALF,
    make: (draw) => {
      const [k, out, inputs, length, s] = [
        draw.int(1, 4),
        draw.int(1, 3),
        draw.int(1, 3),
        draw.int(1, 5),
        draw.int(1, 3),
      ];
      return {
        operands: [draw.operand([k, out, inputs], -1, 1, kernelType(draw)), draw.operand([length, inputs], -1, 1)],
        build: (context, a, b) => ops.convTranspose1d(context, a!, b!, s),
        reference: (a, b) =>
          nd(
            [(length - 1) * s + k, out],
            (i, o) => sum(length, (t) => sum(inputs, (c) => a.zero(i - t * s, o, c) * b.at(t, c))),
          ),
      };
    },
  },
  {
    name: "convTranspose2d",
    tolerance: HALF,
    make: (draw) => {
      const [k0, k1, out, inputs, s] = [draw.int(1, 3), draw.int(1, 3), draw.int(1, 2), draw.int(1, 2), draw.int(1, 3)];
      const [n0, n1] = [draw.int(1, 4), draw.int(1, 4)];
      return {
        operands: [draw.operand([k0, k1, out, inputs], -1, 1, kernelType(draw)), draw.operand([n0, n1, inputs], -1, 1)],
        build: (context, a, b) => ops.convTranspose2d(context, a!, b!, s),
        reference: (a, b) =>
          nd(
            [(n0 - 1) * s + k0, (n1 - 1) * s + k1, out],
            (i, j, o) =>
              sum(n0, (x) => sum(n1, (y) => sum(inputs, (c) => a.zero(i - x * s, j - y * s, o, c) * b.at(x, y, c)))),
          ),
      };
    },
  },
  {
    name: "im2col",
    make: (draw) => {
      const [k0, k1, inputs, n] = [draw.int(1, 3), draw.int(1, 3), draw.int(1, 3), draw.int(1, 2)];
      const [x, y] = [axis(draw), axis(draw)];
      const shape = [k0, k1, inputs, 1];
      return {
        operands: [draw.operand(shape), draw.operand([sizeFor(draw, k0, x), sizeFor(draw, k1, y), inputs, n])],
        build: (context, a, b) => ops.im2col(context, a!, b!, { type: "f32", ...optionsOf(x, y) }),
        reference: (_, b) => im2col(shape, b, x, y),
        gradients: [1],
      };
    },
  },
  {
    name: "im2col of rows, as f16",
    tolerance: HALF,
    make: (draw) => {
      const [k, inputs, n] = [draw.int(1, 3), draw.int(1, 3), draw.int(1, 2)];
      const x = axis(draw);
      return {
        operands: [draw.operand([k, inputs, 1]), draw.operand([sizeFor(draw, k, x), inputs, n])],
        build: (context, a, b) =>
          ops.im2col(context, a!, b!, { pictures: false, stride: x.s, padding: x.p, dilation: x.d }),
        reference: (_, b) => {
          const length = places(b.shape[0], k, x);
          return nd(
            [k * inputs, length, n],
            (at, i, l) => b.zero(i * x.s + (at % k) * x.d - x.p, Math.floor(at / k), l),
          );
        },
      };
    },
  },
  {
    name: "im2colBack",
    make: (draw) => {
      const [k0, k1, inputs, n] = [draw.int(1, 3), draw.int(1, 3), draw.int(1, 2), draw.int(1, 2)];
      const [x, y] = [axis(draw), axis(draw)];
      const picture = [sizeFor(draw, k0, x), sizeFor(draw, k1, y), inputs, n];
      const columns = [k0 * k1 * inputs, places(picture[0]!, k0, x), places(picture[1]!, k1, y), n];
      return {
        operands: [draw.operand([k0, k1, inputs, 1]), draw.operand(columns)],
        build: (context, a, gradient) => ops.im2colBack(context, a!, gradient!, picture, optionsOf(x, y)),
        reference: (_, gradient) => {
          const made = new Nd(picture);
          nd(columns, (at, i, j, l) => {
            const [u, v, c] = [at % k0, Math.floor(at / k0) % k1, Math.floor(at / (k0 * k1))];
            const [p, q] = [i * x.s + u * x.d - x.p, j * y.s + v * y.d - y.p];
            if (p >= 0 && p < picture[0]! && q >= 0 && q < picture[1]!) {
              made.put(made.at(p, q, c, l) + gradient.at(at, i, j, l), p, q, c, l);
            }
            return 0;
          });
          return made;
        },
      };
    },
  },
  {
    name: "im2col3d",
    make: (draw) => {
      const k = [draw.int(1, 2), draw.int(1, 2), draw.int(1, 2)] as const;
      const [channels, n] = [draw.int(1, 2), draw.int(1, 2)];
      const [x, y, z] = [axis(draw), axis(draw), axis(draw)];
      const sizes = [sizeFor(draw, k[0], x), sizeFor(draw, k[1], y), sizeFor(draw, k[2], z)] as const;
      const depth = places(sizes[2], k[2], z);
      return {
        operands: [draw.operand([...k, channels]), draw.operand([...sizes, channels * n])],
        build: (context, a, b) => ops.im2col3d(context, a!, b!, { channels, type: "f32", ...optionsOf(x, y, z) }),
        reference: (_, b) =>
          nd(
            [k[0] * k[1] * k[2] * channels, places(sizes[0], k[0], x), places(sizes[1], k[1], y), depth * n],
            (at, i, j, l) => {
              const [u, v, w] = [at % k[0], Math.floor(at / k[0]) % k[1], Math.floor(at / (k[0] * k[1])) % k[2]];
              const c = Math.floor(at / (k[0] * k[1] * k[2])) + channels * Math.floor(l / depth);
              return b.zero(i * x.s + u * x.d - x.p, j * y.s + v * y.d - y.p, (l % depth) * z.s + w * z.d - z.p, c);
            },
          ),
      };
    },
  },
  {
    name: "col2im1d",
    make: (draw) => {
      const [k, channels, length, s] = [draw.int(1, 4), draw.int(1, 3), draw.int(1, 5), draw.int(1, 3)];
      const whole = (length - 1) * s + k;
      const padding = draw.int(0, Math.floor((whole - 1) / 2));
      return {
        operands: [draw.operand([k * channels, length])],
        build: (context, a) => ops.col2im1d(context, a!, { stride: s, channels, padding }),
        reference: (a) =>
          nd([whole - 2 * padding, channels], (i, c) =>
            sum(length, (t) => {
              const at = i + padding - t * s;
              return at >= 0 && at < k ? a.at(c * k + at, t) : 0;
            })),
      };
    },
  },
];
