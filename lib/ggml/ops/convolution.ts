/**
 * Convolutions. Pictures are [width, height, channels, n], kernels [width, height, channels in, channels out].
 *
 * @module
 */

import type { Range } from "../../../base/check.ts";
import { integer, options, type OptionsSpec, type RulesOf, type Settings } from "../../../base/options.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { typeByName } from "../tensor/types.ts";
import { check, F32_F16, type OperatorCheck } from "./check.ts";
import { INT_MAX, type PerAxis, perAxis } from "./options.ts";

/** Movement of a kernel along one axis. */
export interface AxisOptions {
  /** Step from one position to the next, at least 1. Default 1. */
  stride?: number | undefined;
  /** Zeros on both sides. Default 0. */
  padding?: number | undefined;
  /** Distance between neighboring kernel elements, at least 1. Default 1. */
  dilation?: number | undefined;
}

/** Movement of a kernel along several axes: one number for all, or one for each, the width first. */
export interface AxesOptions {
  /** Step from one position to the next, at least 1. Default 1. */
  stride?: number | readonly number[] | undefined;
  /** Zeros on both sides. Default 0. */
  padding?: number | readonly number[] | undefined;
  /** Distance between neighboring kernel elements, at least 1. Default 1. */
  dilation?: number | readonly number[] | undefined;
}

/** The largest kernel step that is taken: products of them are counted in 32 bits. */
export const MAX_STEP = 1 << 15;

const step: Range = { min: 1, max: MAX_STEP };

/** {@linkcode AxesOptions}, declared for so many axes. */
function axesRules<const N extends keyof PerAxis>(axes: N) {
  return {
    stride: perAxis(axes, step, { default: 1 }),
    padding: perAxis(axes, { min: 0, max: MAX_STEP }, { default: 0 }),
    dilation: perAxis(axes, step, { default: 1 }),
  } as const satisfies RulesOf<AxesOptions>;
}

/** Movement along one axis, two, three. */
const axesSpecs = {
  1: options("a convolution", axesRules(1)),
  2: options("a convolution", axesRules(2)),
  3: options("a convolution", axesRules(3)),
} as const;
/** {@linkcode Conv3dOptions}, declared. */
export const conv3dRules = {
  ...axesRules(3),
  channels: integer({ min: 1, max: INT_MAX, required: true }),
} as const satisfies RulesOf<Conv3dOptions>;
const conv3dSpec = options("conv3d", conv3dRules);

/** Movement of a kernel along each axis. */
export type Axes<N extends keyof PerAxis = keyof PerAxis> = Record<keyof AxesOptions, PerAxis[N]>;

/** Checks the movement along one axis or two. */
export function checkAxes(checked: OperatorCheck, axes: 1 | 2, options: AxesOptions): Axes {
  return axes === 1 ? checked.options(axesSpecs[1], options) : checked.options(axesSpecs[2], options);
}

/** Returns the number of positions of a kernel along each axis; throws when there is none. */
export function placesOf(checked: OperatorCheck, a: Tensor, b: Tensor, { stride, padding, dilation }: Axes): number[] {
  return stride.map((step, index) => {
    const [kernel, size] = [a.shape[index as 0], b.shape[index as 0]];
    const [zeros = 0, gap = 1] = [padding[index], dilation[index]];
    const reach = gap * (kernel - 1) + 1;
    const padded = size + 2 * zeros;
    checked.require(padded >= reach, "b", index, `at least ${reach - 2 * zeros}, what the kernel covers`);
    return Math.floor((padded - reach) / step) + 1;
  });
}

/** A kernel and what it moves over. */
export type Pair = OperatorCheck<{ a: Tensor; b: Tensor }>;

function checkPair(op: string, context: GgmlContext, a: Tensor, b: Tensor): Pair {
  return check(op, context, { a, b }).type("a", ...F32_F16).type("b", "f32").contiguous("a", "b");
}

/** The same checks, for any operands. */
export const plain = (checked: Pair): OperatorCheck => checked as unknown as OperatorCheck;

/**
 * The convolution of rows: `a` [k, in, out] of f32 or f16, `b` [length, in] of f32 give [places, out]. Computed with 16-bit floats. One at a time: of
 * several ggml mixes up the results.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError, InvalidArgumentError, ContextFullError, DisposedError. C: `ggml_conv_1d`.
 */
export function conv1d(context: GgmlContext, a: Tensor, b: Tensor, options?: AxisOptions): Tensor {
  const checked = checkPair("conv1d", context, a, b).dimensions("a", 3).dimension("b", 1, a.shape[1], "as a has")
    .dimensions("b", 2);
  const axes = checked.options(axesSpecs[1], options);
  placesOf(plain(checked), a, b, axes);
  return checked.build((into) =>
    context.native.lib.ggml_conv_1d(
      into,
      a.unsafePointer,
      b.unsafePointer,
      ...axes.stride,
      ...axes.padding,
      ...axes.dilation,
    )
  );
}

const { stride: strideRule, dilation: dilationRule } = axesRules(1);
const halfSpec = options(
  "conv1dHalf",
  { stride: strideRule, dilation: dilationRule } satisfies RulesOf<Omit<AxisOptions, "padding">>,
);

/** {@linkcode conv1d} with half of the kernel as padding. C: `ggml_conv_1d_ph`. */
export function conv1dHalf(context: GgmlContext, a: Tensor, b: Tensor, options?: Omit<AxisOptions, "padding">): Tensor {
  const checked = checkPair("conv1dHalf", context, a, b).dimensions("a", 3).dimension("b", 1, a.shape[1], "as a has")
    .dimensions("b", 2);
  const { stride, dilation } = checked.options(halfSpec, options);
  placesOf(plain(checked), a, b, { stride, padding: [Math.floor(a.shape[0] / 2)], dilation });
  return checked.build((into) =>
    context.native.lib.ggml_conv_1d_ph(into, a.unsafePointer, b.unsafePointer, ...stride, ...dilation)
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
  const axes = checked.options(axesSpecs[1], options);
  placesOf(plain(checked), a, b, axes);
  return checked.build((into) =>
    context.native.lib.ggml_conv_1d_dw(
      into,
      a.unsafePointer,
      b.unsafePointer,
      ...axes.stride,
      ...axes.padding,
      ...axes.dilation,
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
  const { stride, dilation } = checked.options(halfSpec, options);
  placesOf(plain(checked), a, b, { stride, padding: [Math.floor(a.shape[0] / 2)], dilation });
  return checked.build((into) =>
    context.native.lib.ggml_conv_1d_dw_ph(into, a.unsafePointer, b.unsafePointer, ...stride, ...dilation)
  );
}

/**
 * The convolution of pictures: `a` [w, h, in, out] of f32 or f16, `b` [width, height, in, n] of f32 give [places, places, out, n]. Computed with 16-bit
 * floats. As {@linkcode conv1d}. C: `ggml_conv_2d`.
 */
export function conv2d(context: GgmlContext, a: Tensor, b: Tensor, options?: AxesOptions): Tensor {
  const checked = checkPair("conv2d", context, a, b).dimension("b", 2, a.shape[2], "as a has");
  const axes = checked.options(axesSpecs[2], options);
  placesOf(plain(checked), a, b, axes);
  const { stride, padding, dilation } = axes;
  return checked.build((into) =>
    context.native.lib.ggml_conv_2d(into, a.unsafePointer, b.unsafePointer, ...stride, ...padding, ...dilation)
  );
}

/** {@linkcode conv2d} whose stride is the kernel's size: patches side by side. C: `ggml_conv_2d_sk_p0`. */
export function conv2dPatches(context: GgmlContext, a: Tensor, b: Tensor): Tensor {
  const checked = checkPair("conv2dPatches", context, a, b).dimension("b", 2, a.shape[2], "as a has");
  placesOf(plain(checked), a, b, checked.options(axesSpecs[2], { stride: [a.shape[0], a.shape[1]] }));
  return checked.build((into) => context.native.lib.ggml_conv_2d_sk_p0(into, a.unsafePointer, b.unsafePointer));
}

/** {@linkcode conv2d} with half of the kernel as padding, so that pictures with an odd kernel keep their size. C: `ggml_conv_2d_s1_ph`. */
export function conv2dHalf(context: GgmlContext, a: Tensor, b: Tensor): Tensor {
  const checked = checkPair("conv2dHalf", context, a, b).dimension("b", 2, a.shape[2], "as a has");
  const padding = [Math.floor(a.shape[0] / 2), Math.floor(a.shape[1] / 2)];
  placesOf(plain(checked), a, b, checked.options(axesSpecs[2], { padding }));
  return checked.build((into) => context.native.lib.ggml_conv_2d_s1_ph(into, a.unsafePointer, b.unsafePointer));
}

/**
 * The convolution of each channel alone: `a` [w, h, 1, channels] of f16, `b` [width, height, channels, n] of f32. Through a product of matrices. As
 * {@linkcode conv1d}. C: `ggml_conv_2d_dw`.
 */
export function conv2dDepthwise(context: GgmlContext, a: Tensor, b: Tensor, options?: AxesOptions): Tensor {
  const checked = checkPair("conv2dDepthwise", context, a, b).type("a", "f16")
    .dimension("a", 2, 1, "each channel has its own kernel").dimension("a", 3, b.shape[2], "the count of b's channels");
  const axes = checked.options(axesSpecs[2], options);
  placesOf(plain(checked), a, b, axes);
  const { stride, padding, dilation } = axes;
  return checked.build((into) =>
    context.native.lib.ggml_conv_2d_dw(into, a.unsafePointer, b.unsafePointer, ...stride, ...padding, ...dilation)
  );
}

/** {@linkcode conv2dDepthwise} without a product of matrices; `a` of f32 or f16. C: `ggml_conv_2d_dw_direct`. */
export function conv2dDepthwiseDirect(context: GgmlContext, a: Tensor, b: Tensor, options?: AxesOptions): Tensor {
  const checked = checkPair("conv2dDepthwiseDirect", context, a, b)
    .dimension("a", 2, 1, "each channel has its own kernel").dimension("a", 3, b.shape[2], "the count of b's channels");
  const axes = checked.options(axesSpecs[2], options);
  placesOf(plain(checked), a, b, axes);
  const { stride, padding, dilation } = axes;
  return checked.build((into) =>
    context.native.lib.ggml_conv_2d_dw_direct(
      into,
      a.unsafePointer,
      b.unsafePointer,
      ...stride,
      ...padding,
      ...dilation,
    )
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
  const axes = checked.options(axesSpecs[2], options);
  placesOf(plain(checked), a, b, axes);
  checkWork(plain(checked), a, a.shape[0] * a.shape[1] * a.shape[2], a.shape[3]);
  const { stride, padding, dilation } = axes;
  return checked.build((into) =>
    context.native.lib.ggml_conv_2d_direct(into, a.unsafePointer, b.unsafePointer, ...stride, ...padding, ...dilation)
  );
}

/** Options of {@linkcode conv3d}. */
export interface Conv3dOptions extends AxesOptions {
  /** Number of channels of the pictures: dimension 3 of `a` is that times the channels out, of `b` that times n. */
  channels: number;
}

/** Checks a convolution along three axes. */
export function checkConv3d<R extends typeof conv3dRules>(
  op: string,
  context: GgmlContext,
  a: Tensor,
  b: Tensor,
  spec: OptionsSpec<R>,
  options: Conv3dOptions,
) {
  const checked = checkPair(op, context, a, b);
  const settings = checked.options(spec, options) as Settings<typeof conv3dRules> & Settings<R>;
  const { channels } = settings;
  checked.require(a.shape[3] % channels === 0, "a", 3, `a multiple of ${channels}, the channels`)
    .require(b.shape[3] % channels === 0, "b", 3, `a multiple of ${channels}, the channels`);
  placesOf(plain(checked), a, b, settings);
  return { checked, settings };
}

/**
 * The convolution of bodies: `a` [w, h, depth, channels · out], `b` [width, height, depth, channels · n] give [places, places, places, out · n]. As
 * {@linkcode conv2d}. C: `ggml_conv_3d`.
 */
export function conv3d(context: GgmlContext, a: Tensor, b: Tensor, options: Conv3dOptions): Tensor {
  const { checked, settings } = checkConv3d("conv3d", context, a, b, conv3dSpec, options);
  const { channels, stride, padding, dilation } = settings;
  return checked.build((into) =>
    context.native.lib.ggml_conv_3d(
      into,
      a.unsafePointer,
      b.unsafePointer,
      BigInt(channels),
      ...stride,
      ...padding,
      ...dilation,
    )
  );
}

/** {@linkcode conv3d} in one operator, with the kernel's own precision. C: `ggml_conv_3d_direct`. */
export function conv3dDirect(context: GgmlContext, a: Tensor, b: Tensor, options: Conv3dOptions): Tensor {
  const { checked, settings } = checkConv3d("conv3dDirect", context, a, b, conv3dSpec, options);
  const { channels, stride, padding, dilation } = settings;
  const [n, out] = [b.shape[3] / channels, a.shape[3] / channels];
  checkWork(plain(checked), a, a.shape[0] * a.shape[1] * a.shape[2] * channels, out);
  return checked.build((into) =>
    context.native.lib.ggml_conv_3d_direct(
      into,
      a.unsafePointer,
      b.unsafePointer,
      ...stride,
      ...padding,
      ...dilation,
      channels,
      n,
      out,
    )
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
