/**
 * Operators on matrices.
 *
 * @module
 */

import { ggml_op, ggml_op_hint, ggml_prec, ggml_tri_type } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../../base/errors.ts";
import { checkOneOf } from "../../../base/check.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { isQuantized } from "../tensor/types.ts";
import { check, libOf, shapeOf } from "./check.ts";
import { cpuTypes } from "./cpu_types.ts";
import { type InPlaceOptions, INT_MAX, wantsInPlace } from "./options.ts";

/**
 * The product of matrices: `a` [k, m, …] and `b` [k, n, …] give [m, n, …] of f32: the dot product of each row of `a` with each row of `b`. Dimensions 2
 * and 3 of `b` are multiples of those of `a`. `a` may be of any type that the processor multiplies, `b` is of f32 or of the type that goes with `a`.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError, ContextFullError, DisposedError. C: `ggml_mul_mat`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { computeSync, GgmlContext, Graph, ops } from "../mod.ts";
 *
 * using context = await GgmlContext.create({ dataBytes: 4096 });
 * const a = context.from([1, 2, 3, 4, 5, 6], [3, 2]);
 * const b = context.from([1, 1, 1], [3, 1]);
 * const product = ops.mulMat(context, a, b);
 * using graph = new Graph(context).forward(product);
 * computeSync(graph);
 * assert.deepEqual([...product.read()], [6, 15]);
 * const wrong = context.tensor("f32", [2, 4]);
 * assert.throws(() => ops.mulMat(context, a, wrong), { message: /dimension 0 of b \[2, 4, 1, 1\] is 2; it must be 3/ });
 * ```
 */
export function mulMat(context: GgmlContext, a: Tensor, b: Tensor): Tensor {
  const { dot } = cpuTypes(context);
  return check("mulMat", context, { a, b })
    .type("a", ...dot.keys()).type("b", "f32", dot.get(a.type) ?? "f32")
    .dimension("b", 0, a.shape[0], "the length of a's rows")
    .repeats("a", "b", 2, 3)
    .elementsTogether("a", "b")
    .layout(a.strides[0] <= a.strides[1], "a", "a matrix that isn't transposed; use cont() first")
    .build((into) => context.native.lib.ggml_mul_mat(into, a.unsafePointer, b.unsafePointer));
}

/**
 * The product with matrices chosen by number: `matrices` [k, m, e], `b` [k, u', t] of f32, `ids` [u, t] of i32 give [m, u, t], where `u'` divides `u`:
 * of each `ids[i, j]` the matrix by the row `b[i mod u', j]`.
 *
 * Throws as {@linkcode mulMat} does; computing with an id outside of `matrices` throws InvalidArgumentError. C: `ggml_mul_mat_id`.
 */
export function mulMatId(context: GgmlContext, matrices: Tensor, b: Tensor, ids: Tensor): Tensor {
  const { dot } = cpuTypes(context);
  return check("mulMatId", context, { matrices, b, ids })
    .type("matrices", ...dot.keys()).type("b", "f32").type("ids", "i32")
    .dimensions("matrices", 3).dimensions("b", 3).dimensions("ids", 2)
    .dimension("b", 0, matrices.shape[0], "the length of the matrices' rows")
    .dimension("ids", 1, b.shape[2], "as b's dimension 2")
    .require(ids.shape[0] % (b.shape[1] || 1) === 0, "b", 1, `a divisor of ${ids.shape[0]}, the dimension 0 of ids`)
    .elementsTogether("matrices", "b", "ids")
    .layout(matrices.strides[0] <= matrices.strides[1], "matrices", "matrices that aren't transposed; use cont() first")
    .build((into) =>
      context.native.lib.ggml_mul_mat_id(into, matrices.unsafePointer, b.unsafePointer, ids.unsafePointer)
    );
}

/**
 * The outer products summed up: `a` [m, k, …] and `b` [n, k, …] of f32 give [m, n, …]. Dimensions 2 and 3 of `b` are multiples of those of `a`, and the
 * same where `a` isn't of f32.
 *
 * Throws as {@linkcode mulMat} does. C: `ggml_out_prod`.
 */
export function outProd(context: GgmlContext, a: Tensor, b: Tensor): Tensor {
  const { readable } = cpuTypes(context);
  const checked = check("outProd", context, { a, b })
    .type("a", "f32", "f16", ...readable.filter((type) => isQuantized(type))).type("b", "f32")
    .dimension("b", 1, a.shape[1], "as a has")
    .repeats("a", "b", 2, 3)
    .elementsTogether("a")
    .layout(a.strides[0] <= a.strides[1], "a", "a matrix that isn't transposed; use cont() first");
  if (a.type !== "f32") checked.dimension("b", 2, a.shape[2], "as a has").dimension("b", 3, a.shape[3], "as a has");
  return checked.build((into) => context.native.lib.ggml_out_prod(into, a.unsafePointer, b.unsafePointer));
}

/** Precision of a product's sums. C: `enum ggml_prec`. */
export type Precision = "default" | "f32";

const precisions: Readonly<Record<Precision, ggml_prec>> = {
  default: ggml_prec.GGML_PREC_UNDEFINED,
  f32: ggml_prec.GGML_PREC_F32,
};

function assertOp(op: string, a: Tensor, ...allowed: readonly ggml_op[]): void {
  shapeOf(op, "a", a);
  if (allowed.includes(a.struct.op)) return;
  throw new InvalidArgumentError(`${op}: the tensor is the result of ${a.op}; it takes that of another operator`, {
    value: a.op,
    expected: allowed.map((one) => Object.entries(ggml_op).find(([, value]) => value === one)?.[0]).join(" or "),
  });
}

/**
 * Asks for sums in f32, or for what the backend thinks best, in the result of {@linkcode mulMat}, {@linkcode mulMatId} or `flashAttention`. Gives that
 * tensor. Throws InvalidArgumentError for another tensor. C: `ggml_prec_set_acc`.
 */
export function setPrecision(a: Tensor, precision: Precision): Tensor {
  checkOneOf("precision", precision, ["default", "f32"]);
  const { GGML_OP_MUL_MAT, GGML_OP_MUL_MAT_ID, GGML_OP_FLASH_ATTN_EXT } = ggml_op;
  assertOp("setPrecision", a, GGML_OP_MUL_MAT, GGML_OP_MUL_MAT_ID, GGML_OP_FLASH_ATTN_EXT);
  a.native.lib.ggml_prec_set_acc(a.unsafePointer, precisions[precision]);
  return a;
}

/**
 * Asks that the second operand of {@linkcode mulMat} or {@linkcode mulMatId} isn't made coarser than f32. Gives that tensor. Throws InvalidArgumentError
 * for another tensor. C: `ggml_prec_set_src`.
 */
export function setOperandPrecision(a: Tensor, precision: Precision): Tensor {
  checkOneOf("precision", precision, ["default", "f32"]);
  assertOp("setOperandPrecision", a, ggml_op.GGML_OP_MUL_MAT, ggml_op.GGML_OP_MUL_MAT_ID);
  a.native.lib.ggml_prec_set_src(a.unsafePointer, precisions[precision], 1);
  return a;
}

/**
 * Says that the first operand of a {@linkcode mulMat} is a Hadamard matrix, so that a fast transform may be used; its side must be a power of two and
 * both operands of f32. Gives that tensor. Throws InvalidArgumentError for another tensor. C: `ggml_mul_mat_set_hint`.
 */
export function hintHadamard(a: Tensor): Tensor {
  assertOp("hintHadamard", a, ggml_op.GGML_OP_MUL_MAT);
  const [matrix, other] = a.sources;
  const side = matrix?.shape[0] ?? 0;
  const fine = matrix?.type === "f32" && other?.type === "f32" && matrix.shape[1] === side &&
    (side & (side - 1)) === 0 &&
    matrix.shape[2] === 1 && matrix.shape[3] === 1 && other.isContiguous;
  if (!fine) {
    throw new InvalidArgumentError(
      "hintHadamard: the first operand isn't a square f32 matrix with a power of two as its side",
      {
        value: matrix?.shape,
        expected: "a square f32 matrix whose side is a power of two, and a contiguous f32 operand",
      },
    );
  }
  a.native.lib.ggml_mul_mat_set_hint(a.unsafePointer, ggml_op_hint.GGML_HINT_SRC0_IS_HADAMARD);
  return a;
}

/** Square matrices with a row of `a` on their diagonals: [n, 1, …] gives [n, n, …]; f32. Throws TensorShapeError, TensorTypeError. C: `ggml_diag`. */
export function diag(context: GgmlContext, a: Tensor): Tensor {
  const checked = check("diag", context, { a }).type("a", "f32").dimension("a", 1, 1).elementsTogether("a");
  checked.result([a.shape[0], a.shape[0], a.shape[2], a.shape[3]], "f32");
  return checked.build((into) => context.native.lib.ggml_diag(into, a.unsafePointer));
}

/** The part that {@linkcode tri} keeps. C: `enum ggml_tri_type`. */
export type Triangle = "upperWithDiagonal" | "upper" | "lowerWithDiagonal" | "lower";

const triangles: Readonly<Record<Triangle, ggml_tri_type>> = {
  upperWithDiagonal: ggml_tri_type.GGML_TRI_TYPE_UPPER_DIAG,
  upper: ggml_tri_type.GGML_TRI_TYPE_UPPER,
  lowerWithDiagonal: ggml_tri_type.GGML_TRI_TYPE_LOWER_DIAG,
  lower: ggml_tri_type.GGML_TRI_TYPE_LOWER,
};

/** A triangle of each square matrix, 0 elsewhere; f32, contiguous. Throws TensorShapeError, TensorTypeError, TensorLayoutError. C: `ggml_tri`. */
export function tri(context: GgmlContext, a: Tensor, triangle: Triangle): Tensor {
  const type = triangles[checkOneOf("tri: triangle", triangle, Object.keys(triangles) as Triangle[])];
  return check("tri", context, { a })
    .type("a", "f32").dimension("a", 1, a.shape[0], "as its dimension 0").contiguous("a")
    .build((into) => context.native.lib.ggml_tri(into, a.unsafePointer, type));
}

/**
 * Solves `a x = b`, where `a` [n, n, …] is lower triangular without zeros on its diagonal and `b` is [m, n, …]; both f32 and contiguous. Upper triangles,
 * `x a = b` and unit diagonals aren't there in ggml yet.
 *
 * Throws TensorShapeError, TensorTypeError, TensorLayoutError. C: `ggml_solve_tri`.
 */
export function solveTri(context: GgmlContext, a: Tensor, b: Tensor): Tensor {
  const [n0, , n2, n3] = shapeOf("solveTri", "a", a);
  return check("solveTri", context, { a, b })
    .type("a", "f32").type("b", "f32")
    .dimension("a", 1, n0, "as its dimension 0")
    .shape("b", [undefined, n0, n2, n3], "as a has")
    .contiguous("a", "b")
    .build((into) => context.native.lib.ggml_solve_tri(into, a.unsafePointer, b.unsafePointer, true, true, false));
}

/** −∞ above the diagonal that `past` columns to the right begins; f32, contiguous. Throws TensorTypeError, TensorLayoutError. C: `ggml_diag_mask_inf`. */
export function diagMaskInf(context: GgmlContext, a: Tensor, past: number, options?: InPlaceOptions): Tensor {
  const inPlace = wantsInPlace("diagMaskInf", options);
  const checked = check("diagMaskInf", context, { a }).type("a", "f32").contiguous("a");
  const count = checked.integer("past", past, { min: 0, max: INT_MAX });
  const lib = libOf(context);
  return checked.build((into) =>
    inPlace
      ? lib.ggml_diag_mask_inf_inplace(into, a.unsafePointer, count)
      : lib.ggml_diag_mask_inf(into, a.unsafePointer, count)
  );
}

/** 0 above the diagonal, as {@linkcode diagMaskInf}. C: `ggml_diag_mask_zero`. */
export function diagMaskZero(context: GgmlContext, a: Tensor, past: number, options?: InPlaceOptions): Tensor {
  const inPlace = wantsInPlace("diagMaskZero", options);
  const checked = check("diagMaskZero", context, { a }).type("a", "f32").contiguous("a");
  const count = checked.integer("past", past, { min: 0, max: INT_MAX });
  const lib = libOf(context);
  return checked.build((into) =>
    inPlace
      ? lib.ggml_diag_mask_zero_inplace(into, a.unsafePointer, count)
      : lib.ggml_diag_mask_zero(into, a.unsafePointer, count)
  );
}
