import { ggml_op, ggml_tensor_flag, type Native, type Pointer } from "../../../ffi/mod.ts";
import type { Graph } from "./graph.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** Counts the nodes and leaves of a graph of these results. */
export function countReached(native: Native, results: readonly Tensor[]): { nodes: number; leaves: number } {
  let nodes = 0;
  let leaves = 0;
  const seen = new Set<bigint>();
  const open: bigint[] = results.map(({ unsafePointer }) => unsafePointer);
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    const { op, flags, src } = native.structAt("ggml_tensor", at as Pointer<"ggml_tensor">);
    const isLeaf = op === ggml_op.GGML_OP_NONE && (flags & ggml_tensor_flag.GGML_TENSOR_FLAG_PARAM) === 0;
    if (isLeaf) leaves++;
    else nodes++;
    for (const source of src) if (source !== 0n) open.push(source);
  }
  return { nodes, leaves };
}

/** Returns the leaves of a graph that no node uses. */
export function unusedLeaves({ native, nodes, leaves }: Graph): Tensor[] {
  const used = new Set<bigint>();
  for (const node of nodes) {
    for (const source of native.structAt("ggml_tensor", node.unsafePointer).src) used.add(source);
  }
  return leaves.filter(({ unsafePointer }) => !used.has(unsafePointer));
}
