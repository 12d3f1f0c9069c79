/**
 * Convolutions. Pictures are [width, height, channels, n], kernels [width, height, channels in, channels out].
 *
 * @module
 */

import { checkOptions, isArray } from "../../../base/check.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { typeByName } from "../tensor/types.ts";
import { check, F32_F16, INT_MAX, type OperatorCheck } from "./check.ts";

/** Movement of a kernel along one axis. */
export interface AxisOptions {
  /** From one place to the next, from 1. Default 1. */
  stride?: number | undefined;
  /** Zeros on both sides. Default 0. */
  padding?: number | undefined;
  /** From one number of the kernel to the next, from 1. Default 1. */
  dilation?: number | undefined;
}

/** Movement of a kernel along several axes: one number for all, or one for each, the width first. */
export interface AxesOptions {
  /** From one place to the next, from 1. Default 1. */
  stride?: number | readonly number[] | undefined;
  /** Zeros on both sides. Default 0. */
  padding?: number | readonly number[] | undefined;
  /** From one number of the kernel to the next, from 1. Default 1. */
  dilation?: number | readonly number[] | undefined;
}

/** The largest kernel step that is taken: products of them are counted in 32 bits. */
export const MAX_STEP = 1 << 15;

/** Movement of a kernel along each axis. */
export interface Axes {
  /** The strides. */
  readonly s: number[];
  /** The padding. */
  readonly p: number[];
  /** The dilation. */
  readonly d: number[];
}

/** Checks how a kernel moves along its axes. */
export function checkAxes(checked: OperatorCheck, options: AxesOptions, count: number): Axes {
  const each = (name: string, value: number | readonly number[], min: number): number[] => {
    const values = isArray(value) ? value as readonly number[] : Array.from({ length: count }, () => value as number);
    checked.integer(`the count of numbers in ${name}`, values.length, { min: count, max: count });
    return values.map((one, index) =>
      checked.integer(count === 1 ? name : `${name}[${index}]`, one, { min, max: MAX_STEP })
    );
  };
  return {
    s: each("stride", options.stride ?? 1, 1),
    p: each("padding", options.padding ?? 0, 0),
    d: each("dilation", options.dilation ?? 1, 1),
  };
}

/** Returns the number of positions of a kernel along each axis; throws when there is none. */
export function placesOf(checked: OperatorCheck, a: Tensor, b: Tensor, { s, p, d }: Axes): number[] {
  return s.map((stride, index) => {
    const [kernel, size] = [a.shape[index as 0], b.shape[index as 0]];
    const reach = (d[index] ?? 1) * (kernel - 1) + 1;
    const padded = size + 2 * (p[index] ?? 0);
    checked.require(padded >= reach, "b", index, `at least ${reach - 2 * (p[index] ?? 0)}, what the kernel covers`);
    return Math.floor((padded - reach) / stride) + 1;
  });
}

/** A kernel and what it moves over. */
export type Pair = OperatorCheck<{ a: Tensor; b: Tensor }>;

function checkPair(op: string, context: GgmlContext, a: Tensor, b: Tensor): Pair {
  return check(op, context, { a, b }).type("a", ...F32_F16).type("b", "f32").contiguous("a", "b");
}

/** The same checks, for any operands. */
export const plain = (checked: Pair): OperatorCheck => checked as unknown as OperatorCheck;
/** The names of the options of an axis. */
export const axisNames = ["stride", "padding", "dilation"] as const;

/**
 * The convolution of rows: `a` [k, in, out] of f32 or f16, `b` [length, in] of f32 give [places, out]. Computed with 16-bit floats. One at a time: of
 * several ggml mixes up the results.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError, InvalidArgumentError, ContextFullError, DisposedError. C: `ggml_conv_1d`.
 */
export function conv1d(context: GgmlContext, a: Tensor, b: Tensor, options?: AxisOptions): Tensor {
  const checked = checkPair("conv1d", context, a, b).dimensions("a", 3).dimension("b", 1, a.shape[1], "as a has")
    .dimensions("b", 2);
  const axes = checkAxes(plain(checked), checkOptions("conv1d", options, axisNames), 1);
  placesOf(plain(checked), a, b, axes);
  return checked.build((into) =>
    context.native.lib.ggml_conv_1d(
      into,
      a.unsafePointer,
      b.unsafePointer,
      axes.s[0] ?? 1,
      axes.p[0] ?? 0,
      axes.d[0] ?? 1,
    )
  );
}

/** {@linkcode conv1d} with half of the kernel as padding. C: `ggml_conv_1d_ph`. */
export function conv1dHalf(context: GgmlContext, a: Tensor, b: Tensor, options?: Omit<AxisOptions, "padding">): Tensor {
  const checked = checkPair("conv1dHalf", context, a, b).dimensions("a", 3).dimension("b", 1, a.shape[1], "as a has")
    .dimensions("b", 2);
  const given = checkOptions("conv1dHalf", options, ["stride", "dilation"]);
  const axes = checkAxes(plain(checked), { ...given, padding: Math.floor(a.shape[0] / 2) }, 1);
  placesOf(plain(checked), a, b, axes);
  return checked.build((into) =>
    context.native.lib.ggml_conv_1d_ph(into, a.unsafePointer, b.unsafePointer, axes.s[0] ?? 1, axes.d[0] ?? 1)
  );
}

function checkDepthwise1d(op: string, context: GgmlContext, a: Tensor, b: Tensor): Pair {
  return checkPair(op, context, a, b)
    .dimension("a", 1, 1, "each channel has its own kernel").dimension("a", 3, 1)
    .dimensions("b", 2)
    .dimension("a", 2, b.shape[1], "the count of b's channels");
}

/** The convolution of each channel alone: `a` [k, 1, channels], `b` [length, channels] give [places, channels]. As {@linkcode conv1d}. C: `ggml_conv_1d_dw`. */
export function conv1dDepthwise(context: GgmlContext, a: Tensor, b: Tensor, options?: AxisOptions): Tensor {
  const checked = checkDepthwise1d("conv1dDepthwise", context, a, b);
  const axes = checkAxes(plain(checked), checkOptions("conv1dDepthwise", options, axisNames), 1);
  placesOf(plain(checked), a, b, axes);
  return checked.build((into) =>
    context.native.lib.ggml_conv_1d_dw(
      into,
      a.unsafePointer,
      b.unsafePointer,
      axes.s[0] ?? 1,
      axes.p[0] ?? 0,
      axes.d[0] ?? 1,
    )
  );
}

/** {@linkcode conv1dDepthwise} with half of the kernel as padding. C: `ggml_conv_1d_dw_ph`. */
export function conv1dDepthwiseHalf(
  context: GgmlContext,
  a: Tensor,
  b: Tensor,
  options?: Omit<AxisOptions, "padding">,
): Tensor {
  const checked = checkDepthwise1d("conv1dDepthwiseHalf", context, a, b);
  const given = checkOptions("conv1dDepthwiseHalf", options, ["stride", "dilation"]);
  const axes = checkAxes(plain(checked), { ...given, padding: Math.floor(a.shape[0] / 2) }, 1);
  placesOf(plain(checked), a, b, axes);
  return checked.build((into) =>
    context.native.lib.ggml_conv_1d_dw_ph(into, a.unsafePointer, b.unsafePointer, axes.s[0] ?? 1, axes.d[0] ?? 1)
  );
}

/**
 * The convolution of pictures: `a` [w, h, in, out] of f32 or f16, `b` [width, height, in, n] of f32 give [places, places, out, n]. Computed with 16-bit
 * floats. As {@linkcode conv1d}. C: `ggml_conv_2d`.
 */
export function conv2d(context: GgmlContext, a: Tensor, b: Tensor, options?: AxesOptions): Tensor {
  const checked = checkPair("conv2d", context, a, b).dimension("b", 2, a.shape[2], "as a has");
  const axes = checkAxes(plain(checked), checkOptions("conv2d", options, axisNames), 2);
  placesOf(plain(checked), a, b, axes);
  const { s, p, d } = axes as unknown as { s: [number, number]; p: [number, number]; d: [number, number] };
  return checked.build((into) =>
    context.native.lib.ggml_conv_2d(into, a.unsafePointer, b.unsafePointer, ...s, ...p, ...d)
  );
}

/** {@linkcode conv2d} whose stride is the kernel's size: patches side by side. C: `ggml_conv_2d_sk_p0`. */
export function conv2dPatches(context: GgmlContext, a: Tensor, b: Tensor): Tensor {
  const checked = checkPair("conv2dPatches", context, a, b).dimension("b", 2, a.shape[2], "as a has");
  placesOf(plain(checked), a, b, checkAxes(plain(checked), { stride: [a.shape[0], a.shape[1]] }, 2));
  return checked.build((into) => context.native.lib.ggml_conv_2d_sk_p0(into, a.unsafePointer, b.unsafePointer));
}

/** {@linkcode conv2d} with half of the kernel as padding, so that pictures with an odd kernel keep their size. C: `ggml_conv_2d_s1_ph`. */
export function conv2dHalf(context: GgmlContext, a: Tensor, b: Tensor): Tensor {
  const checked = checkPair("conv2dHalf", context, a, b).dimension("b", 2, a.shape[2], "as a has");
  const padding = [Math.floor(a.shape[0] / 2), Math.floor(a.shape[1] / 2)];
  placesOf(plain(checked), a, b, checkAxes(plain(checked), { padding }, 2));
  return checked.build((into) => context.native.lib.ggml_conv_2d_s1_ph(into, a.unsafePointer, b.unsafePointer));
}

/**
 * The convolution of each channel alone: `a` [w, h, 1, channels] of f16, `b` [width, height, channels, n] of f32. Through a product of matrices. As
 * {@linkcode conv1d}. C: `ggml_conv_2d_dw`.
 */
export function conv2dDepthwise(context: GgmlContext, a: Tensor, b: Tensor, options?: AxesOptions): Tensor {
  const checked = checkPair("conv2dDepthwise", context, a, b).type("a", "f16")
    .dimension("a", 2, 1, "each channel has its own kernel").dimension("a", 3, b.shape[2], "the count of b's channels");
  const axes = checkAxes(plain(checked), checkOptions("conv2dDepthwise", options, axisNames), 2);
  placesOf(plain(checked), a, b, axes);
  const { s, p, d } = axes as unknown as { s: [number, number]; p: [number, number]; d: [number, number] };
  return checked.build((into) =>
    context.native.lib.ggml_conv_2d_dw(into, a.unsafePointer, b.unsafePointer, ...s, ...p, ...d)
  );
}

/** {@linkcode conv2dDepthwise} without a product of matrices; `a` of f32 or f16. C: `ggml_conv_2d_dw_direct`. */
export function conv2dDepthwiseDirect(context: GgmlContext, a: Tensor, b: Tensor, options?: AxesOptions): Tensor {
  const checked = checkPair("conv2dDepthwiseDirect", context, a, b)
    .dimension("a", 2, 1, "each channel has its own kernel").dimension("a", 3, b.shape[2], "the count of b's channels");
  const axes = checkAxes(plain(checked), checkOptions("conv2dDepthwiseDirect", options, axisNames), 2);
  placesOf(plain(checked), a, b, axes);
  const { s, p, d } = axes as unknown as { s: [number, number]; p: [number, number]; d: [number, number] };
  return checked.build((into) =>
    context.native.lib.ggml_conv_2d_dw_direct(into, a.unsafePointer, b.unsafePointer, ...s, ...p, ...d)
  );
}

/** Bytes in which the direct convolutions work. C: `GGML_IM2COL_WORK_SIZE`. */
const WORK_BYTES = 16 * 1024 * 1024;

function checkWork(checked: OperatorCheck, a: Tensor, inputs: number, outputs: number): void {
  const bytes = inputs * typeByName("the type", a.type).typeSize + outputs * 4;
  checked.integer("the bytes of one place's numbers", bytes, { min: 1, max: WORK_BYTES });
}

/** {@linkcode conv2d} in one operator, with the kernel's own precision. C: `ggml_conv_2d_direct`. */
export function conv2dDirect(context: GgmlContext, a: Tensor, b: Tensor, options?: AxesOptions): Tensor {
  const checked = checkPair("conv2dDirect", context, a, b).dimension("b", 2, a.shape[2], "as a has");
  const axes = checkAxes(plain(checked), checkOptions("conv2dDirect", options, axisNames), 2);
  placesOf(plain(checked), a, b, axes);
  checkWork(plain(checked), a, a.shape[0] * a.shape[1] * a.shape[2], a.shape[3]);
  const { s, p, d } = axes as unknown as { s: [number, number]; p: [number, number]; d: [number, number] };
  return checked.build((into) =>
    context.native.lib.ggml_conv_2d_direct(into, a.unsafePointer, b.unsafePointer, ...s, ...p, ...d)
  );
}

/** Options of {@linkcode conv3d}. */
export interface Conv3dOptions extends AxesOptions {
  /** Number of channels of the pictures: dimension 3 of `a` is that times the channels out, of `b` that times n. */
  channels: number;
}

/** Checks a convolution along three axes. */
export function checkConv3d(op: string, context: GgmlContext, a: Tensor, b: Tensor, options: Conv3dOptions) {
  const { channels, ...rest } = checkOptions(op, options, [...axisNames, "channels"]);
  const checked = checkPair(op, context, a, b);
  const count = checked.integer("channels", channels, { min: 1, max: INT_MAX });
  checked.require(a.shape[3] % count === 0, "a", 3, `a multiple of ${count}, the channels`)
    .require(b.shape[3] % count === 0, "b", 3, `a multiple of ${count}, the channels`);
  const axes = checkAxes(plain(checked), rest, 3);
  placesOf(plain(checked), a, b, axes);
  type Three = [number, number, number];
  return { checked, count, ...(axes as unknown as { s: Three; p: Three; d: Three }) };
}

/**
 * The convolution of bodies: `a` [w, h, depth, channels · out], `b` [width, height, depth, channels · n] give [places, places, places, out · n]. As
 * {@linkcode conv2d}. C: `ggml_conv_3d`.
 */
export function conv3d(context: GgmlContext, a: Tensor, b: Tensor, options: Conv3dOptions): Tensor {
  const { checked, count, s, p, d } = checkConv3d("conv3d", context, a, b, options);
  return checked.build((into) =>
    context.native.lib.ggml_conv_3d(into, a.unsafePointer, b.unsafePointer, BigInt(count), ...s, ...p, ...d)
  );
}

/** {@linkcode conv3d} in one operator, with the kernel's own precision. C: `ggml_conv_3d_direct`. */
export function conv3dDirect(context: GgmlContext, a: Tensor, b: Tensor, options: Conv3dOptions): Tensor {
  const { checked, count, s, p, d } = checkConv3d("conv3dDirect", context, a, b, options);
  const [n, out] = [b.shape[3] / count, a.shape[3] / count];
  checkWork(plain(checked), a, a.shape[0] * a.shape[1] * a.shape[2] * count, out);
  return checked.build((into) =>
    context.native.lib.ggml_conv_3d_direct(into, a.unsafePointer, b.unsafePointer, ...s, ...p, ...d, count, n, out)
  );
}

/** The transposed convolution of rows: `a` [k, out, in], `b` [length, in] give [(length − 1) · stride + k, out]. As {@linkcode conv1d}. C: `ggml_conv_transpose_1d`. */
export function convTranspose1d(context: GgmlContext, a: Tensor, b: Tensor, stride: number = 1): Tensor {
  const checked = checkPair("convTranspose1d", context, a, b)
    .dimensions("a", 3).dimensions("b", 2).dimension("b", 1, a.shape[2], "as a's dimension 2");
  const step = checked.integer("stride", stride, { min: 1, max: MAX_STEP });
  checked.result([(b.shape[0] - 1) * step + a.shape[0], a.shape[1]], "f32");
  return checked.build((into) =>
    context.native.lib.ggml_conv_transpose_1d(into, a.unsafePointer, b.unsafePointer, step, 0, 1)
  );
}

/**
 * The transposed convolution of pictures: `a` [w, h, out, in], `b` [width, height, in, n] give [(width − 1) · stride + w, (height − 1) · stride + h, out, n].
 * As {@linkcode conv1d}. C: `ggml_conv_transpose_2d_p0`.
 */
export function convTranspose2d(context: GgmlContext, a: Tensor, b: Tensor, stride: number = 1): Tensor {
  const checked = checkPair("convTranspose2d", context, a, b).dimension("b", 2, a.shape[3], "as a's dimension 3");
  const step = checked.integer("stride", stride, { min: 1, max: MAX_STEP });
  const [width, height, , n] = b.shape;
  checked.result([(width - 1) * step + a.shape[0], (height - 1) * step + a.shape[1], a.shape[2], n], "f32");
  return checked.build((into) =>
    context.native.lib.ggml_conv_transpose_2d_p0(into, a.unsafePointer, b.unsafePointer, step)
  );
}
