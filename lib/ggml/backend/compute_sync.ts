import { bufferAt, type BufferHandle } from "./buffers_in_use.ts";
import { tensorsOf } from "./scheduled_graph.ts";
import { retainAll } from "../tensor/handle.ts";
import { integer, options, type RulesOf } from "../../../base/options.ts";
import { ggml_status, type Native, type Pointer } from "../../../ffi/mod.ts";
import { allocate } from "../tensor/allocate.ts";
import { isCustom } from "./graph_check.ts";
import { BackendError, InvalidArgumentError, UnsupportedOperationError } from "../../errors.ts";
import { brands } from "../brands.ts";
import { GraphError } from "../tensor/errors.ts";
import type { Graph } from "../graph/graph.ts";
import { guardIndices } from "../indices/guard.ts";
import { computeParts, splitGraph } from "../indices/parts.ts";
import { collectThrown } from "../ops/custom.ts";
import { dataOf, isOnHost } from "../tensor/view.ts";

/** Options of {@linkcode computeSync}. */
export interface ComputeSyncOptions {
  /** Threads that compute. Default 1, which graphs with custom operators need: only the caller's thread may call those. C: `n_threads`. */
  threads?: number | undefined;
}

/**
 * Computes a graph with the CPU's kernels on the caller's thread, which it blocks: for small graphs, and for custom operators in TypeScript, which only
 * this thread may call. Everything larger belongs on a backend.
 *
 * Throws BackendError when it fails, NotAllocatedError when a tensor has no memory, InvalidArgumentError for an index outside of its tensor or several
 * threads for a graph with custom operators, and what the function of a custom operator throws. C: `ggml_graph_plan`, `ggml_graph_compute`.
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
  // An operator may dispose what the others still read.
  const releases = retainAll(() => graph.retain(), () => retainBuffers(graph));
  computing.add(graph);
  try {
    compute(graph, threads);
  } finally {
    computing.delete(graph);
    releases.forEach((release) => release());
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
  if (threads > 1) assertNoCustom(graph, threads);
  assertAllocated(graph);
  const guard = guardIndices(graph, { freeze: true });
  const { parts, release } = splitGraph(graph, guard.computed);
  try {
    const status = computeParts(native, parts, (part) => computePart(native, part, threads)) as ggml_status;
    if (status === ggml_status.GGML_STATUS_SUCCESS) return;
    throw new BackendError(`the computation failed: ${native.readCString(native.lib.ggml_status_to_string(status))}`, {
      value: status,
      expected: "success",
    });
  } finally {
    release();
    guard.release();
  }
}

function computePart(native: Native, graph: Pointer<"ggml_cgraph">, threads: number): number {
  const plan = native.lib.ggml_graph_plan(graph, threads, null);
  const work = allocate(native, Math.max(Number(plan.work_size), 1), "the computation");
  native.assign(plan, { work_data: work });
  const { status, errors } = collectThrown(() => native.lib.ggml_graph_compute(graph, plan));
  if (errors.length > 0) throw errors[0];
  return status;
}

function retainBuffers(graph: Graph): () => void {
  const { native } = graph;
  const owners = new Set<BufferHandle>();
  for (const tensor of tensorsOf(native, graph)) {
    const { buffer } = native.structAt("ggml_tensor", tensor);
    const owner = buffer === null ? undefined : bufferAt(buffer);
    if (owner !== undefined) owners.add(owner);
  }
  const releases = retainAll(...[...owners].map((owner) => () => owner.retain()));
  return () => releases.forEach((release) => release());
}

/** ggml calls a custom operator on each of the threads. */
function assertNoCustom(graph: Graph, threads: number): void {
  const found = graph.nodes.find(({ struct }) => isCustom(struct.op));
  if (found === undefined) return;
  throw new InvalidArgumentError(
    `threads is ${threads}, and ${found.label} is an operator in TypeScript, which this thread alone may call; leave threads out`,
    { value: threads, expected: "1" },
  );
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
