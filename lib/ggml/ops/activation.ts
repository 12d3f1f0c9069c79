/**
 * Operators that work on each element alone.
 *
 * @module
 */

import { ggml_unary_op, type Lib, type Pointer } from "../../../ffi/mod.ts";
import { checkOneOf } from "../../../base/check.ts";
import { number, options, type RulesOf } from "../../../base/options.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { check, F32_F16, FLOATS, libOf, type OperatorCheck } from "./check.ts";
import { FLOAT, type InPlaceOptions, inPlaceRules, wantsInPlace } from "./options.ts";

/**
 * An operator on each element alone: takes a tensor of floats (f32, f16, bf16) whose rows' elements lie together and gives one of the same type and shape.
 * Throws TensorTypeError, TensorLayoutError, InvalidArgumentError, ContextFullError, DisposedError.
 */
export type ElementOperator = (context: GgmlContext, a: Tensor, options?: InPlaceOptions) => Tensor;

type Maker = (lib: Lib, context: Pointer<"ggml_context">, a: Pointer<"ggml_tensor">) => Pointer<"ggml_tensor">;

function elementOperator(op: string, make: Maker, makeInPlace: Maker): ElementOperator {
  return (context, a, options) => {
    const inPlace = wantsInPlace(op, options);
    return checkElements(op, op, context, a).build((into) =>
      (inPlace ? makeInPlace : make)(context.native.lib, into, a.unsafePointer)
    );
  };
}

/** Those that go through rows as if they followed each other without gaps, and know no bf16. */
const throughRows: readonly string[] = ["gelu", "geluErf", "geluQuick", "silu"];

function checkElements(op: string, name: string, context: GgmlContext, a: Tensor): OperatorCheck<{ a: Tensor }> {
  const checked = check(op, context, { a }).elementsTogether("a");
  return throughRows.includes(name)
    ? checked.type("a", ...F32_F16).contiguousFromRows("a")
    : checked.type("a", ...FLOATS);
}

/** `|a|`. C: `ggml_abs`. */
export const abs: ElementOperator = elementOperator(
  "abs",
  (lib, context, a) => lib.ggml_abs(context, a),
  (lib, context, a) => lib.ggml_abs_inplace(context, a),
);

/** −1, 0 or 1 by the sign of `a`. C: `ggml_sgn`. */
export const sgn: ElementOperator = elementOperator(
  "sgn",
  (lib, context, a) => lib.ggml_sgn(context, a),
  (lib, context, a) => lib.ggml_sgn_inplace(context, a),
);

/** `−a`. C: `ggml_neg`. */
export const neg: ElementOperator = elementOperator(
  "neg",
  (lib, context, a) => lib.ggml_neg(context, a),
  (lib, context, a) => lib.ggml_neg_inplace(context, a),
);

/** 1 where `a` is above 0, else 0. C: `ggml_step`. */
export const step: ElementOperator = elementOperator(
  "step",
  (lib, context, a) => lib.ggml_step(context, a),
  (lib, context, a) => lib.ggml_step_inplace(context, a),
);

/** The hyperbolic tangent of `a`. C: `ggml_tanh`. */
export const tanh: ElementOperator = elementOperator(
  "tanh",
  (lib, context, a) => lib.ggml_tanh(context, a),
  (lib, context, a) => lib.ggml_tanh_inplace(context, a),
);

/** `a` where it is above 0, else `exp(a) − 1`. C: `ggml_elu`. */
export const elu: ElementOperator = elementOperator(
  "elu",
  (lib, context, a) => lib.ggml_elu(context, a),
  (lib, context, a) => lib.ggml_elu_inplace(context, a),
);

/** `a` where it is above 0, else 0. C: `ggml_relu`. */
export const relu: ElementOperator = elementOperator(
  "relu",
  (lib, context, a) => lib.ggml_relu(context, a),
  (lib, context, a) => lib.ggml_relu_inplace(context, a),
);

/** `1 / (1 + exp(−a))`. C: `ggml_sigmoid`. */
export const sigmoid: ElementOperator = elementOperator(
  "sigmoid",
  (lib, context, a) => lib.ggml_sigmoid(context, a),
  (lib, context, a) => lib.ggml_sigmoid_inplace(context, a),
);

/** `a · Φ(a)`, by the approximation with tanh, through a table of 16-bit floats. C: `ggml_gelu`. */
export const gelu: ElementOperator = elementOperator(
  "gelu",
  (lib, context, a) => lib.ggml_gelu(context, a),
  (lib, context, a) => lib.ggml_gelu_inplace(context, a),
);

/** `a · Φ(a)`, exactly. C: `ggml_gelu_erf`. */
export const geluErf: ElementOperator = elementOperator(
  "geluErf",
  (lib, context, a) => lib.ggml_gelu_erf(context, a),
  (lib, context, a) => lib.ggml_gelu_erf_inplace(context, a),
);

/** `a · sigmoid(1.702 a)`, through a table of 16-bit floats. C: `ggml_gelu_quick`. */
export const geluQuick: ElementOperator = elementOperator(
  "geluQuick",
  (lib, context, a) => lib.ggml_gelu_quick(context, a),
  (lib, context, a) => lib.ggml_gelu_quick_inplace(context, a),
);

/** `a · sigmoid(a)`. C: `ggml_silu`. */
export const silu: ElementOperator = elementOperator(
  "silu",
  (lib, context, a) => lib.ggml_silu(context, a),
  (lib, context, a) => lib.ggml_silu_inplace(context, a),
);

/** e to the power of `a`. C: `ggml_exp`. */
export const exp: ElementOperator = elementOperator(
  "exp",
  (lib, context, a) => lib.ggml_exp(context, a),
  (lib, context, a) => lib.ggml_exp_inplace(context, a),
);

/** `exp(a) − 1`. C: `ggml_expm1`. */
export const expm1: ElementOperator = elementOperator(
  "expm1",
  (lib, context, a) => lib.ggml_expm1(context, a),
  (lib, context, a) => lib.ggml_expm1_inplace(context, a),
);

/** `log(1 + exp(a))`. C: `ggml_softplus`. */
export const softplus: ElementOperator = elementOperator(
  "softplus",
  (lib, context, a) => lib.ggml_softplus(context, a),
  (lib, context, a) => lib.ggml_softplus_inplace(context, a),
);

/** The largest whole number not above `a`. C: `ggml_floor`. */
export const floor: ElementOperator = elementOperator(
  "floor",
  (lib, context, a) => lib.ggml_floor(context, a),
  (lib, context, a) => lib.ggml_floor_inplace(context, a),
);

/** The smallest whole number not below `a`. C: `ggml_ceil`. */
export const ceil: ElementOperator = elementOperator(
  "ceil",
  (lib, context, a) => lib.ggml_ceil(context, a),
  (lib, context, a) => lib.ggml_ceil_inplace(context, a),
);

/** The nearest whole number; halves go away from 0. C: `ggml_round`. */
export const round: ElementOperator = elementOperator(
  "round",
  (lib, context, a) => lib.ggml_round(context, a),
  (lib, context, a) => lib.ggml_round_inplace(context, a),
);

/** `a` without its fraction. C: `ggml_trunc`. */
export const trunc: ElementOperator = elementOperator(
  "trunc",
  (lib, context, a) => lib.ggml_trunc(context, a),
  (lib, context, a) => lib.ggml_trunc_inplace(context, a),
);

/** `a²`. C: `ggml_sqr`. */
export const sqr: ElementOperator = elementOperator(
  "sqr",
  (lib, context, a) => lib.ggml_sqr(context, a),
  (lib, context, a) => lib.ggml_sqr_inplace(context, a),
);

/** The square root of `a`. C: `ggml_sqrt`. */
export const sqrt: ElementOperator = elementOperator(
  "sqrt",
  (lib, context, a) => lib.ggml_sqrt(context, a),
  (lib, context, a) => lib.ggml_sqrt_inplace(context, a),
);

/** The natural logarithm of `a`. C: `ggml_log`. */
export const log: ElementOperator = elementOperator(
  "log",
  (lib, context, a) => lib.ggml_log(context, a),
  (lib, context, a) => lib.ggml_log_inplace(context, a),
);

/** The sine of `a`. C: `ggml_sin`. */
export const sin: ElementOperator = elementOperator(
  "sin",
  (lib, context, a) => lib.ggml_sin(context, a),
  (lib, context, a) => lib.ggml_sin_inplace(context, a),
);

/** The cosine of `a`. C: `ggml_cos`. */
export const cos: ElementOperator = elementOperator(
  "cos",
  (lib, context, a) => lib.ggml_cos(context, a),
  (lib, context, a) => lib.ggml_cos_inplace(context, a),
);

/** `a · min(max(a + 3, 0), 6) / 6`. There is no form in place. C: `ggml_hardswish`. */
export function hardswish(context: GgmlContext, a: Tensor): Tensor {
  return check("hardswish", context, { a }).type("a", ...FLOATS).elementsTogether("a").build((into) =>
    context.native.lib.ggml_hardswish(into, a.unsafePointer)
  );
}

/** `min(max(a + 3, 0), 6) / 6`. There is no form in place. C: `ggml_hardsigmoid`. */
export function hardsigmoid(context: GgmlContext, a: Tensor): Tensor {
  return check("hardsigmoid", context, { a }).type("a", ...FLOATS).elementsTogether("a").build((into) =>
    context.native.lib.ggml_hardsigmoid(into, a.unsafePointer)
  );
}

/** The operators that {@linkcode unary} knows, in the order of `enum ggml_unary_op`; `xielu` has parameters and isn't among them. */
export type UnaryName =
  | "abs"
  | "sgn"
  | "neg"
  | "step"
  | "tanh"
  | "elu"
  | "relu"
  | "sigmoid"
  | "gelu"
  | "geluQuick"
  | "silu"
  | "hardswish"
  | "hardsigmoid"
  | "exp"
  | "expm1"
  | "softplus"
  | "geluErf"
  | "floor"
  | "ceil"
  | "round"
  | "trunc";

const unaryOps: Readonly<Record<UnaryName, ggml_unary_op>> = {
  abs: ggml_unary_op.GGML_UNARY_OP_ABS,
  sgn: ggml_unary_op.GGML_UNARY_OP_SGN,
  neg: ggml_unary_op.GGML_UNARY_OP_NEG,
  step: ggml_unary_op.GGML_UNARY_OP_STEP,
  tanh: ggml_unary_op.GGML_UNARY_OP_TANH,
  elu: ggml_unary_op.GGML_UNARY_OP_ELU,
  relu: ggml_unary_op.GGML_UNARY_OP_RELU,
  sigmoid: ggml_unary_op.GGML_UNARY_OP_SIGMOID,
  gelu: ggml_unary_op.GGML_UNARY_OP_GELU,
  geluQuick: ggml_unary_op.GGML_UNARY_OP_GELU_QUICK,
  silu: ggml_unary_op.GGML_UNARY_OP_SILU,
  hardswish: ggml_unary_op.GGML_UNARY_OP_HARDSWISH,
  hardsigmoid: ggml_unary_op.GGML_UNARY_OP_HARDSIGMOID,
  exp: ggml_unary_op.GGML_UNARY_OP_EXP,
  expm1: ggml_unary_op.GGML_UNARY_OP_EXPM1,
  softplus: ggml_unary_op.GGML_UNARY_OP_SOFTPLUS,
  geluErf: ggml_unary_op.GGML_UNARY_OP_GELU_ERF,
  floor: ggml_unary_op.GGML_UNARY_OP_FLOOR,
  ceil: ggml_unary_op.GGML_UNARY_OP_CEIL,
  round: ggml_unary_op.GGML_UNARY_OP_ROUND,
  trunc: ggml_unary_op.GGML_UNARY_OP_TRUNC,
};

/** An operator on each element, by its name. Throws as {@linkcode ElementOperator} does. C: `ggml_unary`. */
export function unary(context: GgmlContext, a: Tensor, name: UnaryName, options?: InPlaceOptions): Tensor {
  const inPlace = wantsInPlace("unary", options);
  const op = unaryOps[checkOneOf("unary: name", name, Object.keys(unaryOps) as UnaryName[])];
  const lib = libOf(context);
  return checkElements("unary", name, context, a).build((into) =>
    inPlace ? lib.ggml_unary_inplace(into, a.unsafePointer, op) : lib.ggml_unary(into, a.unsafePointer, op)
  );
}

/** Options of {@linkcode leakyRelu}. */
export interface LeakyReluOptions extends InPlaceOptions {
  /** Factor for values of `a` below 0. Default 0.01. C: `negative_slope`. */
  slope?: number | undefined;
}

/** {@linkcode LeakyReluOptions}, declared. */
const leakyReluSpec = options(
  "leakyRelu",
  { ...inPlaceRules, slope: number({ ...FLOAT, default: 0.01 }) } satisfies RulesOf<LeakyReluOptions>,
);

/** `a` where it is above 0, else `slope · a`; f32 or f16. Throws as {@linkcode ElementOperator} does. C: `ggml_leaky_relu`. */
export function leakyRelu(context: GgmlContext, a: Tensor, options?: LeakyReluOptions): Tensor {
  const checked = check("leakyRelu", context, { a }).type("a", ...F32_F16).contiguousFromRows("a");
  const { slope, inPlace } = checked.options(leakyReluSpec, options);
  return checked.build((into) => context.native.lib.ggml_leaky_relu(into, a.unsafePointer, slope, inPlace));
}

/** The parameters of {@linkcode xielu}. */
export interface XieluOptions {
  /** For values below 0. C: `alpha_n`. */
  alphaN: number;
  /** For values above 0. C: `alpha_p`. */
  alphaP: number;
  /** The slope at 0. C: `beta`. */
  beta: number;
  /** The least value that `exp` is taken of. C: `eps`. */
  eps: number;
}

/** {@linkcode XieluOptions}, declared. */
const xieluSpec = options(
  "xielu",
  {
    alphaN: number({ ...FLOAT, required: true }),
    alphaP: number({ ...FLOAT, required: true }),
    beta: number({ ...FLOAT, required: true }),
    eps: number({ ...FLOAT, required: true }),
  } satisfies RulesOf<XieluOptions>,
);

/**
 * The xIELU activation: above 0 `p a² + beta a`, else `n (expm1(min(a, eps)) − a) + beta a`, where `p` is `softplus(alphaP)` and `n` is
 * `beta + softplus(alphaN)`. Throws as {@linkcode ElementOperator} does. C: `ggml_xielu`.
 */
export function xielu(context: GgmlContext, a: Tensor, options: XieluOptions): Tensor {
  const checked = check("xielu", context, { a }).type("a", ...FLOATS).elementsTogether("a").contiguousFromRows("a");
  const { alphaN, alphaP, beta, eps } = checked.options(xieluSpec, options);
  return checked.build((into) => context.native.lib.ggml_xielu(into, a.unsafePointer, alphaN, alphaP, beta, eps));
}

/** The gradient of {@linkcode silu}: from that of its result and from its operand. f32 or f16, contiguous from the rows on. C: `ggml_silu_back`. */
export function siluBack(context: GgmlContext, gradient: Tensor, a: Tensor): Tensor {
  return check("siluBack", context, { gradient, a })
    .type("gradient", ...F32_F16)
    .sameType("a", "gradient")
    .sameShape("a", "gradient")
    .contiguousFromRows("gradient", "a")
    .build((into) => context.native.lib.ggml_silu_back(into, gradient.unsafePointer, a.unsafePointer));
}

/** The range of {@linkcode clamp}. */
export interface ClampOptions extends InPlaceOptions {
  /** The least value. */
  min: number;
  /** The largest value. */
  max: number;
}

/** {@linkcode ClampOptions}, declared. */
const clampSpec = options(
  "clamp",
  {
    ...inPlaceRules,
    min: number({ ...FLOAT, required: true }),
    max: number({ ...FLOAT, required: true }),
  } satisfies RulesOf<ClampOptions>,
);

/** `min(max(a, min), max)`; f32 or f16. Throws as {@linkcode ElementOperator} does. C: `ggml_clamp`. */
export function clamp(context: GgmlContext, a: Tensor, options: ClampOptions): Tensor {
  const checked = check("clamp", context, { a }).type("a", ...F32_F16).elementsTogether("a").contiguousFromRows("a");
  const { min, max, inPlace } = checked.options(clampSpec, options);
  const lib = libOf(context);
  return checked.build((into) =>
    inPlace ? lib.ggml_clamp_inplace(into, a.unsafePointer, min, max) : lib.ggml_clamp(into, a.unsafePointer, min, max)
  );
}

/** Options of {@linkcode scale}. */
export interface ScaleOptions extends InPlaceOptions {
  /** Added after. Default 0. */
  bias?: number | undefined;
}

/** {@linkcode ScaleOptions}, declared. */
const scaleSpec = options("scale", { ...inPlaceRules, bias: number(FLOAT) } satisfies RulesOf<ScaleOptions>);

/** `factor · a + bias`; f32, contiguous. Throws as {@linkcode ElementOperator} does. C: `ggml_scale`, `ggml_scale_bias`. */
export function scale(context: GgmlContext, a: Tensor, factor: number, options?: ScaleOptions): Tensor {
  const checked = check("scale", context, { a }).type("a", "f32").contiguous("a").evenRows("a");
  const by = checked.number("factor", factor);
  const { bias, inPlace } = checked.options(scaleSpec, options);
  const lib = libOf(context);
  if (bias === undefined) {
    return checked.build((into) =>
      inPlace ? lib.ggml_scale_inplace(into, a.unsafePointer, by) : lib.ggml_scale(into, a.unsafePointer, by)
    );
  }
  return checked.build((into) =>
    inPlace
      ? lib.ggml_scale_bias_inplace(into, a.unsafePointer, by, bias)
      : lib.ggml_scale_bias(into, a.unsafePointer, by, bias)
  );
}

/** Every element is `value`; f32 or f16, contiguous. Throws as {@linkcode ElementOperator} does. C: `ggml_fill`. */
export function fill(context: GgmlContext, a: Tensor, value: number, options?: InPlaceOptions): Tensor {
  const inPlace = wantsInPlace("fill", options);
  const checked = check("fill", context, { a }).type("a", ...F32_F16).contiguous("a");
  const constant = checked.number("value", value, { min: -Infinity, max: Infinity });
  const lib = libOf(context);
  return checked.build((into) =>
    inPlace ? lib.ggml_fill_inplace(into, a.unsafePointer, constant) : lib.ggml_fill(into, a.unsafePointer, constant)
  );
}
