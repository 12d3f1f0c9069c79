import { ggml_status } from "../../../ffi/mod.ts";
import { BackendError, UnsupportedOperationError } from "../../errors.ts";
import { checkInteger, checkOptions } from "../../support/check.ts";
import type { Graph } from "../graph/graph.ts";
import { checkIndices } from "./index_check.ts";
import { takeThrown } from "../ops/custom.ts";
import { dataOf, isOnHost } from "../tensor/view.ts";

/** How {@linkcode computeSync} computes. */
export interface ComputeSyncOptions {
  /** Threads that compute. Default 1. C: `n_threads`. */
  threads?: number | undefined;
}

/**
 * Computes a graph with the CPU's kernels on the caller's thread, which it holds up: for small graphs, and for custom operators in TypeScript, which only
 * this thread may call. Everything larger belongs on a backend.
 *
 * Throws BackendError when it fails, NotAllocatedError when a tensor has no memory, InvalidArgumentError for an index outside of its tensor, and what the
 * function of a custom operator throws. C: `ggml_graph_plan`, `ggml_graph_compute`.
 */
export function computeSync(graph: Graph, options?: ComputeSyncOptions): void {
  const { threads = 1 } = checkOptions("computeSync", options, ["threads"]);
  const count = checkInteger("threads", threads, { min: 1, max: navigator.hardwareConcurrency });
  const { native } = graph;
  const plan = native.lib.ggml_graph_plan(graph.unsafePointer, count, null);
  const work = native.allocate(Math.max(Number(plan.work_size), 1), 64);
  native.assign(plan, { work_data: work });
  assertAllocated(graph);
  checkIndices(graph);
  takeThrown();
  const status = native.lib.ggml_graph_compute(graph.unsafePointer, plan);
  const [error] = takeThrown();
  if (error !== undefined) throw error;
  if (status === ggml_status.GGML_STATUS_SUCCESS) return;
  throw new BackendError(`the computation failed: ${native.readCString(native.lib.ggml_status_to_string(status))}`, {
    value: status,
    expected: "success",
  });
}

function assertAllocated(graph: Graph): void {
  for (const node of graph.nodes) {
    for (const tensor of [node, ...node.sources]) {
      if (tensor === undefined) continue;
      dataOf(tensor);
      if (isOnHost(tensor)) continue;
      throw new UnsupportedOperationError(`the memory of ${tensor} isn't the processor's; compute on its backend`, {
        value: tensor.name,
        expected: "a tensor in host memory",
      });
    }
  }
}
