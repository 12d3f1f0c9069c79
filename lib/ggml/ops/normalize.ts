/**
 * Operators that bring rows or groups to the same mean, variance or length.
 *
 * @module
 */

import { checkBoolean, checkOptions } from "../../../base/check.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { check, type InPlaceOptions, libOf } from "./check.ts";

/** Options of normalization. */
export interface NormOptions extends InPlaceOptions {
  /** Added before the root is taken; from 0 upwards. Default 1e-5. C: `eps`. */
  epsilon?: number | undefined;
}

const EPSILON = 1e-5;

/** Each row less its mean, divided by the root of its variance plus epsilon; f32. Throws TensorTypeError, InvalidArgumentError. C: `ggml_norm`. */
export function norm(context: GgmlContext, a: Tensor, options?: NormOptions): Tensor {
  const { epsilon = EPSILON, inPlace = false } = checkOptions("norm", options, ["epsilon", "inPlace"]);
  const checked = check("norm", context, { a }).type("a", "f32");
  const eps = checked.number("epsilon", epsilon, { min: 0, max: 3.4e38 });
  const there = checkBoolean("norm: inPlace", inPlace);
  const lib = libOf(context);
  return checked.build((into) =>
    there ? lib.ggml_norm_inplace(into, a.unsafePointer, eps) : lib.ggml_norm(into, a.unsafePointer, eps)
  );
}

/** Each row divided by the root of its mean square plus epsilon; f32. Throws TensorTypeError, TensorLayoutError, InvalidArgumentError. C: `ggml_rms_norm`. */
export function rmsNorm(context: GgmlContext, a: Tensor, options?: NormOptions): Tensor {
  const { epsilon = EPSILON, inPlace = false } = checkOptions("rmsNorm", options, ["epsilon", "inPlace"]);
  const checked = check("rmsNorm", context, { a }).type("a", "f32").elementsTogether("a");
  const eps = checked.number("epsilon", epsilon, { min: 0, max: 3.4e38 });
  const there = checkBoolean("rmsNorm: inPlace", inPlace);
  const lib = libOf(context);
  return checked.build((into) =>
    there ? lib.ggml_rms_norm_inplace(into, a.unsafePointer, eps) : lib.ggml_rms_norm(into, a.unsafePointer, eps)
  );
}

/**
 * The gradient of {@linkcode rmsNorm}: from that of its result and from its operand, of one shape. Throws TensorShapeError, TensorTypeError,
 * TensorLayoutError, InvalidArgumentError. C: `ggml_rms_norm_back`.
 */
export function rmsNormBack(context: GgmlContext, gradient: Tensor, a: Tensor, epsilon: number = EPSILON): Tensor {
  const checked = check("rmsNormBack", context, { gradient, a })
    .type("gradient", "f32").type("a", "f32").sameShape("a", "gradient").elementsTogether("gradient", "a");
  const eps = checked.number("epsilon", epsilon, { min: 0, max: 3.4e38 });
  return checked.build((into) =>
    context.native.lib.ggml_rms_norm_back(into, gradient.unsafePointer, a.unsafePointer, eps)
  );
}

/**
 * The channels (dimension 2) of each image in `groups` groups, each normalized as by {@linkcode norm}; f32. Throws TensorTypeError, TensorLayoutError,
 * InvalidArgumentError. C: `ggml_group_norm`.
 */
export function groupNorm(context: GgmlContext, a: Tensor, groups: number, options?: NormOptions): Tensor {
  const { epsilon = EPSILON, inPlace = false } = checkOptions("groupNorm", options, ["epsilon", "inPlace"]);
  const checked = check("groupNorm", context, { a }).type("a", "f32").elementsTogether("a");
  const count = checked.integer("groups", groups, { min: 1, max: a.shape[2] });
  const eps = checked.number("epsilon", epsilon, { min: 0, max: 3.4e38 });
  const there = checkBoolean("groupNorm: inPlace", inPlace);
  const lib = libOf(context);
  return checked.build((into) =>
    there
      ? lib.ggml_group_norm_inplace(into, a.unsafePointer, count, eps)
      : lib.ggml_group_norm(into, a.unsafePointer, count, eps)
  );
}

/** Each row divided by the larger of its length and epsilon; f32. Throws TensorTypeError, InvalidArgumentError. C: `ggml_l2_norm`. */
export function l2Norm(context: GgmlContext, a: Tensor, options?: NormOptions): Tensor {
  const { epsilon = EPSILON, inPlace = false } = checkOptions("l2Norm", options, ["epsilon", "inPlace"]);
  const checked = check("l2Norm", context, { a }).type("a", "f32");
  const eps = checked.number("epsilon", epsilon, { min: 0, max: 3.4e38 });
  const there = checkBoolean("l2Norm: inPlace", inPlace);
  const lib = libOf(context);
  return checked.build((into) =>
    there ? lib.ggml_l2_norm_inplace(into, a.unsafePointer, eps) : lib.ggml_l2_norm(into, a.unsafePointer, eps)
  );
}
