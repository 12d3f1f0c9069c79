import type { Native } from "../native.ts";
import type { Pointer } from "../types/pointer.ts";

/** The offset of the leaves in `struct ggml_cgraph`, which no public header has: `int size, n_nodes, n_leafs`, then four pointers. */
const N_LEAFS = 8;
const NODES = 16;
const LEAFS = 40;
const LENGTH = 48;

/**
 * Returns the addresses of a graph's leaves, in ggml's own order; `undefined` when the graph isn't laid out as in the release that the tables were made for.
 */
export function graphLeaves(native: Native, graph: Pointer<"ggml_cgraph">): Pointer<"ggml_tensor">[] | undefined {
  const { lib } = native;
  const bytes = native.view(graph, LENGTH);
  const values = new DataView(bytes.buffer, bytes.byteOffset, LENGTH);
  const known = values.getInt32(0, true) === lib.ggml_graph_size(graph) &&
    values.getInt32(4, true) === lib.ggml_graph_n_nodes(graph) &&
    values.getBigUint64(NODES, true) === lib.ggml_graph_nodes(graph);
  const count = values.getInt32(N_LEAFS, true);
  if (!known || count < 0 || count > lib.ggml_graph_size(graph)) return undefined;
  const leaves = values.getBigUint64(LEAFS, true) as Pointer;
  if (count === 0) return [];
  const found = native.view(leaves, count * 8);
  return Array.from(new BigUint64Array(found.buffer, found.byteOffset, count)) as Pointer<"ggml_tensor">[];
}
