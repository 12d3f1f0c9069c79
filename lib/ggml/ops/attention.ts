/**
 * Operators of attention: softmax, the whole of it in one, and windows.
 *
 * @module
 */

import { ggml_op, ggml_prec } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../../base/errors.ts";
import { integer, number, options, type RulesOf } from "../../../base/options.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { check, F32_F16, libOf, shapeOf } from "./check.ts";
import { cpuTypes } from "./cpu_types.ts";
import { FLOAT, type InPlaceOptions, inPlaceRules, INT_MAX, POSITIVE, tensor, wantsInPlace } from "./options.ts";

/** Options of {@linkcode softMax}. */
export interface SoftMaxOptions extends InPlaceOptions {
  /** Added before, f32 or f16, contiguous: [n, at least m, …], whose dimensions 2 and 3 divide those of `a`. */
  mask?: Tensor | undefined;
  /** Factor of `a` before the operator. Default 1. */
  scale?: number | undefined;
  /** The greatest slope of ALiBi, by which the mask is multiplied, each head (dimension 2) by its own; needs a mask. Default 0: none. C: `max_bias`. */
  maxBias?: number | undefined;
  /** For each head (dimension 2) one more number in the sum of its rows; f32. C: `ggml_soft_max_add_sinks`. */
  sinks?: Tensor | undefined;
}

/** {@linkcode SoftMaxOptions}, declared. */
const softMaxSpec = options(
  "softMax",
  {
    ...inPlaceRules,
    mask: tensor(),
    scale: number(FLOAT),
    maxBias: number(POSITIVE),
    sinks: tensor(),
  } satisfies RulesOf<SoftMaxOptions>,
);

/**
 * The softmax of each row of `a · scale + mask · slope`; f32, contiguous.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError, InvalidArgumentError, ContextFullError, DisposedError. C: `ggml_soft_max`,
 * `ggml_soft_max_ext`.
 */
export function softMax(context: GgmlContext, a: Tensor, options?: SoftMaxOptions): Tensor {
  const { mask, scale, maxBias, sinks, inPlace } = softMaxSpec.checkOf("softMax", options);
  const [n0, n1, n2, n3] = shapeOf("softMax", "a", a);
  const checked = check("softMax", context, { a, mask, sinks }, ["mask", "sinks"])
    .type("a", "f32").contiguous("a")
    .type("mask", ...F32_F16).contiguous("mask")
    .dimension("mask", 0, n0, "as a has")
    .require((mask?.shape[1] ?? n1) >= n1, "mask", 1, `at least ${n1}, a's dimension 1`)
    .require(n2 % (mask?.shape[2] || 1) === 0, "mask", 2, `a divisor of ${n2}, a's dimension 2`)
    .require(n3 % (mask?.shape[3] || 1) === 0, "mask", 3, `a divisor of ${n3}, a's dimension 3`)
    .type("sinks", "f32").shape("sinks", [n2], "one for each of a's dimension 2").contiguous("sinks");
  const [factor, bias] = [scale ?? 1, maxBias ?? 0];
  if (bias > 0 && mask === undefined) throw needsMask("softMax");
  const lib = libOf(context);
  const plain = mask === undefined && scale === undefined && maxBias === undefined;
  const masked = mask?.unsafePointer ?? null;
  const made = checked.build((into) => {
    if (plain) {
      return inPlace ? lib.ggml_soft_max_inplace(into, a.unsafePointer) : lib.ggml_soft_max(into, a.unsafePointer);
    }
    return inPlace
      ? lib.ggml_soft_max_ext_inplace(into, a.unsafePointer, masked, factor, bias)
      : lib.ggml_soft_max_ext(into, a.unsafePointer, masked, factor, bias);
  });
  if (sinks !== undefined) lib.ggml_soft_max_add_sinks(made.unsafePointer, sinks.unsafePointer);
  return made;
}

function needsMask(op: string): InvalidArgumentError {
  return new InvalidArgumentError(`${op}: maxBias needs a mask, which it is the slope of`, {
    value: undefined,
    expected: "a mask",
  });
}

/** Options of the gradient of {@linkcode softMax}. */
export interface SoftMaxBackOptions extends InPlaceOptions {
  /** The scale of the softmax. Default 1. */
  scale?: number | undefined;
}

/** {@linkcode SoftMaxBackOptions}, declared. */
const softMaxBackSpec = options(
  "softMaxBack",
  { ...inPlaceRules, scale: number({ ...FLOAT, default: 1 }) } satisfies RulesOf<SoftMaxBackOptions>,
);

/**
 * The gradient of {@linkcode softMax}: from that of its result and from its result, of one shape, f32, contiguous. ggml has none for ALiBi. Throws as
 * {@linkcode softMax} does. C: `ggml_soft_max_ext_back`.
 */
export function softMaxBack(
  context: GgmlContext,
  gradient: Tensor,
  result: Tensor,
  options?: SoftMaxBackOptions,
): Tensor {
  const checked = check("softMaxBack", context, { gradient, result })
    .type("gradient", "f32").type("result", "f32").sameShape("result", "gradient").contiguous("gradient", "result");
  const { scale, inPlace } = checked.options(softMaxBackSpec, options);
  const lib = libOf(context);
  return checked.build((into) =>
    inPlace
      ? lib.ggml_soft_max_ext_back_inplace(into, gradient.unsafePointer, result.unsafePointer, scale, 0)
      : lib.ggml_soft_max_ext_back(into, gradient.unsafePointer, result.unsafePointer, scale, 0)
  );
}

/** Options of {@linkcode flashAttention}. */
export interface FlashAttentionOptions {
  /** Added to the products, f16, contiguous: [keys, at least queries, …], whose dimensions 2 and 3 divide those of `q`. */
  mask?: Tensor | undefined;
  /** Factor of the products. Default 1 / √(length of a query). */
  scale?: number | undefined;
  /** As in {@linkcode softMax}. Default 0. C: `max_bias`. */
  maxBias?: number | undefined;
  /** Products are brought softly between its negative and it. Default 0: they aren't. C: `logit_softcap`. */
  softcap?: number | undefined;
  /** As in {@linkcode softMax}. C: `ggml_flash_attn_ext_add_sinks`. */
  sinks?: Tensor | undefined;
  /** At most so many entries of each row of the mask are finite; 0, the default, says nothing. C: `ggml_flash_attn_ext_set_n_kv_max`. */
  mostKeys?: number | undefined;
}

/** {@linkcode FlashAttentionOptions}, declared. */
const flashAttentionSpec = options(
  "flashAttention",
  {
    mask: tensor(),
    scale: number(FLOAT),
    maxBias: number({ ...POSITIVE, default: 0 }),
    softcap: number({ ...POSITIVE, default: 0 }),
    sinks: tensor(),
    mostKeys: integer({ min: 0, max: INT_MAX, default: 0 }),
  } satisfies RulesOf<FlashAttentionOptions>,
);

/**
 * Attention in one: `q` [d, queries, heads, n] of f32, `k` [d, keys, kvHeads, n], `v` [e, keys, kvHeads, n] give [e, heads, queries, n] of f32: for each
 * query the mean of `v`, weighted by the softmax of its products with `k`. `kvHeads` divides `heads`.
 *
 * Throws as {@linkcode softMax} does. C: `ggml_flash_attn_ext`.
 */
export function flashAttention(
  context: GgmlContext,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  options?: FlashAttentionOptions,
): Tensor {
  const { mask, scale, maxBias, softcap, sinks, mostKeys } = flashAttentionSpec.checkOf("flashAttention", options);
  const { dot, readable, writable } = cpuTypes(context);
  const keyTypes = [...dot].filter(([, other]) => writable.includes(other)).map(([type]) => type);
  const [d, queries, heads, n] = shapeOf("flashAttention", "q", q);
  const keys = shapeOf("flashAttention", "k", k)[1];
  const checked = check("flashAttention", context, { q, k, v, mask, sinks }, ["mask", "sinks"])
    .type("q", "f32").type("k", ...keyTypes).type("v", ...readable)
    .shape("k", [d, undefined, undefined, n], "as q has").repeats("k", "q", 2, 2)
    .shape("v", [undefined, keys, undefined, n], "as k has").repeats("v", "q", 2, 2)
    .elementsTogether("q", "k", "v")
    .type("mask", "f16").contiguous("mask").dimension("mask", 0, keys, "the count of keys")
    .require((mask?.shape[1] ?? queries) >= queries, "mask", 1, `at least ${queries}, the count of queries`)
    .require(heads % (mask?.shape[2] || 1) === 0, "mask", 2, `a divisor of ${heads}, q's dimension 2`)
    .require(n % (mask?.shape[3] || 1) === 0, "mask", 3, `a divisor of ${n}, q's dimension 3`)
    .type("sinks", "f32").shape("sinks", [heads], "one for each head").contiguous("sinks");
  if (maxBias > 0 && mask === undefined) throw needsMask("flashAttention");
  const lib = libOf(context);
  const made = checked.build((into) =>
    lib.ggml_flash_attn_ext(
      into,
      q.unsafePointer,
      k.unsafePointer,
      v.unsafePointer,
      mask?.unsafePointer ?? null,
      scale ?? 1 / Math.sqrt(d),
      maxBias,
      softcap,
    )
  );
  if (sinks !== undefined) lib.ggml_flash_attn_ext_add_sinks(made.unsafePointer, sinks.unsafePointer);
  if (mostKeys > 0) lib.ggml_flash_attn_ext_set_n_kv_max(made.unsafePointer, mostKeys);
  return made;
}

/** Returns the precision of a {@linkcode flashAttention}. Throws InvalidArgumentError for another tensor. C: `ggml_flash_attn_ext_get_prec`. */
export function flashAttentionPrecision(a: Tensor): "default" | "f32" {
  shapeOf("flashAttentionPrecision", "a", a);
  if (a.struct.op !== ggml_op.GGML_OP_FLASH_ATTN_EXT) {
    throw new InvalidArgumentError(`flashAttentionPrecision: the tensor is the result of ${a.op}`, {
      value: a.op,
      expected: "that of flashAttention",
    });
  }
  return a.native.lib.ggml_flash_attn_ext_get_prec(a.unsafePointer) === ggml_prec.GGML_PREC_F32 ? "f32" : "default";
}

/**
 * Pictures cut into square windows of side `w`, filled up with 0: [c, x, y] gives [c, w, w, windows]; f32, contiguous. Throws as {@linkcode softMax} does.
 * C: `ggml_win_part`.
 */
export function windowPartition(context: GgmlContext, a: Tensor, w: number): Tensor {
  const checked = check("windowPartition", context, { a }).type("a", "f32").dimensions("a", 3).contiguous("a");
  const side = checked.integer("w", w, { min: 1, max: 1 << 15 });
  const [c, x, y] = a.shape;
  checked.result([c, side, side, Math.ceil(x / side) * Math.ceil(y / side)], "f32");
  return checked.build((into) => context.native.lib.ggml_win_part(into, a.unsafePointer, side));
}

/**
 * The pictures again that {@linkcode windowPartition} cut: [c, w, w, windows] gives [c, x, y]; f32, contiguous. Throws as {@linkcode softMax} does.
 * C: `ggml_win_unpart`.
 */
export function windowUnpartition(context: GgmlContext, a: Tensor, x: number, y: number): Tensor {
  const checked = check("windowUnpartition", context, { a }).type("a", "f32").contiguous("a");
  const [width, height] = [
    checked.integer("x", x, { min: 1, max: INT_MAX }),
    checked.integer("y", y, { min: 1, max: INT_MAX }),
  ];
  const w = a.shape[1];
  checked.dimension("a", 2, w, "as its dimension 1");
  checked.dimension(
    "a",
    3,
    Math.ceil(width / w) * Math.ceil(height / w),
    `the count of windows of ${width} × ${height}`,
  );
  return checked.build((into) => context.native.lib.ggml_win_unpart(into, a.unsafePointer, width, height, w));
}

/**
 * Embeddings of relative positions: `a` [c, 2 n − 1] of f16 or bf16, contiguous, gives [c, n, n] of f16, whose element [·, i, j] is the row `n − 1 − i + j`
 * of `a`. Throws as {@linkcode softMax} does. C: `ggml_get_rel_pos`.
 */
export function relativePositions(context: GgmlContext, a: Tensor, n: number): Tensor {
  const checked = check("relativePositions", context, { a }).type("a", "f16", "bf16").dimensions("a", 2).contiguous(
    "a",
  );
  const side = checked.integer("n", n, { min: 1, max: 1 << 15 });
  checked.dimension("a", 1, 2 * side - 1, "twice n, less 1");
  checked.result([a.shape[0], side, side], "f16");
  return checked.build((into) => context.native.lib.ggml_get_rel_pos(into, a.unsafePointer, side, side));
}

/**
 * Adds what relative positions along both axes give: `a` [k·k, x·y, n], `pw` and `ph` [k, x, y, n]; f32, contiguous. Throws as {@linkcode softMax} does.
 * C: `ggml_add_rel_pos`.
 */
export function addRelativePositions(
  context: GgmlContext,
  a: Tensor,
  pw: Tensor,
  ph: Tensor,
  options?: InPlaceOptions,
): Tensor {
  const inPlace = wantsInPlace("addRelativePositions", options);
  const [k, x, y, n] = shapeOf("addRelativePositions", "pw", pw);
  const checked = check("addRelativePositions", context, { a, pw, ph })
    .type("a", "f32").type("pw", "f32").type("ph", "f32").sameShape("ph", "pw").contiguous("a", "pw", "ph")
    .shape("a", [k * k, x * y, n], "by the shape of pw");
  const lib = libOf(context);
  return checked.build((into) =>
    inPlace
      ? lib.ggml_add_rel_pos_inplace(into, a.unsafePointer, pw.unsafePointer, ph.unsafePointer)
      : lib.ggml_add_rel_pos(into, a.unsafePointer, pw.unsafePointer, ph.unsafePointer)
  );
}
