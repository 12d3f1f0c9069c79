import { allocate } from "../tensor/allocate.ts";
import { brands } from "../brands.ts";
import type { Pointer } from "../../../ffi/mod.ts";
import type { GgmlContext } from "../tensor/context.ts";
import { checkDifferentiable } from "./differentiable.ts";
import type { Graph } from "./graph.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { ContextFullError, GraphError } from "../tensor/errors.ts";

/** Upper bound of the tensors that one node's gradients take. */
const TENSORS_A_NODE = 24;

/** Adds the gradients of a graph's parameters to it; what {@linkcode Graph.backward} does. */
export function addGradients(graph: Graph, context: GgmlContext, accumulate: boolean): void {
  if (!graph.gradients) {
    throw new GraphError("the graph was made without gradients; make it with the option gradients", {
      expected: "gradients: true",
    });
  }
  checkDifferentiable(graph, accumulate);
  brands.context.of(context).use(graph.context);
  brands.context.of(graph.context).use(context);
  const { nodes } = graph;
  const accumulators = accumulate ? makeAccumulators(context, nodes) : undefined;
  assertRoom(graph, context, nodes.length, accumulators);
  graph.native.lib.ggml_build_backward_expand(context.unsafePointer, graph.unsafePointer, accumulators ?? null);
  brands.context.of(context).attachViews();
}

function makeAccumulators(context: GgmlContext, nodes: readonly Tensor[]): BigUint64Array {
  return BigUint64Array.from(
    nodes,
    (node) =>
      node.flags.includes("param") || node.flags.includes("loss")
        ? context.tensor("f32", node.shape).unsafePointer
        : 0n,
  );
}

/** Lets ggml make the gradients somewhere else first and counts: it aborts when there is no capacity. */
function assertRoom(graph: Graph, context: GgmlContext, count: number, accumulators: BigUint64Array | undefined): void {
  const { native } = graph;
  const { lib } = native;
  const size = BigInt(Math.max(graph.size, count * TENSORS_A_NODE + graph.leaves.length));
  const bytes = Number(lib.ggml_graph_overhead_custom(size, true)) +
    count * TENSORS_A_NODE * Number(lib.ggml_tensor_overhead());
  const pool = allocate(native, bytes, "gradients");
  const scratch = lib.ggml_init(
    native.assign(native.struct("ggml_init_params"), { mem_size: BigInt(bytes), mem_buffer: pool, no_alloc: true }),
  );
  try {
    const copy = lib.ggml_new_graph_custom(scratch, size, true);
    lib.ggml_graph_cpy(graph.unsafePointer, copy);
    const before = Number(lib.ggml_used_mem(scratch));
    lib.ggml_build_backward_expand(scratch, copy, accumulators ?? null);
    const nodes = lib.ggml_graph_n_nodes(copy);
    if (nodes > graph.size) {
      throw new GraphError(`with its gradients the graph has ${nodes} nodes, and it has room for ${graph.size}`, {
        value: graph.size,
        expected: `size: ${nodes} or more`,
      });
    }
    let needed = Number(lib.ggml_used_mem(scratch)) - before;
    if (!context.noAlloc) needed += dataBytes(graph, scratch);
    const free = context.byteLength - context.usedBytes;
    if (needed <= free) return;
    throw new ContextFullError(`the gradients take ${needed} bytes, and the context has ${free} left`, {
      value: free,
      expected: `${needed} bytes`,
    });
  } finally {
    lib.ggml_free(scratch);
  }
}

function dataBytes({ native }: Graph, scratch: Pointer<"ggml_context">): number {
  const { lib } = native;
  let bytes = 0;
  for (let at = lib.ggml_get_first_tensor(scratch); at !== null; at = lib.ggml_get_next_tensor(scratch, at)) {
    if (native.structAt("ggml_tensor", at).view_src === null) bytes += Number(lib.ggml_nbytes_pad(at));
  }
  return bytes;
}
