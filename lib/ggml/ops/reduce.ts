/**
 * Operators that make one number of many: sums, means, the largest, and orders.
 *
 * @module
 */

import { ggml_sort_order } from "../../../ffi/mod.ts";
import { checkOneOf } from "../../../base/check.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { check, FLOATS } from "./check.ts";

/** The sum of all elements, one number of the type of `a` (f32, f16 or bf16). Throws TensorTypeError, TensorLayoutError. C: `ggml_sum`. */
export function sum(context: GgmlContext, a: Tensor): Tensor {
  return check("sum", context, { a }).type("a", ...FLOATS).elementsTogether("a").build((into) =>
    context.native.lib.ggml_sum(into, a.unsafePointer)
  );
}

/** The sum of each row: [n, …] gives [1, …]; f32. Throws TensorTypeError, TensorLayoutError. C: `ggml_sum_rows`. */
export function sumRows(context: GgmlContext, a: Tensor): Tensor {
  return check("sumRows", context, { a }).type("a", "f32").elementsTogether("a").build((into) =>
    context.native.lib.ggml_sum_rows(into, a.unsafePointer)
  );
}

/** Along each row the sum of all elements up to there; f32. Throws TensorTypeError, TensorLayoutError. C: `ggml_cumsum`. */
export function cumsum(context: GgmlContext, a: Tensor): Tensor {
  return check("cumsum", context, { a }).type("a", "f32").elementsTogether("a").build((into) =>
    context.native.lib.ggml_cumsum(into, a.unsafePointer)
  );
}

/** The mean of each row: [n, …] gives [1, …]; f32. Throws TensorTypeError, TensorLayoutError. C: `ggml_mean`. */
export function mean(context: GgmlContext, a: Tensor): Tensor {
  return check("mean", context, { a }).type("a", "f32").elementsTogether("a").build((into) =>
    context.native.lib.ggml_mean(into, a.unsafePointer)
  );
}

/** The index of each row's largest element, i32: [n, m] of f32 gives [m]. Throws TensorShapeError, TensorTypeError, TensorLayoutError. C: `ggml_argmax`. */
export function argmax(context: GgmlContext, a: Tensor): Tensor {
  return check("argmax", context, { a }).type("a", "f32").dimensions("a", 2).elementsTogether("a").build((into) =>
    context.native.lib.ggml_argmax(into, a.unsafePointer)
  );
}

/** Counts the equal elements of `a` and `b`, one i64; both of i32 and one shape of at most two dimensions: of more ggml counts wrongly. Throws TensorShapeError, TensorTypeError. C: `ggml_count_equal`. */
export function countEqual(context: GgmlContext, a: Tensor, b: Tensor): Tensor {
  return check("countEqual", context, { a, b })
    .type("a", "i32").type("b", "i32").dimensions("a", 2).sameShape("b", "a")
    .build((into) => context.native.lib.ggml_count_equal(into, a.unsafePointer, b.unsafePointer));
}

/** The order of a sort. C: `enum ggml_sort_order`. */
export type SortOrder = "ascending" | "descending";

/**
 * The indices that put each row in order, i32 of the shape of `a`; f32 without NaN, contiguous from the rows on. Throws TensorTypeError,
 * TensorLayoutError, InvalidArgumentError. C: `ggml_argsort`.
 */
export function argsort(context: GgmlContext, a: Tensor, order: SortOrder): Tensor {
  const asked = checkOneOf("argsort: order", order, ["ascending", "descending"]);
  const { GGML_SORT_ORDER_ASC, GGML_SORT_ORDER_DESC } = ggml_sort_order;
  return check("argsort", context, { a }).type("a", "f32").contiguousFromRows("a").build((into) =>
    context.native.lib.ggml_argsort(
      into,
      a.unsafePointer,
      asked === "ascending" ? GGML_SORT_ORDER_ASC : GGML_SORT_ORDER_DESC,
    )
  );
}

/**
 * The indices of the `k` largest elements of each row, the largest first, i32 [k, …]. As {@linkcode argsort}; `k` is at most a row's length.
 * C: `ggml_argsort_top_k`.
 */
export function argsortTopK(context: GgmlContext, a: Tensor, k: number): Tensor {
  const checked = check("argsortTopK", context, { a }).type("a", "f32").contiguousFromRows("a");
  const count = checked.integer("k", k, { min: 1, max: a.shape[0] });
  return checked.build((into) => context.native.lib.ggml_argsort_top_k(into, a.unsafePointer, count));
}

/** The indices of the `k` largest elements of each row in no order, i32 [k, …]. As {@linkcode argsortTopK}. C: `ggml_top_k`. */
export function topK(context: GgmlContext, a: Tensor, k: number): Tensor {
  const checked = check("topK", context, { a }).type("a", "f32").contiguousFromRows("a");
  const count = checked.integer("k", k, { min: 1, max: a.shape[0] });
  return checked.build((into) => context.native.lib.ggml_top_k(into, a.unsafePointer, count));
}
