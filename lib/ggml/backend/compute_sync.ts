import { integer, options, type RulesOf } from "../../../base/options.ts";
import { ggml_status } from "../../../ffi/mod.ts";
import { BackendError, UnsupportedOperationError } from "../../errors.ts";
import { brands } from "../brands.ts";
import { GraphError } from "../tensor/errors.ts";
import type { Graph } from "../graph/graph.ts";
import { lockIndices } from "../tensor/index_lock.ts";
import { checkIndices } from "./index_check.ts";
import { collectThrown } from "../ops/custom.ts";
import { dataOf, isOnHost } from "../tensor/view.ts";

/** Options of {@linkcode computeSync}. */
export interface ComputeSyncOptions {
  /** Threads that compute. Default 1. C: `n_threads`. */
  threads?: number | undefined;
}

/**
 * Computes a graph with the CPU's kernels on the caller's thread, which it blocks: for small graphs, and for custom operators in TypeScript, which only
 * this thread may call. Everything larger belongs on a backend.
 *
 * Throws BackendError when it fails, NotAllocatedError when a tensor has no memory, InvalidArgumentError for an index outside of its tensor, and what the
 * function of a custom operator throws. C: `ggml_graph_plan`, `ggml_graph_compute`.
 */
export function computeSync(graph: Graph, options?: ComputeSyncOptions): void {
  const { threads } = computeSpec.check(options);
  brands.graph.check("graph", graph).assertAlive();
  if (computing.has(graph)) {
    throw new GraphError(
      "the graph is being computed, and this is called by one of its operators; compute another one",
      {
        value: "computing",
        expected: "a graph that isn't being computed",
      },
    );
  }
  const release = graph.retain();
  computing.add(graph);
  try {
    compute(graph, threads);
  } finally {
    computing.delete(graph);
    release();
  }
}

const computeSpec = options(
  "computeSync",
  {
    threads: integer({ min: 1, max: navigator.hardwareConcurrency, default: 1 }),
  } satisfies RulesOf<ComputeSyncOptions>,
);

/** The graphs that are being computed on this thread. */
const computing = new WeakSet<Graph>();

function compute(graph: Graph, threads: number): void {
  const { native } = graph;
  const plan = native.lib.ggml_graph_plan(graph.unsafePointer, threads, null);
  const work = native.allocate(Math.max(Number(plan.work_size), 1), 64);
  native.assign(plan, { work_data: work });
  assertAllocated(graph);
  const unlock = lockIndices(checkIndices(graph));
  const { unsafePointer } = graph;
  const { status, errors } = collectThrown(() => {
    try {
      return native.lib.ggml_graph_compute(unsafePointer, plan);
    } finally {
      unlock();
    }
  });
  if (errors.length > 0) throw errors[0];
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
      throw new UnsupportedOperationError(
        `the memory of ${tensor.label} isn't the processor's; compute on its backend`,
        {
          value: tensor.name,
          expected: "a tensor in host memory",
        },
      );
    }
  }
}
