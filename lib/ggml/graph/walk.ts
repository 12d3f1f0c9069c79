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

/** Operands of operands that ggml may follow: it calls itself for each. */
const MAX_DEPTH = 1000;

/**
 * Returns tensors to be added to a graph before a result, in this order, so that none of them needs more than a thousand calls within calls; none for most.
 */
export function shallowSteps(
  native: Native,
  result: Pointer<"ggml_tensor">,
): Pointer<"ggml_tensor">[] {
  const steps: Pointer<"ggml_tensor">[] = [];
  const depths = new Map<Pointer<"ggml_tensor">, number>();
  const open = [result];
  for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
    const current = at;
    // A cast is among its own operands.
    const sources = Array.from(native.structAt("ggml_tensor", at).src)
      .filter((source) => source !== 0n && source !== current) as typeof open;
    const waiting = depths.has(at) ? [] : sources.filter((source) => !depths.has(source));
    if (waiting.length > 0) {
      open.push(...waiting.reverse());
      continue;
    }
    open.pop();
    if (depths.has(at)) continue;
    const depth = 1 + Math.max(0, ...sources.map((source) => depths.get(source) ?? 0));
    // What was added counts no more.
    depths.set(at, depth < MAX_DEPTH ? depth : 0);
    if (depth >= MAX_DEPTH) steps.push(at);
  }
  return steps;
}

/** Returns the leaves of a graph that no node uses. */
export function unusedLeaves({ native, nodes, leaves }: Graph): Tensor[] {
  const used = new Set<bigint>();
  for (const node of nodes) {
    for (const source of native.structAt("ggml_tensor", node.unsafePointer).src) used.add(source);
  }
  return leaves.filter(({ unsafePointer }) => !used.has(unsafePointer));
}
