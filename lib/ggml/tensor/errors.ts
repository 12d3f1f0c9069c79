/**
 * The errors of tensor programs: each names the operator, the operand and the dimension that is wrong.
 *
 * @module
 */

import { registerErrors } from "../../../base/error.ts";
import { GgmlError } from "../../../base/errors.ts";

/** A dimension of a tensor isn't what an operator takes; the message says which of which operand. */
export class TensorShapeError extends GgmlError {
  /** `TENSOR_SHAPE`. */
  static override readonly code: string = "TENSOR_SHAPE";
}

/** A tensor has elements of a type that an operator doesn't take. */
export class TensorTypeError extends GgmlError {
  /** `TENSOR_TYPE`. */
  static override readonly code: string = "TENSOR_TYPE";
}

/** A tensor's elements lie in memory in an order that an operator doesn't take: it is transposed, permuted or a view with gaps. */
export class TensorLayoutError extends GgmlError {
  /** `TENSOR_LAYOUT`. */
  static override readonly code: string = "TENSOR_LAYOUT";
}

/** A context has no capacity left for a new tensor or graph. */
export class ContextFullError extends GgmlError {
  /** `CONTEXT_FULL`. */
  static override readonly code: string = "CONTEXT_FULL";
}

/** A graph can't take or do what was asked: it is full, has no gradients, or has a node that can't be differentiated. */
export class GraphError extends GgmlError {
  /** `GRAPH`. */
  static override readonly code: string = "GRAPH";
}

registerErrors(TensorShapeError, TensorTypeError, TensorLayoutError, ContextFullError, GraphError);
