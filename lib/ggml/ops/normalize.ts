/**
 * Operators that bring rows or groups to the same mean, variance or length.
 *
 * @module
 */

import { number, options, type RulesOf } from "../../../base/options.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { check, libOf } from "./check.ts";
import { type InPlaceOptions, inPlaceRules, POSITIVE } from "./options.ts";

/** Options of normalization. */
export interface NormOptions extends InPlaceOptions {
  /** Added before the root is taken; from 0 upwards. Default 1e-5. C: `eps`. */
  epsilon?: number | undefined;
}

const EPSILON = 1e-5;

/** {@linkcode NormOptions}, declared. */
const normSpec = options(
  "norm",
  { ...inPlaceRules, epsilon: number({ ...POSITIVE, default: EPSILON }) } satisfies RulesOf<NormOptions>,
);

/** Each row less its mean, divided by the root of its variance plus epsilon; f32. Throws TensorTypeError, InvalidArgumentError. C: `ggml_norm`. */
export function norm(context: GgmlContext, a: Tensor, options?: NormOptions): Tensor {
  const checked = check("norm", context, { a }).type("a", "f32");
  const { epsilon: eps, inPlace } = checked.options(normSpec, options);
  const lib = libOf(context);
  return checked.build((into) =>
    inPlace ? lib.ggml_norm_inplace(into, a.unsafePointer, eps) : lib.ggml_norm(into, a.unsafePointer, eps)
  );
}

/** Each row divided by the root of its mean square plus epsilon; f32. Throws TensorTypeError, TensorLayoutError, InvalidArgumentError. C: `ggml_rms_norm`. */
export function rmsNorm(context: GgmlContext, a: Tensor, options?: NormOptions): Tensor {
  const checked = check("rmsNorm", context, { a }).type("a", "f32").elementsTogether("a");
  const { epsilon: eps, inPlace } = checked.options(normSpec, options);
  const lib = libOf(context);
  return checked.build((into) =>
    inPlace ? lib.ggml_rms_norm_inplace(into, a.unsafePointer, eps) : lib.ggml_rms_norm(into, a.unsafePointer, eps)
  );
}

/**
 * The gradient of {@linkcode rmsNorm}: from that of its result and from its operand, of one shape. Throws TensorShapeError, TensorTypeError,
 * TensorLayoutError, InvalidArgumentError. C: `ggml_rms_norm_back`.
 */
export function rmsNormBack(context: GgmlContext, gradient: Tensor, a: Tensor, epsilon: number = EPSILON): Tensor {
  const checked = check("rmsNormBack", context, { gradient, a })
    .type("gradient", "f32").type("a", "f32").sameShape("a", "gradient").elementsTogether("gradient", "a");
  const eps = checked.number("epsilon", epsilon, POSITIVE);
  return checked.build((into) =>
    context.native.lib.ggml_rms_norm_back(into, gradient.unsafePointer, a.unsafePointer, eps)
  );
}

/**
 * The channels (dimension 2) of each image in `groups` groups, each normalized as by {@linkcode norm}; f32. Throws TensorTypeError, TensorLayoutError,
 * InvalidArgumentError. C: `ggml_group_norm`.
 */
export function groupNorm(context: GgmlContext, a: Tensor, groups: number, options?: NormOptions): Tensor {
  const checked = check("groupNorm", context, { a }).type("a", "f32").elementsTogether("a");
  const count = checked.integer("groups", groups, { min: 1, max: a.shape[2] });
  const { epsilon: eps, inPlace } = checked.options(normSpec, options);
  const lib = libOf(context);
  return checked.build((into) =>
    inPlace
      ? lib.ggml_group_norm_inplace(into, a.unsafePointer, count, eps)
      : lib.ggml_group_norm(into, a.unsafePointer, count, eps)
  );
}

/** Each row divided by the larger of its length and epsilon; f32. Throws TensorTypeError, InvalidArgumentError. C: `ggml_l2_norm`. */
export function l2Norm(context: GgmlContext, a: Tensor, options?: NormOptions): Tensor {
  const checked = check("l2Norm", context, { a }).type("a", "f32");
  const { epsilon: eps, inPlace } = checked.options(normSpec, options);
  const lib = libOf(context);
  return checked.build((into) =>
    inPlace ? lib.ggml_l2_norm_inplace(into, a.unsafePointer, eps) : lib.ggml_l2_norm(into, a.unsafePointer, eps)
  );
}
