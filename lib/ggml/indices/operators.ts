import { ggml_op } from "../../../ffi/mod.ts";

/** An operand that holds indices. */
export interface IndexedOperand {
  /** Its place among the operands. */
  readonly slot: number;
  /** The operand into which they point. */
  readonly into: number;
  /** The dimension of it that they count. */
  readonly dimension: number;
  /** They point into the result itself. */
  readonly own?: boolean;
}

/** The operators that have indices among their operands. */
export const indexedOperands: ReadonlyMap<number, IndexedOperand> = new Map([
  [ggml_op.GGML_OP_GET_ROWS, { slot: 1, into: 0, dimension: 1 }],
  [ggml_op.GGML_OP_GET_ROWS_BACK, { slot: 1, into: 0, dimension: 1, own: true }],
  [ggml_op.GGML_OP_SET_ROWS, { slot: 1, into: 0, dimension: 1, own: true }],
  [ggml_op.GGML_OP_MUL_MAT_ID, { slot: 2, into: 0, dimension: 2 }],
  [ggml_op.GGML_OP_ADD_ID, { slot: 2, into: 1, dimension: 1 }],
  [ggml_op.GGML_OP_SSM_SCAN, { slot: 6, into: 0, dimension: 3 }],
]);

/** Operators that compute nothing: their results show the numbers of their first operand. */
export const SHOWING: ReadonlySet<number> = new Set([
  ggml_op.GGML_OP_RESHAPE,
  ggml_op.GGML_OP_VIEW,
  ggml_op.GGML_OP_PERMUTE,
  ggml_op.GGML_OP_TRANSPOSE,
]);

/** Operators whose results are places in a row of their first operand. */
export const PLACES: ReadonlySet<number> = new Set([
  ggml_op.GGML_OP_ARGSORT,
  ggml_op.GGML_OP_TOP_K,
  ggml_op.GGML_OP_ARGMAX,
]);

/** Operators whose results have no numbers but those of these operands, where the types are the same. */
export const COPYING: ReadonlyMap<number, readonly number[]> = new Map([
  [ggml_op.GGML_OP_CONT, [0]],
  [ggml_op.GGML_OP_DUP, [0]],
  [ggml_op.GGML_OP_CPY, [0]],
  [ggml_op.GGML_OP_REPEAT, [0]],
  [ggml_op.GGML_OP_GET_ROWS, [0]],
  [ggml_op.GGML_OP_CONCAT, [0, 1]],
]);
