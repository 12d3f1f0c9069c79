import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { ComputedUse } from "../indices/trace.ts";
import { bytesOf, checkIndexValues, type IndexUse } from "../indices/values.ts";

/** Indices that can be checked once a node was computed. Plain data. */
export interface NodeCheck extends IndexUse {
  /** The node before the one that uses them. */
  readonly after: Pointer<"ggml_tensor">;
}

/** Nodes that are shown as they are computed. */
export interface ShownNodes {
  /** The nodes. */
  readonly nodes: ReadonlySet<bigint>;
  /** Shows one; `false` stops the computation. */
  show(this: void, node: Pointer<"ggml_tensor">): boolean;
}

/** The handling of nodes as they are computed. */
export interface NodeWork {
  /** Indices to be checked. */
  readonly checks: readonly NodeCheck[];
  /** Nodes to be shown. */
  readonly shown: ShownNodes | undefined;
}

/** Returns the checks of indices that a graph computes itself, where it is computed by a scheduler. */
export function nodeChecks(nodes: readonly Pointer<"ggml_tensor">[], computed: readonly ComputedUse[]): NodeCheck[] {
  return computed.map(({ at, ...use }) => ({ ...use, after: nodes[at - 1] ?? use.node }));
}

/** Computes with a scheduler. Throws InvalidArgumentError for an index out of range. */
export function withNodeCallback(
  native: Native,
  scheduler: Pointer<"ggml_backend_sched">,
  { checks, shown }: NodeWork,
  compute: () => number,
): number {
  if (checks.length === 0 && shown === undefined) return compute();
  const { lib } = native;
  const checked = new Set<bigint>(checks.map(({ after }) => after));
  let failure: { readonly error: unknown } | undefined;
  let stopped = false;
  const check = (node: Pointer<"ggml_tensor">): void => {
    for (const use of checks) if (use.after === node) checkOne(native, use, (error) => failure ??= { error });
  };
  using callback = native.callback("ggml_backend_sched_eval_callback", (node, ask) => {
    if (node === null) return true;
    // Once stopped, each part of the graph is left at its first node.
    if (ask) return stopped || checked.has(node) || shown?.nodes.has(node) === true;
    check(node);
    if (failure !== undefined || (!stopped && shown?.nodes.has(node) === true && !shown.show(node))) stopped = true;
    return !stopped;
  });
  lib.ggml_backend_sched_set_eval_callback(scheduler, callback.pointer, null);
  try {
    const status = compute();
    if (failure !== undefined) throw failure.error;
    return status;
  } finally {
    lib.ggml_backend_sched_set_eval_callback(scheduler, null, null);
  }
}

function checkOne(native: Native, use: NodeCheck, refuse: (error: unknown) => void): void {
  try {
    checkIndexValues(native, use, bytesOf(native, use.operand));
  } catch (error) {
    refuse(error);
    // The first node of each part that is left is computed all the same.
    native.lib.ggml_backend_tensor_memset(use.operand, 0, 0n, native.lib.ggml_nbytes(use.operand));
  }
}
