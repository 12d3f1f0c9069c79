/**
 * Pictures as matrices for convolutions, and back.
 *
 * @module
 */

import { checkBoolean, checkOneOf, checkOptions } from "../../../base/check.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { typeByName } from "../tensor/types.ts";
import { check, F32_F16, type OperatorCheck } from "./check.ts";
import {
  type AxesOptions,
  axisNames,
  checkAxes,
  checkConv3d,
  type Conv3dOptions,
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

/**
 * The numbers under a kernel at each of its places as rows, so that a convolution becomes a product of matrices. Pictures: `a` [w, h, in, out], `b`
 * [width, height, in, n] give [w · h · in, places, places, n]. Rows: `a` [k, in, out], `b` [length, in, n] give [k · in, places, n]. Only the shape of
 * `a` counts; `b` is of f32, or f16 for a result of f16. As {@linkcode conv1d}. C: `ggml_im2col`.
 */
export function im2col(context: GgmlContext, a: Tensor, b: Tensor, options?: Im2colOptions): Tensor {
  const { pictures = true, type = "f16", ...rest } = checkOptions("im2col", options, [
    ...axisNames,
    "pictures",
    "type",
  ]);
  const two = checkBoolean("im2col: pictures", pictures);
  const wanted = checkOneOf("im2col: type", type, ["f32", "f16"]);
  const checked = check("im2col", context, { a, b }).type("b", "f32", wanted).contiguous("b");
  if (two) checked.dimension("b", 2, a.shape[2], "as a has");
  else checked.dimension("b", 1, a.shape[1], "as a has").dimension("b", 3, 1);
  const axes = checkAxes(plain(checked), rest, two ? 2 : 1);
  placesOf(plain(checked), a, b, axes);
  const [s0 = 1, s1 = 0] = axes.s;
  const [p0 = 0, p1 = 0] = axes.p;
  const [d0 = 1, d1 = 0] = axes.d;
  const { id } = typeByName("im2col: type", wanted);
  return checked.build((into) =>
    context.native.lib.ggml_im2col(into, a.unsafePointer, b.unsafePointer, s0, s1, p0, p1, d0, d1, two, id)
  );
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
  const { pictures = true, ...rest } = checkOptions("im2colBack", options, [...axisNames, "pictures"]);
  const two = checkBoolean("im2colBack: pictures", pictures);
  const checked = check("im2colBack", context, { kernel, gradient })
    .type("kernel", ...F32_F16).type("gradient", "f32").contiguous("kernel", "gradient");
  const full = checked.result(shape, "f32");
  const axes = checkAxes(checked as unknown as OperatorCheck, rest, two ? 2 : 1);
  const places = axes.s.map((stride, index) =>
    Math.floor(
      (full[index as 0] + 2 * (axes.p[index] ?? 0) - (axes.d[index] ?? 1) * (kernel.shape[index as 0] - 1) - 1) /
        stride,
    ) + 1
  );
  const [k0, k1, k2] = kernel.shape;
  if (two) {
    checked.shape("kernel", [undefined, undefined, full[2], undefined]).shape("gradient", [
      k0 * k1 * k2,
      places[0],
      places[1],
      full[3],
    ]);
  } else {checked.shape("kernel", [undefined, full[1], undefined, undefined]).shape("gradient", [
      k0 * k1,
      places[0],
      full[2],
    ]);}
  const [s0 = 1, s1 = 0] = axes.s;
  const [p0 = 0, p1 = 0] = axes.p;
  const [d0 = 1, d1 = 0] = axes.d;
  const dimensions = BigInt64Array.from(full, BigInt);
  // The header has the two the other way round; this is how the processor's kernel and the backward pass take them.
  return checked.build((into) =>
    context.native.lib.ggml_im2col_back(
      into,
      gradient.unsafePointer,
      kernel.unsafePointer,
      dimensions,
      s0,
      s1,
      p0,
      p1,
      d0,
      d1,
      two,
    )
  );
}

/** Options of {@linkcode im2col3d}. */
export interface Im2col3dOptions extends Conv3dOptions {
  /** The type of the result. Default `"f16"`. */
  type?: "f32" | "f16" | undefined;
}

/** {@linkcode im2col} for bodies, shaped as for {@linkcode conv3d}: gives [w · h · depth · channels, places, places, places · n]. C: `ggml_im2col_3d`. */
export function im2col3d(context: GgmlContext, a: Tensor, b: Tensor, options: Im2col3dOptions): Tensor {
  const { type = "f16", ...rest } = checkOptions("im2col3d", options, [...axisNames, "channels", "type"]);
  const wanted = checkOneOf("im2col3d: type", type, ["f32", "f16"]);
  const { checked, count, s, p, d } = checkConv3d("im2col3d", context, a, b, rest as Conv3dOptions);
  const { id } = typeByName("im2col3d: type", wanted);
  return checked.build((into) =>
    context.native.lib.ggml_im2col_3d(into, a.unsafePointer, b.unsafePointer, BigInt(count), ...s, ...p, ...d, id)
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

/**
 * Columns added up into rows, the other way of {@linkcode im2col}: `a` [k · channels, length] gives [(length − 1) · stride + k − 2 · padding, channels];
 * f32, f16 or bf16, contiguous. As {@linkcode conv1d}. C: `ggml_col2im_1d`.
 */
export function col2im1d(context: GgmlContext, a: Tensor, options: Col2im1dOptions): Tensor {
  const { stride = 1, channels, padding = 0 } = checkOptions("col2im1d", options, ["stride", "channels", "padding"]);
  const checked = check("col2im1d", context, { a }).type("a", ...F32_F16, "bf16").dimensions("a", 2).contiguous("a");
  const step = checked.integer("stride", stride, { min: 1, max: MAX_STEP });
  const count = checked.integer("channels", channels, { min: 1, max: a.shape[0] });
  checked.require(a.shape[0] % count === 0, "a", 0, `a multiple of ${count}, the channels`);
  const length = (a.shape[1] - 1) * step + a.shape[0] / count;
  const cut = checked.integer("padding", padding, { min: 0, max: Math.floor((length - 1) / 2) });
  checked.result([length - 2 * cut, count], a.type);
  return checked.build((into) => context.native.lib.ggml_col2im_1d(into, a.unsafePointer, step, count, cut));
}
