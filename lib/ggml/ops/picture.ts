/**
 * Operators on pictures and signals: pools, sizes, borders, shifts.
 *
 * @module
 */

import { ggml_op_pool, ggml_scale_flag, ggml_scale_mode } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../../base/errors.ts";
import { checkOneOf, isArray, show } from "../../../base/check.ts";
import { boolean, deferred, integer, oneOf, options, type RulesOf } from "../../../base/options.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { check, F32_F16, libOf, type OperatorCheck } from "./check.ts";
import { INT_MAX, perAxis } from "./options.ts";

/** Reduction of each pool. C: `enum ggml_op_pool`. */
export type PoolKind = "max" | "mean";

const poolKinds: Readonly<Record<PoolKind, ggml_op_pool>> = {
  max: ggml_op_pool.GGML_OP_POOL_MAX,
  mean: ggml_op_pool.GGML_OP_POOL_AVG,
};

const MAX_SIZE = 1 << 15;
const SIZE = { min: 1, max: MAX_SIZE };
const PADDING = { min: 0, max: MAX_SIZE };
const kind = oneOf(["max", "mean"], { required: true });

/** Options of {@linkcode pool1d}. */
export interface Pool1dOptions {
  /** The largest or the mean. */
  kind: PoolKind;
  /** Size of a pool, from 1. C: `k0`. */
  size: number;
  /** From one pool to the next, from 1. Default `size`. C: `s0`. */
  stride?: number | undefined;
  /** Padding on both sides. Default 0. C: `p0`. */
  padding?: number | undefined;
}

/** {@linkcode Pool1dOptions}, declared. */
const pool1dSpec = options(
  "pool1d",
  {
    kind,
    size: integer({ ...SIZE, required: true }),
    stride: integer(SIZE),
    padding: integer({ ...PADDING, default: 0 }),
  } satisfies RulesOf<Pool1dOptions>,
);

/**
 * One number of each pool along the rows: [n, …] gives [(n + 2 · padding − size) / stride + 1, …] of f32; f32 or f16, contiguous.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError, InvalidArgumentError, ContextFullError, DisposedError. C: `ggml_pool_1d`.
 */
export function pool1d(context: GgmlContext, a: Tensor, options: Pool1dOptions): Tensor {
  const checked = check("pool1d", context, { a }).type("a", ...F32_F16).contiguous("a");
  const { kind, size, stride = size, padding } = checked.options(pool1dSpec, options);
  checked.require(a.shape[0] + 2 * padding >= size, "a", 0, `at least ${size - 2 * padding}, the size of a pool`);
  return checked.build((into) =>
    context.native.lib.ggml_pool_1d(into, a.unsafePointer, poolKinds[kind], size, stride, padding)
  );
}

/** Options of {@linkcode pool2d}: one number for both axes, or one for each, the width first. */
export interface Pool2dOptions {
  /** The largest or the mean. */
  kind: PoolKind;
  /** Size of a pool, from 1. C: `k0`, `k1`. */
  size: number | readonly [number, number];
  /** From one pool to the next, from 1. Default `size`. C: `s0`, `s1`. */
  stride?: number | readonly [number, number] | undefined;
  /** Padding on both sides. Default 0. C: `p0`, `p1`. */
  padding?: number | readonly [number, number] | undefined;
}

interface Pools {
  readonly kind: ggml_op_pool;
  readonly sizes: [number, number];
  readonly strides: [number, number];
  readonly paddings: [number, number];
}

/** {@linkcode Pool2dOptions}, declared. */
const pool2dSpec = options(
  "pool2d",
  {
    kind,
    size: perAxis(2, SIZE, { required: true }),
    stride: perAxis(2, SIZE),
    padding: perAxis(2, PADDING, { default: 0 }),
  } satisfies RulesOf<Pool2dOptions>,
);

function checkPools(checked: OperatorCheck, options: Pool2dOptions): Pools {
  const { kind, size, stride = size, padding } = checked.options(pool2dSpec, options);
  return { kind: poolKinds[kind], sizes: size, strides: stride, paddings: padding };
}

function poolsOf(size: number, index: 0 | 1, { sizes, strides, paddings }: Pools): number {
  return Math.floor((size + 2 * paddings[index] - sizes[index]) / strides[index]) + 1;
}

/** One number of each pool of pictures [width, height, …], of f32. As {@linkcode pool1d}. C: `ggml_pool_2d`. */
export function pool2d(context: GgmlContext, a: Tensor, options: Pool2dOptions): Tensor {
  const checked = check("pool2d", context, { a }).type("a", ...F32_F16).contiguous("a");
  const pools = checkPools(checked as unknown as OperatorCheck, options);
  for (const index of [0, 1] as const) {
    checked.require(
      poolsOf(a.shape[index], index, pools) >= 1,
      "a",
      index,
      `at least the size of a pool less its padding`,
    );
  }
  const { kind, sizes, strides, paddings } = pools;
  return checked.build((into) =>
    context.native.lib.ggml_pool_2d(into, a.unsafePointer, kind, ...sizes, ...strides, ...paddings)
  );
}

/** The gradient of {@linkcode pool2d}: from that of its result and from its operand, f32. As {@linkcode pool1d}. C: `ggml_pool_2d_back`. */
export function pool2dBack(context: GgmlContext, gradient: Tensor, a: Tensor, options: Pool2dOptions): Tensor {
  const checked = check("pool2dBack", context, { gradient, a }).type("gradient", "f32").type("a", "f32").contiguous(
    "gradient",
    "a",
  );
  const pools = checkPools(checked as unknown as OperatorCheck, options);
  const [n0, n1, n2, n3] = a.shape;
  checked.shape("gradient", [poolsOf(n0, 0, pools), poolsOf(n1, 1, pools), n2, n3], "the shape of the pools");
  const { kind, sizes, strides, paddings } = pools;
  return checked.build((into) =>
    context.native.lib.ggml_pool_2d_back(
      into,
      gradient.unsafePointer,
      a.unsafePointer,
      kind,
      ...sizes,
      ...strides,
      ...paddings,
    )
  );
}

/** The interpolation. C: `enum ggml_scale_mode`. */
export type ScaleMode = "nearest" | "bilinear" | "bicubic";

const scaleModes: Readonly<Record<ScaleMode, ggml_scale_mode>> = {
  nearest: ggml_scale_mode.GGML_SCALE_MODE_NEAREST,
  bilinear: ggml_scale_mode.GGML_SCALE_MODE_BILINEAR,
  bicubic: ggml_scale_mode.GGML_SCALE_MODE_BICUBIC,
};

const modes: readonly ScaleMode[] = ["nearest", "bilinear", "bicubic"];

/** Enlarges pictures by an integer factor of at least 2; f32. As {@linkcode pool1d}. C: `ggml_upscale`. */
export function upscale(context: GgmlContext, a: Tensor, factor: number, mode: ScaleMode): Tensor {
  const wanted = scaleModes[checkOneOf("upscale: mode", mode, modes)];
  const checked = check("upscale", context, { a }).type("a", "f32");
  const by = checked.integer("factor", factor, { min: 2, max: MAX_SIZE });
  checked.result([a.shape[0] * by, a.shape[1] * by, a.shape[2], a.shape[3]], "f32");
  return checked.build((into) => context.native.lib.ggml_upscale(into, a.unsafePointer, by, wanted));
}

/** Options of {@linkcode interpolate}. */
export interface InterpolateOptions {
  /** Default `"bilinear"`. */
  mode?: ScaleMode | undefined;
  /** Keeps the corner values. Default false. C: `GGML_SCALE_FLAG_ALIGN_CORNERS`. */
  alignCorners?: boolean | undefined;
  /** Smooths pictures that get smaller; in the mode `"bilinear"` only. Default false. C: `GGML_SCALE_FLAG_ANTIALIAS`. */
  antialias?: boolean | undefined;
}

/** {@linkcode InterpolateOptions}, declared. */
const interpolateSpec = options(
  "interpolate",
  {
    mode: oneOf(modes, { default: "bilinear" }),
    alignCorners: boolean({ default: false }),
    antialias: boolean({ default: false }),
  } satisfies RulesOf<InterpolateOptions>,
);

/** Resizes pictures: up to four dimensions, each at least 1; f32. As {@linkcode pool1d}. C: `ggml_interpolate`. */
export function interpolate(
  context: GgmlContext,
  a: Tensor,
  shape: readonly number[],
  options?: InterpolateOptions,
): Tensor {
  const checked = check("interpolate", context, { a }).type("a", "f32");
  const full = checked.result(shape, "f32");
  const { mode, alignCorners, antialias } = checked.options(interpolateSpec, options);
  full.forEach((size, index) => checked.integer(`shape[${index}]`, size, { min: 1, max: INT_MAX }));
  if (antialias && mode !== "bilinear") {
    throw new InvalidArgumentError(`interpolate: antialias goes with the mode "bilinear", not ${show(mode)}`, {
      value: mode,
      expected: '"bilinear"',
    });
  }
  const flags = (alignCorners ? ggml_scale_flag.GGML_SCALE_FLAG_ALIGN_CORNERS : 0) |
    (antialias ? ggml_scale_flag.GGML_SCALE_FLAG_ANTIALIAS : 0);
  const [n0, n1, n2, n3] = full.map(BigInt) as [bigint, bigint, bigint, bigint];
  return checked.build((into) =>
    context.native.lib.ggml_interpolate(into, a.unsafePointer, n0, n1, n2, n3, scaleModes[mode] | flags)
  );
}

/** Options of {@linkcode pad}: for each of up to four dimensions how much comes after, and with `before` how much comes before. */
export interface PadOptions {
  /** Padding before, each from 0. Default none. */
  before?: readonly number[] | undefined;
  /** Wrap-around, as on a torus, and at most its size; else zeros. Default false. */
  circular?: boolean | undefined;
}

/** {@linkcode PadOptions}, declared. */
const padSpec = options(
  "pad",
  {
    before: deferred<readonly number[]>("an array of at most four integers"),
    circular: boolean({ default: false }),
  } satisfies RulesOf<PadOptions>,
);

type Four = [number, number, number, number];

/** Zeros, or what is at the other end, around a tensor; f32. As {@linkcode pool1d}. C: `ggml_pad`, `ggml_pad_ext`, `ggml_pad_circular`, `ggml_pad_ext_circular`. */
export function pad(context: GgmlContext, a: Tensor, after: readonly number[], options?: PadOptions): Tensor {
  const checked = check("pad", context, { a }).type("a", "f32");
  const { before, circular: around } = checked.options(padSpec, options);
  const four = (name: string, values: readonly number[]): Four => {
    if (!isArray(values) || values.length > 4) {
      throw new InvalidArgumentError(`pad: ${name} is ${show(values)}; give an array of at most four whole numbers`, {
        value: values,
        expected: "an array of at most four whole numbers",
      });
    }
    return [0, 1, 2, 3].map((index) =>
      checked.integer(`${name}[${index}]`, values[index] ?? 0, { min: 0, max: around ? a.shape[index as 0] : INT_MAX })
    ) as Four;
  };
  const [r, l] = [four("after", after), four("before", before ?? [])];
  checked.result(a.shape.map((size, index) => size + r[index as 0] + l[index as 0]), "f32");
  const both = [l[0], r[0], l[1], r[1], l[2], r[2], l[3], r[3]] as const;
  const lib = libOf(context);
  return checked.build((into) => {
    if (before === undefined) {
      return around ? lib.ggml_pad_circular(into, a.unsafePointer, ...r) : lib.ggml_pad(into, a.unsafePointer, ...r);
    }
    return around
      ? lib.ggml_pad_ext_circular(into, a.unsafePointer, ...both)
      : lib.ggml_pad_ext(into, a.unsafePointer, ...both);
  });
}

/** Rows with their own mirror image on both sides, shorter than they are; f32, contiguous. As {@linkcode pool1d}. C: `ggml_pad_reflect_1d`. */
export function padReflect1d(context: GgmlContext, a: Tensor, before: number, after: number): Tensor {
  const checked = check("padReflect1d", context, { a }).type("a", "f32").contiguous("a");
  const range = { min: 0, max: a.shape[0] - 1 };
  const [left, right] = [checked.integer("before", before, range), checked.integer("after", after, range)];
  return checked.build((into) => context.native.lib.ggml_pad_reflect_1d(into, a.unsafePointer, left, right));
}

/** Elements moved on in each of up to four dimensions, those at the end to the begin; by less than the dimension; f32. As {@linkcode pool1d}. C: `ggml_roll`. */
export function roll(context: GgmlContext, a: Tensor, shifts: readonly number[]): Tensor {
  const checked = check("roll", context, { a }).type("a", "f32").elementsTogether("a");
  checked.integer("the count of shifts", isArray(shifts) ? shifts.length : shifts, { min: 1, max: 4 });
  const four = [0, 1, 2, 3].map((index) =>
    checked.integer(`shifts[${index}]`, shifts[index] ?? 0, {
      min: 1 - a.shape[index as 0],
      max: a.shape[index as 0] - 1,
    })
  ) as Four;
  return checked.build((into) => context.native.lib.ggml_roll(into, a.unsafePointer, ...four));
}

/**
 * Sines and cosines of times, as diffusion models have them: [n] of f32 gives [size, n]. As {@linkcode pool1d}. C: `ggml_timestep_embedding`.
 */
export function timestepEmbedding(
  context: GgmlContext,
  times: Tensor,
  size: number,
  maxPeriod: number = 10_000,
): Tensor {
  const checked = check("timestepEmbedding", context, { times }).type("times", "f32").dimensions("times", 1)
    .elementsTogether("times");
  const count = checked.integer("size", size, { min: 1, max: INT_MAX });
  const period = checked.integer("maxPeriod", maxPeriod, { min: 1, max: INT_MAX });
  checked.result([count, times.shape[0]], "f32");
  return checked.build((into) => context.native.lib.ggml_timestep_embedding(into, times.unsafePointer, count, period));
}
