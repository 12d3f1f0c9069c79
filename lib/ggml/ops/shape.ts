/**
 * Operators that look at the same numbers in another shape.
 *
 * @module
 */

import { InvalidArgumentError } from "../../../base/errors.ts";
import { isArray } from "../../../base/check.ts";
import { integer, options, type RulesOf } from "../../../base/options.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { TensorShapeError } from "../tensor/errors.ts";
import { isQuantized, type Shape, typeByName } from "../tensor/types.ts";
import { check, libOf, type OperatorCheck } from "./check.ts";

type Wide = [bigint, bigint, bigint, bigint];

/** A shape as C takes it. */
export function wide(shape: Shape): Wide {
  return shape.map(BigInt) as Wide;
}

/** Checks that a shape has as many elements as an operand, and of whole blocks. */
export function checkSameCount(checked: OperatorCheck, op: string, a: Tensor, shape: readonly number[]): Shape {
  const full = checked.result(shape, a.type);
  const count = full.reduce((product, one) => product * one, 1);
  if (count === a.elementCount) return full;
  throw new TensorShapeError(
    `${op}: the shape [${full.join(", ")}] has ${count} elements, and a [${a.shape.join(", ")}] has ${a.elementCount}`,
    { value: full, expected: `${a.elementCount} elements` },
  );
}

/**
 * The same elements in another shape of as many; `a` is contiguous. A view: it shares the memory of `a`.
 *
 * Throws TensorShapeError, TensorLayoutError, InvalidArgumentError, ContextFullError, DisposedError. C: `ggml_reshape_1d` to `ggml_reshape_4d`; with a
 * tensor, whose shape is taken, `ggml_reshape`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { GgmlContext, ops } from "../mod.ts";
 *
 * using context = await GgmlContext.create();
 * const a = context.tensor("f32", [6, 4]);
 * assert.deepEqual(ops.reshape(context, a, [3, 8]).shape, [3, 8, 1, 1]);
 * assert.throws(() => ops.reshape(context, a, [5, 5]), { code: "TENSOR_SHAPE" });
 * ```
 */
export function reshape(context: GgmlContext, a: Tensor, shape: readonly number[] | Tensor): Tensor {
  const lib = libOf(context);
  if (!isArray(shape)) {
    const b = shape as Tensor;
    const checked = check("reshape", context, { a, b }).contiguous("a");
    checkSameCount(checked as unknown as OperatorCheck, "reshape", a, b.shape);
    return checked.build((into) => lib.ggml_reshape(into, a.unsafePointer, b.unsafePointer));
  }
  const checked = check("reshape", context, { a }).contiguous("a");
  const full = checkSameCount(checked as unknown as OperatorCheck, "reshape", a, shape);
  const [n0, n1, n2, n3] = wide(full);
  return checked.build((into) => {
    switch (shape.length) {
      case 1:
        return lib.ggml_reshape_1d(into, a.unsafePointer, n0);
      case 2:
        return lib.ggml_reshape_2d(into, a.unsafePointer, n0, n1);
      case 3:
        return lib.ggml_reshape_3d(into, a.unsafePointer, n0, n1, n2);
      default:
        return lib.ggml_reshape_4d(into, a.unsafePointer, n0, n1, n2, n3);
    }
  });
}

/** The part of a tensor that {@linkcode view} returns; strides and offset in bytes. */
export interface ViewOptions {
  /** Stride from one row to the next; default that of `a`. C: `nb1`. */
  rowStride?: number | undefined;
  /** Stride from one matrix to the next; default that of `a`. C: `nb2`. */
  matrixStride?: number | undefined;
  /** Stride from one cube to the next; default that of `a`. C: `nb3`. */
  cubeStride?: number | undefined;
  /** Offset of the first element. Default 0. */
  offset?: number | undefined;
}

const place = { min: 0, max: Number.MAX_SAFE_INTEGER };

/** {@linkcode ViewOptions}, declared. */
const viewSpec = options(
  "view",
  {
    rowStride: integer(place),
    matrixStride: integer(place),
    cubeStride: integer(place),
    offset: integer({ ...place, default: 0 }),
  } satisfies RulesOf<ViewOptions>,
);

/**
 * A part of a tensor, in its memory. Strides and offset are multiples of the bytes of an element (of a block).
 *
 * Throws InvalidArgumentError when the part isn't inside `a`, and as {@linkcode reshape} does. C: `ggml_view_1d` to `ggml_view_4d`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { GgmlContext, ops } from "../mod.ts";
 *
 * using context = await GgmlContext.create({ dataBytes: 4096 });
 * const a = context.from([1, 2, 3, 4, 5, 6], [3, 2]);
 * const second = ops.view(context, a, [2, 2], { offset: 4 });
 * assert.deepEqual([...second.read()], [2, 3, 5, 6]);
 * ```
 */
export function view(context: GgmlContext, a: Tensor, shape: readonly number[], options?: ViewOptions): Tensor {
  const checked = check("view", context, { a }).elementsTogether("a");
  const given = checked.options(viewSpec, options);
  const full = checked.result(shape, a.type);
  const { typeSize, blockSize } = typeByName("the type", a.type);
  const bytes = (name: string, value: number): number => checked.multiple(name, value, typeSize);
  const strides = [
    bytes("rowStride", given.rowStride ?? a.strides[1]),
    bytes("matrixStride", given.matrixStride ?? a.strides[2]),
    bytes("cubeStride", given.cubeStride ?? a.strides[3]),
  ] as const;
  const offset = bytes("offset", given.offset);
  const used = [1, 2, 3].reduce(
    (sum, at) => sum + (full[at as 1] - 1) * (strides[at - 1 as 0]),
    full[0] / blockSize * typeSize,
  );
  const packed = full.reduce((product, one) => product * one, typeSize / blockSize);
  const root = a.viewOf ?? a;
  if (full.includes(0)) throw empty(full);
  // ggml counts without the strides, from the begin of the tensor that owns the memory.
  checked.integer("the view's end in a, in bytes,", offset + used, { min: 0, max: a.byteLength });
  checked.integer("the view's own bytes from its offset on", a.viewOffset + offset + packed, {
    min: 0,
    max: root.byteLength,
  });
  const lib = libOf(context);
  const [n0, n1, n2, n3] = wide(full);
  const [b1, b2, b3] = [BigInt(strides[0]), BigInt(strides[1]), BigInt(strides[2])];
  const start = BigInt(offset);
  return checked.build((into) => {
    switch (shape.length) {
      case 1:
        return lib.ggml_view_1d(into, a.unsafePointer, n0, start);
      case 2:
        return lib.ggml_view_2d(into, a.unsafePointer, n0, n1, b1, start);
      case 3:
        return lib.ggml_view_3d(into, a.unsafePointer, n0, n1, n2, b1, b2, start);
      default:
        return lib.ggml_view_4d(into, a.unsafePointer, n0, n1, n2, n3, b1, b2, b3, start);
    }
  });
}

function empty(shape: Shape): TensorShapeError {
  return new TensorShapeError(`view: the shape [${shape.join(", ")}] has no elements`, {
    value: shape,
    expected: "at least 1",
  });
}

/**
 * The dimensions in another order: dimension `i` of `a` becomes dimension `axes[i]`. A view. Types in blocks keep dimension 0.
 *
 * Throws InvalidArgumentError unless `axes` are 0 to 3 in some order, TensorTypeError when a type in blocks would be cut. C: `ggml_permute`.
 */
export function permute(context: GgmlContext, a: Tensor, axes: readonly [number, number, number, number]): Tensor {
  const checked = check("permute", context, { a });
  const isOrder = isArray(axes) && axes.length === 4 && [0, 1, 2, 3].every((one) => axes.includes(one as 0));
  if (!isOrder) {
    throw new InvalidArgumentError(`permute: axes must be 0, 1, 2 and 3 in some order`, {
      value: axes,
      expected: "0, 1, 2 and 3 in some order",
    });
  }
  if (axes[0] !== 0 && isQuantized(a.type)) {
    checked.refuseType("a", a.type, "a type without blocks, or axes that begin with 0");
  }
  const [x0, x1, x2, x3] = axes;
  return checked.build((into) => context.native.lib.ggml_permute(into, a.unsafePointer, x0, x1, x2, x3));
}

/** Rows and columns swapped: [n, m, …] gives [m, n, …]. A view. Throws TensorTypeError for a type in blocks. C: `ggml_transpose`. */
export function transpose(context: GgmlContext, a: Tensor): Tensor {
  const checked = check("transpose", context, { a });
  if (isQuantized(a.type)) checked.refuseType("a", a.type, "a type without blocks");
  return checked.build((into) => context.native.lib.ggml_transpose(into, a.unsafePointer));
}

/** Another tensor over the same memory, in the same shape. C: `ggml_view_tensor`. */
export function alias(context: GgmlContext, a: Tensor): Tensor {
  return check("alias", context, { a }).build((into) => context.native.lib.ggml_view_tensor(into, a.unsafePointer));
}

/** A new tensor of the same type and shape, with memory of its own; its values aren't copied. C: `ggml_dup_tensor`. */
export function like(context: GgmlContext, a: Tensor): Tensor {
  return check("like", context, { a }).build((into) => context.native.lib.ggml_dup_tensor(into, a.unsafePointer));
}
