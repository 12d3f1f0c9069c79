/**
 * Operators that copy, convert, repeat and join.
 *
 * @module
 */

import { isArray } from "../../../base/check.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { isQuantized, typeByName, type TypeName } from "../tensor/types.ts";
import { check, FLOATS, libOf, type OperatorCheck } from "./check.ts";
import { cpuTypes } from "./cpu_types.ts";
import { checkSameCount, wide } from "./shape.ts";
import { type InPlaceOptions, wantsInPlace } from "./options.ts";

/** A copy in the graph, of the same type; also of a view, whose gaps go. In place: a view of `a`. Throws TensorLayoutError. C: `ggml_dup`. */
export function dup(context: GgmlContext, a: Tensor, options?: InPlaceOptions): Tensor {
  const inPlace = wantsInPlace("dup", options);
  const checked = check("dup", context, { a });
  if (isQuantized(a.type)) checked.elementsTogether("a");
  const lib = libOf(context);
  return checked.build((into) =>
    inPlace ? lib.ggml_dup_inplace(into, a.unsafePointer) : lib.ggml_dup(into, a.unsafePointer)
  );
}

/** Checks that the CPU has a conversion from one type to another. */
function checkConversion(checked: OperatorCheck<{ a: Tensor }>, a: Tensor, type: TypeName, context: GgmlContext): void {
  if (type === a.type) return;
  const { writable, readable } = cpuTypes(context);
  if (isQuantized(a.type)) {
    checked.type("a", ...readable);
    if (type !== "f32") checked.refuseType("the result's type", type, `f32, or ${a.type} itself`);
  } else if (a.type === "i32") {
    if (type !== "f32") checked.refuseType("the result's type", type, "f32, or i32 itself");
  } else {
    checked.type("a", ...FLOATS);
    const fine = FLOATS.includes(type) || (isQuantized(type) && writable.includes(type)) ||
      (a.type === "f32" && type === "i32");
    if (!fine) checked.refuseType("the result's type", type, "a type of floats or of blocks that the processor writes");
    if (isQuantized(type)) checked.elementsTogether("a");
  }
}

/**
 * Copies `a` into `b`, which has as many elements; floats are converted, and quantized where `b` comes in blocks (then both have the same rows, and `b`
 * is contiguous). Gives a view of `b`.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError, ContextFullError, DisposedError. C: `ggml_cpy`.
 */
export function cpy(context: GgmlContext, a: Tensor, b: Tensor): Tensor {
  const checked = check("cpy", context, { a, b }).count("b", a.elementCount, "as many as a has");
  checkConversion(check("cpy", context, { a }), a, b.type, context);
  if (isQuantized(a.type) || isQuantized(b.type)) {
    checked.dimension("b", 0, a.shape[0], "as a has").elementsTogether("a", "b");
    if (isQuantized(b.type) || a.type !== b.type) checked.contiguous("b");
    if (a.type === b.type) checked.sameShape("b", "a");
  }
  return checked.build((into) => context.native.lib.ggml_cpy(into, a.unsafePointer, b.unsafePointer));
}

/** `a` as another type. Throws as {@linkcode cpy} does. C: `ggml_cast`. */
export function cast(context: GgmlContext, a: Tensor, type: TypeName): Tensor {
  const { id } = typeByName("cast: type", type);
  const checked = check("cast", context, { a });
  checked.result(a.shape, type);
  checkConversion(checked, a, type, context);
  if (isQuantized(a.type)) checked.elementsTogether("a");
  return checked.build((into) => context.native.lib.ggml_cast(into, a.unsafePointer, id));
}

/**
 * `a` with its elements one after another; with a shape, in that shape, of as many elements.
 *
 * Throws TensorShapeError, TensorLayoutError (a type in blocks that isn't contiguous in its rows). C: `ggml_cont`, `ggml_cont_1d` to `ggml_cont_4d`.
 */
export function cont(context: GgmlContext, a: Tensor, shape?: readonly number[]): Tensor {
  const lib = libOf(context);
  const checked = check("cont", context, { a });
  if (isQuantized(a.type)) checked.elementsTogether("a");
  if (shape === undefined) return checked.build((into) => lib.ggml_cont(into, a.unsafePointer));
  if (isQuantized(a.type)) checked.contiguous("a");
  const [n0, n1, n2, n3] = wide(checkSameCount(checked as unknown as OperatorCheck, "cont", a, shape));
  return checked.build((into) => {
    switch (shape.length) {
      case 1:
        return lib.ggml_cont_1d(into, a.unsafePointer, n0);
      case 2:
        return lib.ggml_cont_2d(into, a.unsafePointer, n0, n1);
      case 3:
        return lib.ggml_cont_3d(into, a.unsafePointer, n0, n1, n2);
      default:
        return lib.ggml_cont_4d(into, a.unsafePointer, n0, n1, n2, n3);
    }
  });
}

const repeatable: readonly TypeName[] = ["f32", "f16", "bf16", "i32", "i16"];

/**
 * `a` repeated to the shape of `b`, or to a shape of numbers, whose dimensions are multiples of its own; f32, f16, bf16, i32 or i16.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError. C: `ggml_repeat`, `ggml_repeat_4d`.
 */
export function repeat(context: GgmlContext, a: Tensor, b: Tensor | readonly number[]): Tensor {
  const lib = libOf(context);
  if (!isArray(b)) {
    const target = b as Tensor;
    return check("repeat", context, { a, b: target })
      .type("a", ...repeatable).repeats("a", "b").elementsTogether("a")
      .build((into) => lib.ggml_repeat(into, a.unsafePointer, target.unsafePointer));
  }
  const checked = check("repeat", context, { a }).type("a", ...repeatable).elementsTogether("a");
  const full = checked.result(b, a.type);
  for (const index of [0, 1, 2, 3] as const) {
    const size = full[index];
    checked.require(size > 0 && size % a.shape[index] === 0, "a", index, `a divisor of ${size}`);
  }
  const [n0, n1, n2, n3] = full.map(BigInt) as [bigint, bigint, bigint, bigint];
  return checked.build((into) => lib.ggml_repeat_4d(into, a.unsafePointer, n0, n1, n2, n3));
}

/**
 * The sum of what {@linkcode repeat} would have repeated: `a` in the shape of `b`, whose dimensions divide its own; f32.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError. C: `ggml_repeat_back`.
 */
export function repeatBack(context: GgmlContext, a: Tensor, b: Tensor): Tensor {
  return check("repeatBack", context, { a, b })
    .type("a", "f32").repeats("b", "a").elementsTogether("a")
    .build((into) => context.native.lib.ggml_repeat_back(into, a.unsafePointer, b.unsafePointer));
}

/**
 * `a` and `b` joined along a dimension; all others are the same, as is the type. Types other than those of 1, 2 and 4 bytes are contiguous in their rows.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError, InvalidArgumentError. C: `ggml_concat`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { GgmlContext, ops } from "../mod.ts";
 *
 * using context = await GgmlContext.create();
 * const [a, b] = [context.tensor("f32", [2, 3]), context.tensor("f32", [2, 5])];
 * assert.deepEqual(ops.concat(context, a, b, 1).shape, [2, 8, 1, 1]);
 * assert.throws(() => ops.concat(context, a, b, 0), { message: /dimension 1 of b \[2, 5, 1, 1\] is 5; it must be 3/ });
 * ```
 */
export function concat(context: GgmlContext, a: Tensor, b: Tensor, dimension: number): Tensor {
  const checked = check("concat", context, { a, b }).sameType("b", "a");
  const along = checked.integer("dimension", dimension, { min: 0, max: 3 });
  for (const index of [0, 1, 2, 3] as const) {
    if (index !== along) checked.dimension("b", index, a.shape[index], "as a has");
  }
  checked.result(a.shape.map((size, index) => index === along ? size + b.shape[index as 0] : size), a.type);
  checked.elementsTogether("a", "b");
  return checked.build((into) => context.native.lib.ggml_concat(into, a.unsafePointer, b.unsafePointer, along));
}
