import type { Native, Pointer } from "../../../ffi/mod.ts";
import { AllocationError } from "../../errors.ts";
import type { GraphReference } from "../tensor/references.ts";
import type { ComputedUse } from "./trace.ts";
import { bytesOf, checkIndexValues, type IndexUse } from "./values.ts";

/** A part of a graph, and the indices to be checked before it is computed. Plain data. */
export interface GraphPart {
  /** A graph of the part's nodes. */
  readonly graph: Pointer<"ggml_cgraph">;
  /** The indices. */
  readonly checks: readonly IndexUse[];
}

/** The parts of a graph, in order. */
export interface GraphParts {
  /** One at least. */
  readonly parts: readonly GraphPart[];
  /** Frees them. */
  release(this: void): void;
}

/** Cuts a graph before each node whose indices are computed by it. */
export function splitGraph(graph: GraphReference, computed: readonly ComputedUse[]): GraphParts {
  const { native, unsafePointer } = graph;
  if (computed.length === 0) return { parts: [{ graph: unsafePointer, checks: [] }], release: () => {} };
  const { lib } = native;
  const count = lib.ggml_graph_n_nodes(unsafePointer);
  const cuts = [...new Set([0, ...computed.map(({ at }) => at)])].sort((a, b) => a - b);
  const ends = [...cuts.slice(1), count];
  const params = native.struct("ggml_init_params");
  params.mem_size = cuts.map((start, part) => lib.ggml_graph_overhead_custom(sizeOf(start, ends[part]), false))
    .reduce((sum, bytes) => sum + bytes, SPARE_BYTES);
  const context = lib.ggml_init(params);
  if (context === null) throw new AllocationError("there is no memory for the parts of the graph");
  const parts = cuts.map((start, part): GraphPart => {
    const made = lib.ggml_new_graph_custom(context, sizeOf(start, ends[part]), false) as Pointer<"ggml_cgraph">;
    for (let at = start; at < (ends[part] ?? count); at++) {
      lib.ggml_graph_add_node(made, lib.ggml_graph_node(unsafePointer, at));
    }
    return { graph: made, checks: computed.filter(({ at }) => at === start) };
  });
  return { parts, release: () => lib.ggml_free(context) };
}

const SPARE_BYTES = 1024n;

function sizeOf(start: number, end: number | undefined): bigint {
  return BigInt(Math.max((end ?? start) - start, 1));
}

/** Computes parts in order until one fails; returns the last `ggml_status`. Throws InvalidArgumentError for an index out of range. */
export function computeParts(
  native: Native,
  parts: readonly GraphPart[],
  compute: (graph: Pointer<"ggml_cgraph">) => number,
): number {
  let status = 0;
  for (const { graph, checks } of parts) {
    for (const use of checks) checkIndexValues(native, use, bytesOf(native, use.operand));
    status = compute(graph);
    if (status !== 0) return status;
  }
  return status;
}
