/**
 * Rotary position embeddings.
 *
 * @module
 */

import {
  GGML_ROPE_TYPE_IMROPE,
  GGML_ROPE_TYPE_MROPE,
  GGML_ROPE_TYPE_NEOX,
  GGML_ROPE_TYPE_NORMAL,
  GGML_ROPE_TYPE_VISION,
  type Lib,
  type Pointer,
} from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../../base/errors.ts";
import { checkInteger, isArray, show } from "../../../base/check.ts";
import { deferred, integer, number, oneOf, options, type RulesOf, type Settings } from "../../../base/options.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { check, F32_F16, libOf, type OperatorCheck, shapeOf } from "./check.ts";
import { ABOVE_ZERO, FLOAT, type InPlaceOptions, inPlaceRules, INT_MAX, tensor } from "./options.ts";

/** The pairing of the numbers that are rotated together. C: `GGML_ROPE_TYPE_…`. */
export type RopeMode = "normal" | "neox" | "mrope" | "imrope" | "vision";

const modes: Readonly<Record<RopeMode, number>> = {
  normal: GGML_ROPE_TYPE_NORMAL,
  neox: GGML_ROPE_TYPE_NEOX,
  mrope: GGML_ROPE_TYPE_MROPE,
  imrope: GGML_ROPE_TYPE_IMROPE,
  vision: GGML_ROPE_TYPE_VISION,
};

/** Options of {@linkcode rope}. */
export interface RopeOptions {
  /** Numbers of each head that are rotated, even. Default all; half of them in the mode `"vision"`. C: `n_dims`. */
  dimensions?: number | undefined;
  /** The pairing of the numbers that are rotated together. Default `"normal"`: neighbors. C: `mode`. */
  mode?: RopeMode | undefined;
  /** Number of pairs that each of the four positions rotates; for the modes `"mrope"`, `"imrope"` and `"vision"`, where one of the first three is above 0. */
  sections?: readonly [number, number, number, number] | undefined;
  /** Divisors of the frequencies, f32, one for each pair of a head. C: `c`. */
  factors?: Tensor | undefined;
  /** The first number of each head that is turned, even. Not in the mode `"vision"`. Default 0. C: `ggml_rope_set_offset`. */
  offset?: number | undefined;
  /** Default 10,000. C: `freq_base`. */
  frequencyBase?: number | undefined;
  /** Default 1. C: `freq_scale`. */
  frequencyScale?: number | undefined;
  /** Mix factor of YaRN. Default 0. C: `ext_factor`. */
  extFactor?: number | undefined;
  /** Default 1. C: `attn_factor`. */
  attentionFactor?: number | undefined;
  /** Default 32. C: `beta_fast`. */
  betaFast?: number | undefined;
  /** Default 1. C: `beta_slow`. */
  betaSlow?: number | undefined;
  /** The context that the model was trained with, for YaRN. Default 0. C: `n_ctx_orig`. */
  trainedContext?: number | undefined;
}

/** {@linkcode RopeOptions}, declared. */
const ropeRules = {
  dimensions: deferred<number>("an even integer"),
  mode: oneOf(Object.keys(modes) as RopeMode[], { default: "normal" }),
  sections: deferred<RopeOptions["sections"]>("four integers"),
  factors: tensor(),
  offset: deferred("an even integer", { default: 0 }),
  frequencyBase: number({ ...ABOVE_ZERO, default: 10_000 }),
  frequencyScale: number({ ...FLOAT, default: 1 }),
  extFactor: number({ ...FLOAT, default: 0 }),
  attentionFactor: number({ ...FLOAT, default: 1 }),
  betaFast: number({ ...FLOAT, default: 32 }),
  betaSlow: number({ ...FLOAT, default: 1 }),
  trainedContext: integer({ min: 0, max: INT_MAX, default: 0 }),
} as const satisfies RulesOf<RopeOptions>;
const ropeBackSpec = options("ropeBack", ropeRules);
const ropeSpec = options(
  "rope",
  { ...ropeRules, ...inPlaceRules } as const satisfies RulesOf<RopeOptions & InPlaceOptions>,
);

type Frequencies = [base: number, scale: number, ext: number, attention: number, fast: number, slow: number];

interface Rope {
  readonly checked: OperatorCheck<{ a: Tensor; positions: Tensor; factors: Tensor | undefined }>;
  readonly factors: Tensor | undefined;
  readonly dimensions: number;
  readonly mode: number;
  readonly sections: Int32Array | undefined;
  readonly offset: number;
  readonly context: number;
  readonly frequencies: Frequencies;
}

function checkRope(
  op: string,
  context: GgmlContext,
  a: Tensor,
  positions: Tensor,
  options: Settings<typeof ropeRules>,
): Rope {
  const { factors, mode } = options;
  const several = mode !== "normal" && mode !== "neox";
  const head = shapeOf(op, "a", a)[0];
  const checked = check(op, context, { a, positions, factors }, ["factors"])
    .type("a", ...F32_F16).elementsTogether("a").require(head % 2 === 0, "a", 0, "even")
    .type("positions", "i32").contiguous("positions")
    .shape(
      "positions",
      [a.shape[2] * (several ? 4 : 1)],
      several ? "four for each of a's dimension 2" : "one for each of a's dimension 2",
    )
    .type("factors", "f32").contiguous("factors")
    .require((factors?.shape[0] ?? head) >= head / 2, "factors", 0, `at least ${head / 2}, half of a's dimension 0`);
  const most = mode === "vision" ? head / 2 : head;
  const dimensions = checked.multiple(
    "dimensions",
    checked.integer("dimensions", options.dimensions ?? most, {
      min: mode === "vision" ? most : 2,
      max: most,
    }),
    2,
  );
  const offset = mode === "vision" ? { min: 0, max: 0 } : { min: 0, max: head - dimensions };
  return {
    checked,
    factors,
    dimensions,
    mode: modes[mode],
    sections: several ? checkSections(op, options.sections, head) : noSections(op, options.sections),
    offset: checked.multiple("offset", checked.integer("offset", options.offset, offset), 2),
    context: options.trainedContext,
    frequencies: [
      options.frequencyBase,
      options.frequencyScale,
      options.extFactor,
      options.attentionFactor,
      options.betaFast,
      options.betaSlow,
    ],
  };
}

function noSections(op: string, sections: unknown): undefined {
  if (sections === undefined) return undefined;
  throw new InvalidArgumentError(`${op}: sections are for the modes "mrope", "imrope" and "vision"`, {
    value: sections,
    expected: "no sections",
  });
}

function checkSections(op: string, sections: RopeOptions["sections"], head: number): Int32Array {
  if (!isArray(sections) || sections.length !== 4) {
    throw new InvalidArgumentError(`${op}: sections are ${show(sections)}; give four whole numbers`, {
      value: sections,
      expected: "four whole numbers",
    });
  }
  const values = sections.map((one, index) => checkInteger(`${op}: sections[${index}]`, one, { min: 0, max: head }));
  checkInteger(`${op}: the sum of sections`, values.reduce((a, b) => a + b, 0), { min: 1, max: head });
  checkInteger(`${op}: the sum of the first three sections`, values.slice(0, 3).reduce((a, b) => a + b, 0), {
    min: 1,
    max: head,
  });
  return Int32Array.from(values);
}

/**
 * Rotates the pairs of numbers of each head by angles that grow with its position: `a` [head, heads, tokens, n] of f32 or f16, `positions` [tokens] of i32
 * (four for each token in the modes with sections).
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError, InvalidArgumentError, ContextFullError, DisposedError. C: `ggml_rope`, `ggml_rope_ext`,
 * `ggml_rope_multi`.
 */
export function rope(
  context: GgmlContext,
  a: Tensor,
  positions: Tensor,
  options?: RopeOptions & InPlaceOptions,
): Tensor {
  const settings = ropeSpec.checkOf("rope", options);
  const made = checkRope("rope", context, a, positions, settings);
  return build(made, context.native.lib, a, positions, settings.inPlace);
}

function build(made: Rope, lib: Lib, a: Tensor, positions: Tensor, inPlace: boolean): Tensor {
  const { checked, factors, dimensions, mode, sections, context, frequencies, offset } = made;
  const plain = factors === undefined && sections === undefined && context === 0 &&
    frequencies.join() === "10000,1,0,1,32,1";
  const extra: Pointer<"ggml_tensor"> | null = factors?.unsafePointer ?? null;
  const [p, r] = [a.unsafePointer, positions.unsafePointer];
  const result = checked.build((into) => {
    if (plain) {
      return inPlace
        ? lib.ggml_rope_inplace(into, p, r, dimensions, mode)
        : lib.ggml_rope(into, p, r, dimensions, mode);
    }
    if (sections !== undefined) {
      return inPlace
        ? lib.ggml_rope_multi_inplace(into, p, r, extra, dimensions, sections, mode, context, ...frequencies)
        : lib.ggml_rope_multi(into, p, r, extra, dimensions, sections, mode, context, ...frequencies);
    }
    return inPlace
      ? lib.ggml_rope_ext_inplace(into, p, r, extra, dimensions, mode, context, ...frequencies)
      : lib.ggml_rope_ext(into, p, r, extra, dimensions, mode, context, ...frequencies);
  });
  if (offset > 0) lib.ggml_rope_set_offset(result.unsafePointer, offset);
  return result;
}

/**
 * The gradient of {@linkcode rope}, from that of its result and the same positions and options: it turns back. Throws as {@linkcode rope} does.
 * C: `ggml_rope_ext_back`, `ggml_rope_multi_back`.
 */
export function ropeBack(context: GgmlContext, gradient: Tensor, positions: Tensor, options?: RopeOptions): Tensor {
  const given = ropeBackSpec.checkOf("ropeBack", options);
  const made = checkRope("ropeBack", context, gradient, positions, given);
  const { checked, factors, dimensions, mode, sections, context: trained, frequencies, offset } = made;
  const lib = libOf(context);
  const extra = factors?.unsafePointer ?? null;
  const result = checked.build((into) =>
    sections === undefined
      ? lib.ggml_rope_ext_back(
        into,
        gradient.unsafePointer,
        positions.unsafePointer,
        extra,
        dimensions,
        mode,
        trained,
        ...frequencies,
      )
      : lib.ggml_rope_multi_back(
        into,
        gradient.unsafePointer,
        positions.unsafePointer,
        extra,
        dimensions,
        sections,
        mode,
        trained,
        ...frequencies,
      )
  );
  if (offset > 0) lib.ggml_rope_set_offset(result.unsafePointer, offset);
  return result;
}

/** Options of {@linkcode yarnRange}. */
export interface YarnOptions {
  /** Numbers of each head that are rotated. C: `n_dims`. */
  dimensions: number;
  /** The context that the model was trained with. C: `n_ctx_orig`. */
  trainedContext: number;
  /** Default 10,000. C: `freq_base`. */
  frequencyBase?: number | undefined;
  /** Default 32. C: `beta_fast`. */
  betaFast?: number | undefined;
  /** Default 1. C: `beta_slow`. */
  betaSlow?: number | undefined;
}

/** {@linkcode YarnOptions}, declared. */
const yarnSpec = options(
  "yarnRange",
  {
    dimensions: integer({ min: 1, max: INT_MAX, required: true }),
    trainedContext: integer({ min: 1, max: INT_MAX, required: true }),
    frequencyBase: number({ ...ABOVE_ZERO, default: 10_000 }),
    betaFast: number({ ...ABOVE_ZERO, default: 32 }),
    betaSlow: number({ ...ABOVE_ZERO, default: 1 }),
  } satisfies RulesOf<YarnOptions>,
);

/** Returns the dimensions between which YaRN blends its two ways of scaling. Throws InvalidArgumentError. C: `ggml_rope_yarn_corr_dims`. */
export function yarnRange(context: GgmlContext, options: YarnOptions): [start: number, end: number] {
  const lib = libOf(context);
  const settings = yarnSpec.checkOf("yarnRange", options);
  const { dimensions, trainedContext, frequencyBase, betaFast, betaSlow } = settings;
  const found = new Float32Array(2);
  lib.ggml_rope_yarn_corr_dims(dimensions, trainedContext, frequencyBase, betaFast, betaSlow, found);
  return [found[0] ?? 0, found[1] ?? 0];
}
