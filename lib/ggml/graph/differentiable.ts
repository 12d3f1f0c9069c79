import { ggml_glu_op, ggml_op, ggml_unary_op } from "../../../ffi/mod.ts";
import type { Graph } from "./graph.ts";
import { hasEvenRows } from "../ops/check.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { GraphError } from "../tensor/errors.ts";

const o = ggml_op;
const u = ggml_unary_op;

/** Operators that ggml can go back through. */
const differentiable: ReadonlySet<number> = new Set([
  o.GGML_OP_NONE,
  o.GGML_OP_DUP,
  o.GGML_OP_ADD,
  o.GGML_OP_ACC,
  o.GGML_OP_SUB,
  o.GGML_OP_MUL,
  o.GGML_OP_DIV,
  o.GGML_OP_SQR,
  o.GGML_OP_SQRT,
  o.GGML_OP_LOG,
  o.GGML_OP_SIN,
  o.GGML_OP_COS,
  o.GGML_OP_SUM,
  o.GGML_OP_SUM_ROWS,
  o.GGML_OP_MEAN,
  o.GGML_OP_REPEAT,
  o.GGML_OP_REPEAT_BACK,
  o.GGML_OP_RMS_NORM,
  o.GGML_OP_MUL_MAT,
  o.GGML_OP_SCALE,
  o.GGML_OP_SET,
  o.GGML_OP_CPY,
  o.GGML_OP_CONT,
  o.GGML_OP_RESHAPE,
  o.GGML_OP_VIEW,
  o.GGML_OP_PERMUTE,
  o.GGML_OP_TRANSPOSE,
  o.GGML_OP_GET_ROWS,
  o.GGML_OP_DIAG_MASK_INF,
  o.GGML_OP_DIAG_MASK_ZERO,
  o.GGML_OP_SOFT_MAX,
  o.GGML_OP_ROPE,
  o.GGML_OP_IM2COL,
  o.GGML_OP_POOL_2D,
  o.GGML_OP_UNARY,
  o.GGML_OP_CROSS_ENTROPY_LOSS,
  o.GGML_OP_GLU,
]);

const differentiableUnary: ReadonlySet<number> = new Set([
  u.GGML_UNARY_OP_ABS,
  u.GGML_UNARY_OP_SGN,
  u.GGML_UNARY_OP_NEG,
  u.GGML_UNARY_OP_STEP,
  u.GGML_UNARY_OP_RELU,
  u.GGML_UNARY_OP_SILU,
  u.GGML_UNARY_OP_EXP,
  u.GGML_UNARY_OP_EXPM1,
  u.GGML_UNARY_OP_SOFTPLUS,
]);

/** Views that may stand in a graph that is gone back through; other operators in place may not. */
const views: ReadonlySet<number> = new Set([
  o.GGML_OP_CPY,
  o.GGML_OP_SET_ROWS,
  o.GGML_OP_VIEW,
  o.GGML_OP_RESHAPE,
  o.GGML_OP_PERMUTE,
  o.GGML_OP_TRANSPOSE,
]);

/** Operators that take a gradient whose elements don't lie one after another. */
const takesPermuted: ReadonlySet<number> = new Set([
  o.GGML_OP_NONE,
  o.GGML_OP_RESHAPE,
  o.GGML_OP_PERMUTE,
  o.GGML_OP_TRANSPOSE,
  o.GGML_OP_MUL_MAT,
  o.GGML_OP_DUP,
  o.GGML_OP_ADD,
]);

/** The operands of a node that need no gradients. */
function ignored(node: Tensor): number | undefined {
  switch (node.struct.op) {
    case o.GGML_OP_IM2COL:
    case o.GGML_OP_IM2COL_BACK:
      return 0;
    case o.GGML_OP_UNARY: {
      const [op] = node.struct.op_params;
      return op === u.GGML_UNARY_OP_SGN || op === u.GGML_UNARY_OP_STEP ? 0 : undefined;
    }
    case o.GGML_OP_CPY:
    case o.GGML_OP_GET_ROWS:
    case o.GGML_OP_GET_ROWS_BACK:
    case o.GGML_OP_ROPE:
      return 1;
    default:
      return undefined;
  }
}

function refuse(node: Tensor, why: string): never {
  throw new GraphError(`there is no gradient through ${node.opDescription} (${node.label}): ${why}`, {
    value: node.opDescription,
    expected: "operators that have a backward pass",
  });
}

const sameShape = (a: Tensor, b: Tensor): boolean => a.shape.every((size, index) => size === b.shape[index as 0]);
const sameBatch = (a: Tensor, b: Tensor): boolean => a.shape[2] === b.shape[2] && a.shape[3] === b.shape[3];

/** The tensors of a graph that get gradients, and what contributes to them. */
class Gradients {
  readonly #needed = new Map<bigint, Tensor>();
  /** Number of gradients that arrive at each, and whether one of them isn't contiguous. */
  readonly #arrivals = new Map<bigint, { count: number; permuted: boolean }>();
  readonly #accumulates: boolean;

  constructor(accumulates: boolean) {
    this.#accumulates = accumulates;
  }

  needs(tensor: Tensor | undefined): tensor is Tensor {
    return tensor !== undefined && this.#needed.has(tensor.unsafePointer);
  }

  /** Notes whether a node needs a gradient: because it is marked, or because an operand of it does. */
  note(node: Tensor): void {
    if (node.type === "i32") return;
    const without = ignored(node);
    const sources = node.sources.filter((source, index) => index !== without && this.needs(source));
    const marked = node.flags.includes("param") || node.flags.includes("loss");
    if (!marked && sources.length === 0) return;
    const { view_src, op } = node.struct;
    if (view_src !== null && !views.has(op)) refuse(node, "it works in place; leave inPlace out");
    if (node.type !== "f32") refuse(node, `it is of type ${node.type}, and gradients are of f32`);
    this.#needed.set(node.unsafePointer, node);
  }

  /** Notes that a gradient arrives at an operand. */
  arrive(at: Tensor, permuted: boolean): void {
    const { count, permuted: before } = this.#arrivals.get(at.unsafePointer) ?? { count: 0, permuted: false };
    this.#arrivals.set(at.unsafePointer, { count: count + 1, permuted: before || permuted });
  }

  /** Whether the sum of what arrived isn't contiguous. */
  permutedAt(node: Tensor): boolean {
    const { count = 0, permuted = false } = this.#arrivals.get(node.unsafePointer) ?? {};
    const own = this.#accumulates && node.flags.includes("param") ? 1 : 0;
    if (permuted && count > 1 && own === 0) {
      refuse(
        node,
        "gradients of several uses arrive at it, one of them permuted; put cont() behind its transpose or permute",
      );
    }
    return permuted && own === 0;
  }

  arrivals(node: Tensor): number {
    return (this.#arrivals.get(node.unsafePointer)?.count ?? 0) +
      (this.#accumulates && node.flags.includes("param") ? 1 : 0);
  }
}

/**
 * Throws GraphError when ggml can't go back through a graph, where it would abort: no parameter, no loss, an operator without a backward pass, one that
 * works in place, a gradient in an order that the next operator doesn't take.
 */
export function checkDifferentiable(graph: Graph, accumulates: boolean): void {
  const { nodes } = graph;
  if (!nodes.some(({ flags }) => flags.includes("param"))) {
    throw new GraphError("the graph has no parameter; mark one by setParam() before forward()", {
      expected: "a parameter",
    });
  }
  if (!nodes.some(({ flags }) => flags.includes("loss"))) {
    throw new GraphError("the graph has no loss; mark one by setLoss()", { expected: "a loss" });
  }
  const gradients = new Gradients(accumulates);
  for (const node of nodes) gradients.note(node);
  for (const node of nodes.toReversed()) {
    if (gradients.needs(node)) checkNode(node, gradients);
  }
}

function checkNode(node: Tensor, gradients: Gradients): void {
  const { op, op_params } = node.struct;
  if (!differentiable.has(op)) refuse(node, "ggml has none for this operator");
  const [first = 0] = op_params;
  if (op === o.GGML_OP_UNARY && !differentiableUnary.has(first)) refuse(node, "ggml has none for this function");
  const permuted = gradients.permutedAt(node);
  if (permuted && !takesPermuted.has(op)) {
    refuse(node, "its gradient arrives permuted; put cont() behind the transpose or permute that follows it");
  }
  const [a, b, c] = node.sources;
  const [needsA, needsB] = [gradients.needs(a), gradients.needs(b)];
  if (needsA && a !== undefined) checkFirst(node, a, b, gradients);
  if (needsB && a !== undefined && b !== undefined) checkSecond(node, a, b, permuted);
  if (gradients.needs(c)) refuse(node, "its third operand has none");
  if (needsA && a !== undefined && a.unsafePointer !== undefined) gradients.arrive(a, arrivesPermuted(node, permuted));
  if (needsB && b !== undefined && ignored(node) !== 1) gradients.arrive(b, op === o.GGML_OP_ADD && permuted);
}

/** Whether the gradient of a node's first operand isn't contiguous. */
function arrivesPermuted(node: Tensor, permuted: boolean): boolean {
  switch (node.struct.op) {
    case o.GGML_OP_PERMUTE:
    case o.GGML_OP_TRANSPOSE:
      return true;
    case o.GGML_OP_DUP:
    case o.GGML_OP_ADD:
      return permuted;
    default:
      return false;
  }
}

/** Requirements of the first operand's gradient. */
function checkFirst(node: Tensor, a: Tensor, b: Tensor | undefined, gradients: Gradients): void {
  switch (node.struct.op) {
    case o.GGML_OP_MUL_MAT:
      if (b !== undefined && !sameBatch(a, b) && b.shape[3] !== 1) {
        refuse(node, "its first operand is repeated along dimension 3");
      }
      if (b !== undefined && b.type !== "f32" && !sameBatch(a, b)) {
        refuse(node, `its second operand is of ${b.type} and the first is repeated`);
      }
      break;
    case o.GGML_OP_MEAN:
      if (node.elementCount > 1 && gradients.arrivals(a) > 0) {
        refuse(node, "its operand has other uses; take sumRows() and scale()");
      }
      break;
    case o.GGML_OP_SOFT_MAX:
      if (new Float32Array(node.struct.op_params.slice(1, 2).buffer)[0] !== 0) refuse(node, "it has ALiBi (maxBias)");
      break;
    case o.GGML_OP_GLU:
      if (node.struct.op_params[0] !== ggml_glu_op.GGML_GLU_OP_SWIGLU || b === undefined) {
        refuse(node, "only swiglu with a gate of its own has one");
      }
      break;
    case o.GGML_OP_VIEW:
      if (!a.isContiguous || !hasEvenRows(a)) refuse(node, "it is a view of a tensor that isn't contiguous");
      break;
    case o.GGML_OP_GET_ROWS:
      if (a.dimensions > 2) refuse(node, "its operand has more than two dimensions");
      break;
    default:
      break;
  }
}

/** Requirements of the second operand's gradient. */
function checkSecond(node: Tensor, a: Tensor, b: Tensor, permuted: boolean): void {
  const same = sameShape(a, b);
  switch (node.struct.op) {
    case o.GGML_OP_ADD:
    case o.GGML_OP_MUL:
      if (!same && permuted) {
        refuse(node, "its second operand is repeated and the gradient arrives permuted; put cont() behind");
      }
      break;
    case o.GGML_OP_SUB:
    case o.GGML_OP_DIV:
      if (!same) refuse(node, "its second operand is repeated; repeat() it first");
      break;
    case o.GGML_OP_MUL_MAT:
      if (a.type !== "f32" && (a.type === "bf16" || !sameBatch(a, b))) {
        refuse(node, `its first operand is of ${a.type}`);
      }
      break;
    case o.GGML_OP_SOFT_MAX:
    case o.GGML_OP_CROSS_ENTROPY_LOSS:
      refuse(node, "its second operand has none");
      break;
    case o.GGML_OP_ROPE:
    case o.GGML_OP_GET_ROWS:
    case o.GGML_OP_CPY:
      break;
    default:
      break;
  }
}
