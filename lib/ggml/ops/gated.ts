/**
 * Gated linear units: an activation of one half, times the other half.
 *
 * @module
 */

import { brands } from "../brands.ts";
import { ggml_glu_op, type Lib, type Pointer } from "../../../ffi/mod.ts";
import { checkOneOf, refuse } from "../../../base/check.ts";
import { boolean, number, options, type RulesOf, type Settings } from "../../../base/options.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { TypeName } from "../tensor/types.ts";
import { check, F32_F16, libOf } from "./check.ts";
import { FLOAT, tensor } from "./options.ts";

/** The position of the gate of a gated unit. */
export interface GateOptions {
  /** The gate as a tensor of its own, of the type and shape of `a`; else it is the second half of each row of `a`. C: the form `_split`. */
  gate?: Tensor | undefined;
  /** The gate is the first half, not the second. Not with `gate`. Default false. C: the form `_swapped`. */
  swapped?: boolean | undefined;
}

/**
 * A gated linear unit: the activation of the first half of each row times the second half, [2 n, …] to [n, …]; or of `a` times `gate`. f32 or f16,
 * contiguous from the rows on.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError, InvalidArgumentError, ContextFullError, DisposedError.
 */
export type GatedOperator = (context: GgmlContext, a: Tensor, options?: GateOptions) => Tensor;

type TensorPointer = Pointer<"ggml_tensor">;

interface Makers {
  readonly plain: (lib: Lib, into: Pointer<"ggml_context">, a: TensorPointer) => TensorPointer;
  readonly swapped: (lib: Lib, into: Pointer<"ggml_context">, a: TensorPointer) => TensorPointer;
  readonly split: (lib: Lib, into: Pointer<"ggml_context">, a: TensorPointer, gate: TensorPointer) => TensorPointer;
}

/** {@linkcode GateOptions}, declared. */
const gateSpec = options(
  "a gated unit",
  { gate: tensor(), swapped: boolean({ default: false }) } satisfies RulesOf<GateOptions>,
);

function gateOf(op: string, options: GateOptions | undefined): Settings<typeof gateSpec> {
  const settings = gateSpec.checkOf(op, options);
  if (settings.gate !== undefined && settings.swapped) refuse(`${op}: swapped together with gate`, true, "false");
  return settings;
}

function checkGated(op: string, context: GgmlContext, a: Tensor, gate: Tensor | undefined, types: readonly TypeName[]) {
  const checked = check(op, context, { a, gate }, ["gate"]).type("a", ...types).contiguousFromRows("a", "gate");
  if (gate === undefined) checked.require(a.shape[0] % 2 === 0, "a", 0, "even: half of it is the gate");
  return checked.sameType("gate", "a").sameShape("gate", "a");
}

function gatedOperator(op: string, makers: Makers): GatedOperator {
  return (context, a, options) => {
    const { gate, swapped } = gateOf(op, options);
    const lib = libOf(context);
    return checkGated(op, context, a, gate, F32_F16).build((into) => {
      if (gate !== undefined) return makers.split(lib, into, a.unsafePointer, gate.unsafePointer);
      return (swapped ? makers.swapped : makers.plain)(lib, into, a.unsafePointer);
    });
  };
}

/** Gated by relu. C: `ggml_reglu`, `ggml_reglu_swapped`, `ggml_reglu_split`. */
export const reglu: GatedOperator = gatedOperator("reglu", {
  plain: (lib, into, a) => lib.ggml_reglu(into, a),
  swapped: (lib, into, a) => lib.ggml_reglu_swapped(into, a),
  split: (lib, into, a, gate) => lib.ggml_reglu_split(into, a, gate),
});

/** Gated by gelu. C: `ggml_geglu`, `ggml_geglu_swapped`, `ggml_geglu_split`. */
export const geglu: GatedOperator = gatedOperator("geglu", {
  plain: (lib, into, a) => lib.ggml_geglu(into, a),
  swapped: (lib, into, a) => lib.ggml_geglu_swapped(into, a),
  split: (lib, into, a, gate) => lib.ggml_geglu_split(into, a, gate),
});

/** Gated by silu. C: `ggml_swiglu`, `ggml_swiglu_swapped`, `ggml_swiglu_split`. */
export const swiglu: GatedOperator = gatedOperator("swiglu", {
  plain: (lib, into, a) => lib.ggml_swiglu(into, a),
  swapped: (lib, into, a) => lib.ggml_swiglu_swapped(into, a),
  split: (lib, into, a, gate) => lib.ggml_swiglu_split(into, a, gate),
});

/** Gated by gelu, exactly. C: `ggml_geglu_erf`, `ggml_geglu_erf_swapped`, `ggml_geglu_erf_split`. */
export const gegluErf: GatedOperator = gatedOperator("gegluErf", {
  plain: (lib, into, a) => lib.ggml_geglu_erf(into, a),
  swapped: (lib, into, a) => lib.ggml_geglu_erf_swapped(into, a),
  split: (lib, into, a, gate) => lib.ggml_geglu_erf_split(into, a, gate),
});

/** Gated by geluQuick. C: `ggml_geglu_quick`, `ggml_geglu_quick_swapped`, `ggml_geglu_quick_split`. */
export const gegluQuick: GatedOperator = gatedOperator("gegluQuick", {
  plain: (lib, into, a) => lib.ggml_geglu_quick(into, a),
  swapped: (lib, into, a) => lib.ggml_geglu_quick_swapped(into, a),
  split: (lib, into, a, gate) => lib.ggml_geglu_quick_split(into, a, gate),
});

/** The activation of a gated unit that has no parameters. C: `enum ggml_glu_op`. */
export type GatedName = "reglu" | "geglu" | "swiglu" | "gegluErf" | "gegluQuick";

const gatedOps: Readonly<Record<GatedName, ggml_glu_op>> = {
  reglu: ggml_glu_op.GGML_GLU_OP_REGLU,
  geglu: ggml_glu_op.GGML_GLU_OP_GEGLU,
  swiglu: ggml_glu_op.GGML_GLU_OP_SWIGLU,
  gegluErf: ggml_glu_op.GGML_GLU_OP_GEGLU_ERF,
  gegluQuick: ggml_glu_op.GGML_GLU_OP_GEGLU_QUICK,
};

/** A gated linear unit by its name. Throws as {@linkcode GatedOperator} does. C: `ggml_glu`, `ggml_glu_split`. */
export function glu(context: GgmlContext, a: Tensor, name: GatedName, options?: GateOptions): Tensor {
  const op = gatedOps[checkOneOf("glu: name", name, Object.keys(gatedOps) as GatedName[])];
  const { gate, swapped } = gateOf("glu", options);
  const lib = libOf(context);
  return checkGated("glu", context, a, gate, F32_F16).build((into) =>
    gate === undefined
      ? lib.ggml_glu(into, a.unsafePointer, op, swapped)
      : lib.ggml_glu_split(into, a.unsafePointer, gate.unsafePointer, op)
  );
}

/** The parameters of {@linkcode swigluOai}. */
export interface SwigluOaiOptions {
  /** The slope of the sigmoid. Default 1.702. */
  alpha?: number | undefined;
  /** `a` is at most this, and `gate` from its negative to it, above 0. Default 7. */
  limit?: number | undefined;
}

/** {@linkcode SwigluOaiOptions}, declared. */
const swigluOaiSpec = options(
  "swigluOai",
  {
    alpha: number({ ...FLOAT, default: 1.702 }),
    limit: number({ ...FLOAT, default: 7 }),
  } satisfies RulesOf<SwigluOaiOptions>,
);

/** `min(a, limit) · sigmoid(alpha · min(a, limit)) · (gate, clamped, + 1)`; f32 of one shape. Throws as {@linkcode GatedOperator} does. C: `ggml_swiglu_oai`. */
export function swigluOai(context: GgmlContext, a: Tensor, gate: Tensor, options?: SwigluOaiOptions): Tensor {
  libOf(context);
  brands.tensor.check("swigluOai: gate", gate);
  const checked = checkGated("swigluOai", context, a, gate, ["f32"]);
  const { alpha, limit } = checked.options(swigluOaiSpec, options);
  return checked.build((into) =>
    context.native.lib.ggml_swiglu_oai(into, a.unsafePointer, gate.unsafePointer, alpha, limit)
  );
}

/** {@linkcode swiglu} of `a` and `gate` brought below `limit`; f32 or f16 of one shape. Throws as {@linkcode GatedOperator} does. C: `ggml_swiglu_clamp`. */
export function swigluClamp(context: GgmlContext, a: Tensor, gate: Tensor, limit: number): Tensor {
  libOf(context);
  brands.tensor.check("swigluClamp: gate", gate);
  const checked = checkGated("swigluClamp", context, a, gate, F32_F16);
  const most = checked.number("limit", limit);
  return checked.build((into) => context.native.lib.ggml_swiglu_clamp(into, a.unsafePointer, gate.unsafePointer, most));
}
