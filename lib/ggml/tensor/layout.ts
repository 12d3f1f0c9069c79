/**
 * Memory layouts of tensors.
 *
 * @module
 */

import { checkInteger } from "../../../base/check.ts";
import { brands } from "../brands.ts";
import type { Tensor } from "./tensor.ts";
import type { Shape } from "./types.ts";

/** Memory layout of a tensor. Plain data. */
export interface TensorLayout {
  /** Its elements lie one after another. C: `ggml_is_contiguous`. */
  contiguous: boolean;
  /** The same for dimensions from 1 or from 2 on: those below may have gaps behind them. C: `ggml_is_contiguous_1`, `ggml_is_contiguous_2`. */
  contiguousFrom: { 1: boolean; 2: boolean };
  /** The same for the dimensions below 1, 2, or 3. C: `ggml_is_contiguous_to_1` to `ggml_is_contiguous_to_3`. */
  contiguousTo: { 1: boolean; 2: boolean; 3: boolean };
  /** The elements of each row lie one after another. C: `ggml_is_contiguous_rows`. */
  contiguousRows: boolean;
  /** Its channels (dimension 2) lie together: stored [channels, width, height, n]. C: `ggml_is_contiguous_channels`. */
  contiguousChannels: boolean;
  /** Its elements fill one piece of memory, in whatever order. C: `ggml_is_contiguously_allocated`. */
  contiguouslyAllocated: boolean;
  /** Its rows are further apart than its columns. C: `ggml_is_transposed`. */
  transposed: boolean;
  /** Its strides don't go up. C: `ggml_is_permuted`. */
  permuted: boolean;
  /** All dimensions are 1. C: `ggml_is_scalar`. */
  scalar: boolean;
  /** It has one dimension. C: `ggml_is_vector`. */
  vector: boolean;
  /** It has at most two dimensions. C: `ggml_is_matrix`. */
  matrix: boolean;
  /** It has at most three dimensions. C: `ggml_is_3d`. */
  threeDimensional: boolean;
  /** The bytes of an element, or of a block. C: `ggml_element_size`. */
  elementSize: number;
}

/** Returns the memory layout of a tensor. Throws InvalidArgumentError, DisposedError. */
export function tensorLayout(tensor: Tensor): TensorLayout {
  const { native, unsafePointer } = brands.tensor.check("tensor", tensor);
  const { lib } = native;
  return {
    contiguous: lib.ggml_is_contiguous(unsafePointer),
    contiguousFrom: { 1: lib.ggml_is_contiguous_1(unsafePointer), 2: lib.ggml_is_contiguous_2(unsafePointer) },
    contiguousTo: {
      1: lib.ggml_is_contiguous_to_1(unsafePointer),
      2: lib.ggml_is_contiguous_to_2(unsafePointer),
      3: lib.ggml_is_contiguous_to_3(unsafePointer),
    },
    contiguousRows: lib.ggml_is_contiguous_rows(unsafePointer),
    contiguousChannels: lib.ggml_is_contiguous_channels(unsafePointer),
    contiguouslyAllocated: lib.ggml_is_contiguously_allocated(unsafePointer),
    transposed: lib.ggml_is_transposed(unsafePointer),
    permuted: lib.ggml_is_permuted(unsafePointer),
    scalar: lib.ggml_is_scalar(unsafePointer),
    vector: lib.ggml_is_vector(unsafePointer),
    matrix: lib.ggml_is_matrix(unsafePointer),
    threeDimensional: lib.ggml_is_3d(unsafePointer),
    elementSize: Number(lib.ggml_element_size(unsafePointer)),
  };
}

/** The result of `compareLayouts`. Plain data. */
export interface LayoutComparison {
  /** Their dimensions are the same. C: `ggml_are_same_shape`. */
  sameShape: boolean;
  /** Their strides are the same. C: `ggml_are_same_stride`. */
  sameStrides: boolean;
  /** The first can be repeated to the shape of the second. C: `ggml_can_repeat`. */
  repeatable: boolean;
}

/** Compares the layouts of two tensors. Throws InvalidArgumentError, DisposedError. */
export function compareLayouts(a: Tensor, b: Tensor): LayoutComparison {
  const { lib } = brands.tensor.check("a", a).native;
  brands.tensor.check("b", b);
  return {
    sameShape: lib.ggml_are_same_shape(a.unsafePointer, b.unsafePointer),
    sameStrides: lib.ggml_are_same_stride(a.unsafePointer, b.unsafePointer),
    // ggml divides by the dimensions of the first.
    repeatable: a.shape.includes(0) ? b.shape.includes(0) : lib.ggml_can_repeat(a.unsafePointer, b.unsafePointer),
  };
}

/**
 * Returns the four indices of a tensor's element from its flat index. Throws InvalidArgumentError for one that it doesn't have. C: `ggml_unravel_index`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { GgmlContext, unravelIndex } from "../mod.ts";
 *
 * using context = await GgmlContext.create();
 * assert.deepEqual(unravelIndex(context.tensor("f32", [3, 4]), 7), [1, 2, 0, 0]);
 * ```
 */
export function unravelIndex(tensor: Tensor, index: number): Shape {
  const { native, unsafePointer, elementCount } = brands.tensor.check("tensor", tensor);
  const at = checkInteger("index", index, { min: 0, max: elementCount - 1 });
  const found = [0, 1, 2, 3].map(() => new BigInt64Array(1)) as [
    BigInt64Array,
    BigInt64Array,
    BigInt64Array,
    BigInt64Array,
  ];
  native.lib.ggml_unravel_index(unsafePointer, BigInt(at), ...found);
  return found.map(([one]) => Number(one)) as unknown as Shape;
}
