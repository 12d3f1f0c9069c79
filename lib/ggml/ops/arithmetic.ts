/**
 * Sums, differences, products and quotients of tensors, element by element.
 *
 * @module
 */

import type { Lib, Pointer } from "../../../ffi/mod.ts";
import { integer, number, options, type RulesOf } from "../../../base/options.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { isQuantized, typeByName, type TypeName } from "../tensor/types.ts";
import { check, FLOATS, libOf, type OperatorCheck } from "./check.ts";
import { cpuTypes } from "./cpu_types.ts";
import { FLOAT, type InPlaceOptions, inPlaceRules, INT_MAX, POSITIVE, wantsInPlace } from "./options.ts";

/**
 * An operator on two tensors, element by element: `b` is repeated to the shape of `a`, whose dimensions must be multiples of its own. Both of f32, f16 or
 * bf16, or `b` of f32; the result has the type of `a`.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError, InvalidArgumentError, ContextFullError, DisposedError.
 */
export type BinaryOperator = (context: GgmlContext, a: Tensor, b: Tensor, options?: InPlaceOptions) => Tensor;

type TensorPointer = Pointer<"ggml_tensor">;
type Maker = (lib: Lib, context: Pointer<"ggml_context">, a: TensorPointer, b: TensorPointer) => TensorPointer;
type Pair = { a: Tensor; b: Tensor };

function checkPair(checked: OperatorCheck<Pair>, a: Tensor): OperatorCheck<Pair> {
  return checked.type("a", ...FLOATS).type("b", a.type, "f32").repeats("b", "a").elementsTogether("a");
}

function binaryOperator(op: string, make: Maker, makeInPlace: Maker): BinaryOperator {
  return (context, a, b, options) => {
    const inPlace = wantsInPlace(op, options);
    return checkPair(check(op, context, { a, b }), a).build((into) =>
      (inPlace ? makeInPlace : make)(context.native.lib, into, a.unsafePointer, b.unsafePointer)
    );
  };
}

/** Checks a sum with an operand that comes in blocks: the other one has its shape and is of f32. */
function checkQuantizedSum(checked: OperatorCheck<Pair>, context: GgmlContext): OperatorCheck<Pair> {
  return checked.type("a", ...cpuTypes(context).writable.filter((type) => isQuantized(type)))
    .type("b", "f32").sameShape("b", "a").elementsTogether("a", "b").inOrder("a");
}

/**
 * `a + b`. As {@linkcode BinaryOperator} says; `a` may also be of a type in blocks, `b` then has its shape and is of f32. C: `ggml_add`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { computeSync, GgmlContext, Graph, ops } from "../mod.ts";
 *
 * using context = await GgmlContext.create({ dataBytes: 4096 });
 * const a = context.from([1, 2, 3, 4], [2, 2]);
 * const b = context.from([10, 20]);
 * const sum = ops.add(context, a, b);
 * using graph = new Graph(context).forward(sum);
 * computeSync(graph);
 * assert.deepEqual([...sum.read()], [11, 22, 13, 24]);
 * assert.throws(() => ops.add(context, b, a), { code: "TENSOR_SHAPE" });
 * ```
 */
export function add(context: GgmlContext, a: Tensor, b: Tensor, options?: InPlaceOptions): Tensor {
  const inPlace = wantsInPlace("add", options);
  const checked = check("add", context, { a, b });
  if (isQuantized(a.type)) checkQuantizedSum(checked, context);
  else checkPair(checked, a);
  const lib = libOf(context);
  return checked.build((into) =>
    inPlace
      ? lib.ggml_add_inplace(into, a.unsafePointer, b.unsafePointer)
      : lib.ggml_add(into, a.unsafePointer, b.unsafePointer)
  );
}

/** `a − b`. C: `ggml_sub`. */
export const sub: BinaryOperator = binaryOperator(
  "sub",
  (lib, into, a, b) => lib.ggml_sub(into, a, b),
  (lib, into, a, b) => lib.ggml_sub_inplace(into, a, b),
);

/** `a · b`, element by element. C: `ggml_mul`. */
export const mul: BinaryOperator = binaryOperator(
  "mul",
  (lib, into, a, b) => lib.ggml_mul(into, a, b),
  (lib, into, a, b) => lib.ggml_mul_inplace(into, a, b),
);

/** `a / b`. C: `ggml_div`. */
export const div: BinaryOperator = binaryOperator(
  "div",
  (lib, into, a, b) => lib.ggml_div(into, a, b),
  (lib, into, a, b) => lib.ggml_div_inplace(into, a, b),
);

/**
 * `a + b` as another type: `a` in blocks (then the result is of f32 or of its own type, and `b` has its shape), or of f16 or bf16 (the result is of
 * f32 or of its own type). Throws as {@linkcode BinaryOperator} does. C: `ggml_add_cast`.
 */
export function addCast(context: GgmlContext, a: Tensor, b: Tensor, type: TypeName): Tensor {
  const { id } = typeByName("addCast: type", type);
  const checked = check("addCast", context, { a, b });
  if (isQuantized(a.type)) checkQuantizedSum(checked, context);
  else {checked.type("a", "f16", "bf16").type("b", "f32").repeats("b", "a").shape("b", [
      a.shape[0],
      undefined,
      undefined,
      undefined,
    ]).elementsTogether("a");}
  if (type !== a.type && type !== "f32") checked.refuseType("type", type, `f32 or ${a.type}`);
  return checked.build((into) => context.native.lib.ggml_add_cast(into, a.unsafePointer, b.unsafePointer, id));
}

/**
 * To each row of `a` a row of `b`, chosen by `ids`: `a[·, i, j] + b[·, ids[i, j]]`. `a` [n, i, j] and `b` [n, m] of f32, `ids` [i, j] of i32.
 * Throws as {@linkcode BinaryOperator} does; computing with an id outside of `b` throws InvalidArgumentError. C: `ggml_add_id`.
 */
export function addId(context: GgmlContext, a: Tensor, b: Tensor, ids: Tensor): Tensor {
  return check("addId", context, { a, b, ids })
    .type("a", "f32").type("b", "f32").type("ids", "i32")
    .shape("b", [a.shape[0], undefined])
    .shape("ids", [a.shape[1], a.shape[2]])
    .dimensions("a", 3)
    .elementsTogether("a", "b", "ids")
    .build((into) => context.native.lib.ggml_add_id(into, a.unsafePointer, b.unsafePointer, ids.unsafePointer));
}

/** The position of `b` in `a` for {@linkcode acc} and {@linkcode set}; all in bytes. */
export interface PlaceOptions extends InPlaceOptions {
  /** From one row of `b` to the next in `a`; default the stride of `a`. C: `nb1`. */
  rowStride?: number | undefined;
  /** From one matrix to the next. C: `nb2`. */
  matrixStride?: number | undefined;
  /** From one cube to the next. C: `nb3`. */
  cubeStride?: number | undefined;
  /** Offset of the first element. Default 0. */
  offset?: number | undefined;
}

const MAX_STRIDE = 2 ** 30 - 1;
const place = { min: 0, max: MAX_STRIDE };

/** {@linkcode PlaceOptions}, declared. */
const placeSpec = options(
  "acc",
  {
    ...inPlaceRules,
    rowStride: integer(place),
    matrixStride: integer(place),
    cubeStride: integer(place),
    offset: integer({ ...place, default: 0 }),
  } satisfies RulesOf<PlaceOptions>,
);

interface Place {
  readonly strides: readonly [bigint, bigint, bigint];
  readonly offset: bigint;
  readonly inPlace: boolean;
}

function checkPlace(
  checked: OperatorCheck<Pair>,
  a: Tensor,
  b: Tensor,
  options: PlaceOptions | undefined,
): Place {
  const given = checked.options(placeSpec, options);
  const { typeSize } = typeByName("the type", a.type);
  const [, n1, n2, n3] = a.strides;
  const bytes = (name: string, value: number): number =>
    checked.multiple(name, checked.integer(name, value, place), typeSize);
  const strides = [
    bytes("rowStride", given.rowStride ?? n1),
    bytes("matrixStride", given.matrixStride ?? n2),
    bytes("cubeStride", given.cubeStride ?? n3),
  ] as const;
  const offset = bytes("offset", given.offset);
  const [s0, s1, s2, s3] = b.shape;
  const end = offset + (s0 - 1) * typeSize + (s1 - 1) * strides[0] + (s2 - 1) * strides[1] + (s3 - 1) * strides[2] +
    typeSize;
  checked.integer("the end of b in a, in bytes,", end, { min: 0, max: a.byteLength });
  checked.integer("the elements of b", b.elementCount, { min: 1, max: a.elementCount });
  return {
    strides: [BigInt(strides[0]), BigInt(strides[1]), BigInt(strides[2])],
    offset: BigInt(offset),
    inPlace: given.inPlace,
  };
}

/**
 * `a` with `b` added to a part of it. Both of f32, `a` contiguous. Throws InvalidArgumentError when the part isn't inside `a`, and as
 * {@linkcode BinaryOperator} does. C: `ggml_acc`.
 */
export function acc(context: GgmlContext, a: Tensor, b: Tensor, options?: PlaceOptions): Tensor {
  const checked = check("acc", context, { a, b }).type("a", "f32").type("b", "f32").contiguous("a").elementsTogether(
    "b",
  );
  const { strides, offset, inPlace } = checkPlace(checked, a, b, options);
  const lib = libOf(context);
  return checked.build((into) =>
    inPlace
      ? lib.ggml_acc_inplace(into, a.unsafePointer, b.unsafePointer, ...strides, offset)
      : lib.ggml_acc(into, a.unsafePointer, b.unsafePointer, ...strides, offset)
  );
}

/**
 * `a` with a part of it replaced by `b`. Both of f32 or both of i32, `a` contiguous. Throws InvalidArgumentError when the part isn't inside `a`, and as
 * {@linkcode BinaryOperator} does. C: `ggml_set`; `ggml_set_1d` and `ggml_set_2d` are the same with the strides of `a`.
 */
export function set(context: GgmlContext, a: Tensor, b: Tensor, options?: PlaceOptions): Tensor {
  const checked = check("set", context, { a, b })
    .type("a", "f32", "i32").sameType("b", "a").contiguous("a").elementsTogether("b");
  const { strides, offset, inPlace } = checkPlace(checked, a, b, options);
  const lib = libOf(context);
  return checked.build((into) =>
    inPlace
      ? lib.ggml_set_inplace(into, a.unsafePointer, b.unsafePointer, ...strides, offset)
      : lib.ggml_set(into, a.unsafePointer, b.unsafePointer, ...strides, offset)
  );
}

/** Numbers from `start` in steps up to, without, `stop`, as f32. */
export interface RangeOptions {
  /** The first. Default 0. */
  start?: number | undefined;
  /** The end, which isn't among them. */
  stop: number;
  /** From one to the next, above 0. Default 1. */
  step?: number | undefined;
}

/** {@linkcode RangeOptions}, declared. */
const rangeSpec = options(
  "arange",
  {
    start: number({ ...FLOAT, default: 0 }),
    stop: number({ ...FLOAT, required: true }),
    step: number({ min: Number.MIN_VALUE, max: POSITIVE.max, default: 1 }),
  } satisfies RulesOf<RangeOptions>,
);

/** Numbers in even steps, f32 of one dimension. Throws InvalidArgumentError for a bad range. C: `ggml_arange`. */
export function arange(context: GgmlContext, options: RangeOptions): Tensor {
  const checked = check("arange", context, {});
  const { start, stop, step } = checked.options(rangeSpec, options);
  const [from, to, by] = [Math.fround(start), Math.fround(stop), Math.fround(step)];
  checked.integer("the count of numbers from start to stop", Math.ceil(Math.fround(to - from) / by), {
    min: 1,
    max: INT_MAX,
  });
  return checked.build((into) => context.native.lib.ggml_arange(into, from, to, by));
}
