/**
 * Operators that take or put rows by their numbers.
 *
 * @module
 */

import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { check, F32_F16, shapeOf } from "./check.ts";
import { cpuTypes } from "./cpu_types.ts";

/**
 * Rows of `a` by their numbers: `a` [n, r, s, t], `rows` [k, s, t] of i32, the result [n, k, s, t] of f32 (of i32 when `a` is).
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError; computing with a number outside of `a` throws InvalidArgumentError. C: `ggml_get_rows`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { computeSync, GgmlContext, Graph, ops } from "../mod.ts";
 *
 * using context = await GgmlContext.create({ dataBytes: 4096 });
 * const table = context.from([1, 2, 3, 4, 5, 6], [2, 3]);
 * const rows = context.from(new Int32Array([2, 0]));
 * const found = ops.getRows(context, table, rows);
 * using graph = new Graph(context).forward(found);
 * computeSync(graph);
 * assert.deepEqual([...found.read()], [5, 6, 1, 2]);
 * rows.write([3, 0]);
 * assert.throws(() => computeSync(graph), { code: "INVALID_ARGUMENT" });
 * ```
 */
export function getRows(context: GgmlContext, a: Tensor, rows: Tensor): Tensor {
  return check("getRows", context, { a, rows })
    .type("a", ...cpuTypes(context).readable, "i32").type("rows", "i32")
    .shape("rows", [undefined, a.shape[2], a.shape[3]], "as a has one dimension higher")
    .elementsTogether("a")
    .build((into) => context.native.lib.ggml_get_rows(into, a.unsafePointer, rows.unsafePointer));
}

/**
 * The gradient of {@linkcode getRows}: from that of its result [n, k] (f32 or f16), the numbers [k] and the operand [n, r], whose shape it has; f32.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError; computing with a number outside of `a` throws InvalidArgumentError.
 * C: `ggml_get_rows_back`.
 */
export function getRowsBack(context: GgmlContext, gradient: Tensor, rows: Tensor, a: Tensor): Tensor {
  return check("getRowsBack", context, { gradient, rows, a })
    .type("gradient", ...F32_F16).type("rows", "i32")
    .shape("gradient", [a.shape[0], rows.shape[0]])
    .dimensions("rows", 1).dimensions("a", 2)
    .elementsTogether("gradient", "rows")
    .build((into) =>
      context.native.lib.ggml_get_rows_back(into, gradient.unsafePointer, rows.unsafePointer, a.unsafePointer)
    );
}

/**
 * Rows of `b` put into `a` by their numbers: `a` [n, r, s, t], `b` [n, k, s, t] of f32 or f16, `rows` [k, s', t'] of i64 or i32, where `s'` divides `s`
 * and `t'` divides `t`. Floats are converted to the type of `a`. Gives a view of `a`.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError; computing with a number outside of `a` throws InvalidArgumentError. C: `ggml_set_rows`.
 */
export function setRows(context: GgmlContext, a: Tensor, b: Tensor, rows: Tensor): Tensor {
  const [n0, , n2, n3] = shapeOf("setRows", "a", a);
  return check("setRows", context, { a, b, rows })
    .type("a", ...cpuTypes(context).writable).type("b", ...F32_F16).type("rows", "i64", "i32")
    .shape("b", [n0, undefined, n2, n3], "as a has")
    .shape("rows", [b.shape[1], undefined, undefined])
    .require(n2 % (rows.shape[1] || 1) === 0, "rows", 1, `a divisor of ${n2}, a's dimension 2`)
    .require(n3 % (rows.shape[2] || 1) === 0, "rows", 2, `a divisor of ${n3}, a's dimension 3`)
    .elementsTogether("a", "b")
    .build((into) => context.native.lib.ggml_set_rows(into, a.unsafePointer, b.unsafePointer, rows.unsafePointer));
}
