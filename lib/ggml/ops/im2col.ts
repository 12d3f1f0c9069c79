/**
 * Pictures as matrices for convolutions, and back.
 *
 * @module
 */

import { boolean, deferred, integer, oneOf, options, type RulesOf } from "../../../base/options.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { typeByName } from "../tensor/types.ts";
import { check, F32_F16, type OperatorCheck } from "./check.ts";
import {
  type Axes,
  type AxesOptions,
  checkAxes,
  checkConv3d,
  type Conv3dOptions,
  conv3dRules,
  MAX_STEP,
  placesOf,
  plain,
} from "./convolution.ts";

/** Options of {@linkcode im2col}. */
export interface Im2colOptions extends AxesOptions {
  /** Pictures, not rows. Default true. C: `is_2D`. */
  pictures?: boolean | undefined;
  /** The type of the result. Default `"f16"`. */
  type?: "f32" | "f16" | undefined;
}

const type = oneOf(["f32", "f16"], { default: "f16" });
/** Rows have one axis, pictures two. */
const axis = deferred<number | readonly number[]>("one integer, or an array of one for each axis");
const columnRules = {
  stride: axis,
  padding: axis,
  dilation: axis,
  pictures: boolean({ default: true }),
} as const satisfies RulesOf<Omit<Im2colOptions, "type">>;
const im2colSpec = options("im2col", { ...columnRules, type } satisfies RulesOf<Im2colOptions>);
const im2colBackSpec = options("im2colBack", columnRules);

/**
 * The numbers under a kernel at each of its places as rows, so that a convolution becomes a product of matrices. Pictures: `a` [w, h, in, out], `b`
 * [width, height, in, n] give [w · h · in, places, places, n]. Rows: `a` [k, in, out], `b` [length, in, n] give [k · in, places, n]. Only the shape of
 * `a` counts; `b` is of f32, or f16 for a result of f16. As {@linkcode conv1d}. C: `ggml_im2col`.
 */
export function im2col(context: GgmlContext, a: Tensor, b: Tensor, options?: Im2colOptions): Tensor {
  const { pictures, type, ...given } = im2colSpec.checkOf("im2col", options);
  const checked = check("im2col", context, { a, b }).type("b", "f32", type).contiguous("b");
  if (pictures) checked.dimension("b", 2, a.shape[2], "as a has");
  else checked.dimension("b", 1, a.shape[1], "as a has").dimension("b", 3, 1);
  const axes = checkAxes(plain(checked), pictures ? 2 : 1, given);
  placesOf(plain(checked), a, b, axes);
  const { id } = typeByName("im2col: type", type);
  return checked.build((into) =>
    context.native.lib.ggml_im2col(into, a.unsafePointer, b.unsafePointer, ...twoAxes(axes), pictures, id)
  );
}

/** Movement along two axes as C takes it; of rows the second is 0. */
function twoAxes({ stride, padding, dilation }: Axes) {
  const [[s0, s1 = 0], [p0, p1 = 0], [d0, d1 = 0]] = [stride, padding, dilation];
  return [s0, s1, p0, p1, d0, d1] as const;
}

/**
 * The gradient of {@linkcode im2col}: from that of its result (f32) and the kernel (f32 or f16), in the shape of the operand `b`. As {@linkcode im2col}.
 * C: `ggml_im2col_back`.
 */
export function im2colBack(
  context: GgmlContext,
  kernel: Tensor,
  gradient: Tensor,
  shape: readonly number[],
  options?: Omit<Im2colOptions, "type">,
): Tensor {
  const checked = check("im2colBack", context, { kernel, gradient })
    .type("kernel", ...F32_F16).type("gradient", "f32").contiguous("kernel", "gradient");
  const full = checked.result(shape, "f32");
  const { pictures, ...given } = checked.options(im2colBackSpec, options);
  const axes = checkAxes(checked as unknown as OperatorCheck, pictures ? 2 : 1, given);
  const { stride, padding, dilation } = axes;
  const places = stride.map((step, index) => {
    const reach = (dilation[index] ?? 1) * (kernel.shape[index as 0] - 1) + 1;
    return Math.floor((full[index as 0] + 2 * (padding[index] ?? 0) - reach) / step) + 1;
  });
  const [k0, k1, k2] = kernel.shape;
  if (pictures) {
    checked.shape("kernel", [undefined, undefined, full[2], undefined])
      .shape("gradient", [k0 * k1 * k2, places[0], places[1], full[3]]);
  } else {
    checked.shape("kernel", [undefined, full[1], undefined, undefined])
      .shape("gradient", [k0 * k1, places[0], full[2]]);
  }
  const dimensions = BigInt64Array.from(full, BigInt);
  // The header has the two the other way round; this is how the processor's kernel and the backward pass take them.
  return checked.build((into) =>
    context.native.lib.ggml_im2col_back(
      into,
      gradient.unsafePointer,
      kernel.unsafePointer,
      dimensions,
      ...twoAxes(axes),
      pictures,
    )
  );
}

/** Options of {@linkcode im2col3d}. */
export interface Im2col3dOptions extends Conv3dOptions {
  /** The type of the result. Default `"f16"`. */
  type?: "f32" | "f16" | undefined;
}

const im2col3dSpec = options("im2col3d", { ...conv3dRules, type } satisfies RulesOf<Im2col3dOptions>);

/** {@linkcode im2col} for bodies, shaped as for {@linkcode conv3d}: gives [w · h · depth · channels, places, places, places · n]. C: `ggml_im2col_3d`. */
export function im2col3d(context: GgmlContext, a: Tensor, b: Tensor, options: Im2col3dOptions): Tensor {
  const { checked, settings } = checkConv3d("im2col3d", context, a, b, im2col3dSpec, options);
  const { channels, stride, padding, dilation, type } = settings;
  const { id } = typeByName("im2col3d: type", type);
  return checked.build((into) =>
    context.native.lib.ggml_im2col_3d(
      into,
      a.unsafePointer,
      b.unsafePointer,
      BigInt(channels),
      ...stride,
      ...padding,
      ...dilation,
      id,
    )
  );
}

/** Options of {@linkcode col2im1d}. */
export interface Col2im1dOptions {
  /** From 1. Default 1. */
  stride?: number | undefined;
  /** The channels out, which divide the first dimension. */
  channels: number;
  /** Elements that are cut off on both sides. Default 0. */
  padding?: number | undefined;
}

/** {@linkcode Col2im1dOptions}, declared. */
const col2im1dSpec = options(
  "col2im1d",
  {
    stride: integer({ min: 1, max: MAX_STEP, default: 1 }),
    channels: deferred<number, { required: true }>("an integer", { required: true }),
    padding: deferred("an integer", { default: 0 }),
  } satisfies RulesOf<Col2im1dOptions>,
);

/**
 * Columns added up into rows, the other way of {@linkcode im2col}: `a` [k · channels, length] gives [(length − 1) · stride + k − 2 · padding, channels];
 * f32, f16 or bf16, contiguous. As {@linkcode conv1d}. C: `ggml_col2im_1d`.
 */
export function col2im1d(context: GgmlContext, a: Tensor, options: Col2im1dOptions): Tensor {
  const checked = check("col2im1d", context, { a }).type("a", ...F32_F16, "bf16").dimensions("a", 2).contiguous("a");
  const { stride, channels, padding } = checked.options(col2im1dSpec, options);
  const count = checked.integer("channels", channels, { min: 1, max: a.shape[0] });
  checked.require(a.shape[0] % count === 0, "a", 0, `a multiple of ${count}, the channels`);
  const length = (a.shape[1] - 1) * stride + a.shape[0] / count;
  const cut = checked.integer("padding", padding, { min: 0, max: Math.floor((length - 1) / 2) });
  checked.result([length - 2 * cut, count], a.type);
  return checked.build((into) => context.native.lib.ggml_col2im_1d(into, a.unsafePointer, stride, count, cut));
}
