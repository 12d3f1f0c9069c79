import { ggml_op, type Native, type Pointer } from "../../../ffi/mod.ts";
import { brands } from "../brands.ts";
import type { GraphReference } from "../tensor/references.ts";
import { bytesOf, checkIndexValues, type IndexUse } from "./values.ts";

type TensorPointer = Pointer<"ggml_tensor">;

/** A copy of the tensor that holds indices, put among a node's operands while the node is computed. */
interface FrozenOperand {
  readonly copy: TensorPointer;
  readonly original: TensorPointer;
  readonly values: Uint8Array<ArrayBuffer>;
  /** Computations that use it now. */
  users: number;
}

/** The copies in use, by node and place. */
const frozen = new Map<string, FrozenOperand>();

/** The originals of the copies in use. */
const originals = new Map<TensorPointer, TensorPointer>();

/** The tensor that a computation under way has replaced by a copy; else the tensor itself. */
export function originalOf(pointer: TensorPointer): TensorPointer {
  return originals.get(pointer) ?? pointer;
}

/**
 * Copies the indices of a use, checks the copy, and lets the node read that one until the returned function is called: the program may have the original's
 * memory in its hands. Throws InvalidArgumentError for an index out of range.
 */
export function freezeIndices(graph: GraphReference, use: IndexUse): () => void {
  const { native } = graph;
  const key = `${use.node}:${use.slot}`;
  const known = frozen.get(key);
  if (known === undefined) {
    const made = makeCopy(native, use);
    checkIndexValues(native, use, made.values);
    keep(graph, made);
    frozen.set(key, made);
    originals.set(made.copy, made.original);
    setOperand(native, use, made.copy);
  } else {
    checkIndexValues(native, use, known.values);
    known.users++;
  }
  return () => {
    const one = frozen.get(key);
    if (one === undefined || --one.users > 0) return;
    frozen.delete(key);
    originals.delete(one.copy);
    setOperand(native, use, one.original);
  };
}

function setOperand(native: Native, { node, slot }: IndexUse, operand: TensorPointer): void {
  native.structAt("ggml_tensor", node).src[slot] = operand;
}

/** A tensor of the same type, shape and strides that is a view of nothing, in memory of JavaScript. */
function makeCopy(native: Native, { operand }: IndexUse): FrozenOperand {
  const bytes = bytesOf(native, operand);
  const memory = native.allocate(TENSOR_BYTES + bytes.length, ALIGNMENT);
  const values = memory.subarray(TENSOR_BYTES);
  values.set(bytes);
  memory.set(native.bytesOf(native.structAt("ggml_tensor", operand)));
  const copy = native.addressOf<"ggml_tensor">(memory);
  const tensor = native.structAt("ggml_tensor", copy);
  tensor.src.fill(0n);
  tensor.op = ggml_op.GGML_OP_NONE;
  tensor.view_src = null;
  tensor.view_offs = 0n;
  tensor.buffer = null;
  tensor.data = native.offset(copy, TENSOR_BYTES);
  return { copy, original: operand, values, users: 1 };
}

const ALIGNMENT = 64;

/** The size of `struct ggml_tensor`, rounded up. */
const TENSOR_BYTES = 384;

/** A graph that is made of the node meanwhile finds the copy among its leaves: it stays in memory as long as the node's own graph. */
function keep(graph: GraphReference, made: object): void {
  if (brands.graph.has(graph)) brands.context.of(graph.context).keepMemory(made);
}
