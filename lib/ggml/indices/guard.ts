import type { Native, Pointer } from "../../../ffi/mod.ts";
import { UnsupportedOperationError } from "../../errors.ts";
import { retainAll } from "../tensor/handle.ts";
import type { GraphReference } from "../tensor/references.ts";
import { freezeIndices, originalOf } from "./freeze.ts";
import { lockIndices } from "./lock.ts";
import { rangeOf, spaceOf } from "./range.ts";
import { type ComputedUse, type OperandOf, traceIndices } from "./trace.ts";
import { bytesOf, checkIndexValues, type IndexUse } from "./values.ts";

/** How indices are guarded. */
export interface GuardOptions {
  /** Whether a copy of them may be computed with: the kernels are the CPU's. */
  readonly freeze: boolean;
  /** Returns an operand of a node; default: the one that it has. */
  readonly operandOf?: OperandOf | undefined;
}

/** Indices that were checked and stay as they are. */
export interface IndexGuard {
  /** Those that the graph computes, to be checked on the way. */
  readonly computed: readonly ComputedUse[];
  /** The nodes of the graph. */
  readonly nodes: readonly Pointer<"ggml_tensor">[];
  /** Ends it. */
  release(this: void): void;
}

/** Functions that wait for the writes that a backend has begun. */
const unsettled = new Set<() => void>();

/** Notes that a backend has begun to write; the function waits for it, and is dropped by {@linkcode settleWrites} or by the caller. */
export function addUnsettled(wait: () => void): void {
  unsettled.add(wait);
}

/** Forgets what {@linkcode addUnsettled} noted. */
export function dropUnsettled(wait: () => void): void {
  unsettled.delete(wait);
}

/**
 * Checks the indices that a graph is given and keeps them as they are until they are released: those in the processor's memory are copied, since the program
 * may hold that memory, and writes to the others are refused. ggml aborts for an index outside of its tensor, or reads and writes there.
 * Throws InvalidArgumentError, GraphError.
 */
export function guardIndices(graph: GraphReference, options: GuardOptions): IndexGuard {
  const { native } = graph;
  const { inputs, computed, nodes } = traceIndices(graph, options.operandOf ?? ownOperand(native));
  if (inputs.length > 0) { for (const wait of [...unsettled]) wait(); }
  const ranges = inputs.map(({ operand }) => rangeOf(native, operand)).filter((range) => range !== undefined);
  const releases = retainAll(
    () => lockIndices(ranges),
    ...inputs.map((use) => () => guardUse(graph, use, options.freeze)),
  );
  return { computed, nodes, release: () => releases.forEach((release) => release()) };
}

function guardUse(graph: GraphReference, use: IndexUse, freeze: boolean): () => void {
  const { native } = graph;
  const { data, buffer } = native.structAt("ggml_tensor", use.operand);
  if (data === null) return () => {};
  const isReplaced = originalOf(native.structAt("ggml_tensor", use.node).src[use.slot] as Pointer<"ggml_tensor">) !==
    use.operand;
  if (freeze && !isReplaced && spaceOf(native, buffer) === 0n) return freezeIndices(graph, use);
  checkIndexValues(native, use, bytesOf(native, use.operand));
  return () => {};
}

/** The operands that nodes have by themselves. */
export function ownOperand(native: Native): OperandOf {
  return (node, slot) => originalOf(native.structAt("ggml_tensor", node).src[slot] as Pointer<"ggml_tensor">);
}

/** Throws UnsupportedOperationError for indices that can't be checked where a graph is computed as a whole. */
export function refuseComputed(native: Native, computed: readonly ComputedUse[]): void {
  const [first] = computed;
  if (first === undefined) return;
  const name = native.readCString(native.lib.ggml_get_name(first.operand));
  throw new UnsupportedOperationError(
    `the graph computes the indices "${name}" in a way that may give any number; use compute, which checks them on the way`,
    { value: name, expected: "indices that are given, sorted or counted" },
  );
}
