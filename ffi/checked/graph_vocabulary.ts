import { graphLeaves } from "../memory/graph_layout.ts";
import { ggml_backend_dev_type, ggml_op, ggml_tensor_flag } from "../tables/enums.ts";
import type { Pointer } from "../types/pointer.ts";
import { TensorFacts } from "./tensor_facts.ts";
import type { Facts } from "./vocabulary.ts";

type Graph = Pointer<"ggml_cgraph">;
type Backend = Pointer<"ggml_backend">;
type Tensor = Pointer<"ggml_tensor">;

/** The offset of the gradients in `struct ggml_cgraph`, which no public header has. */
const GRADS = 24;

/** Conditions on graphs, and on backends and schedulers that compute them. */
export function graphWords({ native, lib, objects }: Facts): Readonly<Record<string, unknown>> {
  const factsOf = (pointer: Tensor): TensorFacts => new TensorFacts(native, lib, pointer);
  const nodes = (graph: Graph): TensorFacts[] =>
    Array.from({ length: lib.ggml_graph_n_nodes(graph) }, (_, at) => factsOf(lib.ggml_graph_node(graph, at)));
  const leaves = (graph: Graph): TensorFacts[] => (graphLeaves(native, graph) ?? []).map(factsOf);
  const hasData = (tensor: TensorFacts): boolean => tensor.data !== null || lib.ggml_is_empty(tensor.pointer);
  const allocated = (graph: Graph): boolean => [...nodes(graph), ...leaves(graph)].every(hasData);
  const backendsAt = (list: unknown, count: number): Backend[] => {
    if (list instanceof BigUint64Array) return Array.from(list.subarray(0, count)) as Backend[];
    if (typeof list !== "bigint") return [];
    const view = native.view(list as Pointer, count * 8);
    return Array.from(new BigUint64Array(view.buffer, view.byteOffset, count)) as Backend[];
  };
  return {
    allocated,
    leafCount: (graph: Graph): number => leaves(graph).length,
    graphUse: (graph: Graph): number => lib.ggml_graph_n_nodes(graph) + leaves(graph).length,
    hasGradients: (graph: Graph): boolean => {
      const bytes = native.view(graph, GRADS + 8);
      return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(GRADS, true) !== 0n;
    },
    hasParameterAndLoss: (graph: Graph): boolean => {
      const flags = nodes(graph).reduce((all, node) => all | node.flags, 0);
      const both = ggml_tensor_flag.GGML_TENSOR_FLAG_PARAM | ggml_tensor_flag.GGML_TENSOR_FLAG_LOSS;
      return (flags & both) === both;
    },
    /** Whether a tensor, with all that it needs, has room in a graph. */
    graphHasRoom: (graph: Graph, tensor: TensorFacts): boolean => {
      const seen = new Set([...nodes(graph), ...leaves(graph)].map(({ pointer }) => pointer));
      const size = lib.ggml_graph_size(graph);
      let [nodeCount, leafCount] = [lib.ggml_graph_n_nodes(graph), leaves(graph).length];
      const open = [tensor];
      for (let one = open.pop(); one !== undefined; one = open.pop()) {
        if (seen.has(one.pointer)) continue;
        seen.add(one.pointer);
        if (one.op === ggml_op.GGML_OP_NONE && (one.flags & ggml_tensor_flag.GGML_TENSOR_FLAG_PARAM) === 0) leafCount++;
        else nodeCount++;
        if (nodeCount > size || leafCount > size) return false;
        open.push(...one.src.filter((source) => source !== null));
      }
      return true;
    },
    computable: (backend: Backend, graph: Graph): boolean =>
      allocated(graph) && nodes(graph).every(({ pointer }) => lib.ggml_backend_supports_op(backend, pointer)),
    /** Whether each leaf has memory, or a node that uses it: another one gets no backend. */
    schedulable: (_sched: unknown, graph: Graph): boolean => {
      const used = new Set(nodes(graph).flatMap(({ src, view_src }) => [...src, view_src]).map((one) => one?.pointer));
      return leaves(graph).every((leaf) => leaf.data !== null || used.has(leaf.pointer));
    },
    hasEvents: (backend: Backend): boolean => native.structAt("ggml_backend", backend).iface.event_record !== null,
    hasPlans: (backend: Backend): boolean => native.structAt("ggml_backend", backend).iface.graph_plan_create !== null,
    hasBackend: (sched: Pointer<"ggml_backend_sched">, backend: Backend): boolean =>
      Array.from(
        { length: lib.ggml_backend_sched_get_n_backends(sched) },
        (_, at) => lib.ggml_backend_sched_get_backend(sched, at),
      ).includes(backend),
    lastIsCpu: (list: unknown, count: number): boolean => {
      const backends = backendsAt(list, count);
      const last = backends.at(-1);
      if (last === undefined || backends.includes(0n as Backend)) return false;
      const device = lib.ggml_backend_get_device(last);
      return device !== null &&
        lib.ggml_backend_dev_type(device) === ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_CPU;
    },
    insideBuffer: (buffer: Pointer<"ggml_backend_buffer">, address: Pointer, size: bigint): boolean => {
      const base = lib.ggml_backend_buffer_get_base(buffer);
      return base !== null && address >= base && address + size <= base + lib.ggml_backend_buffer_get_size(buffer);
    },
    hasAllocatorRoom: (allocator: unknown, tensor: TensorFacts): boolean => {
      if (typeof allocator !== "object" || allocator === null) return true;
      const { buffer, offset } = allocator as { buffer: Pointer<"ggml_backend_buffer"> | null; offset: bigint };
      return buffer !== null && offset + lib.ggml_backend_buffer_get_alloc_size(buffer, tensor.pointer) <=
          lib.ggml_backend_buffer_get_size(buffer);
    },
    batchFits: (dataset: Pointer<"ggml_opt_dataset">, size: number, batch: number): boolean => {
      const data = factsOf(lib.ggml_opt_dataset_data(dataset));
      const shard = Number((objects.at(dataset)?.made["ndata_shard"] as bigint | undefined) ?? 1n);
      const bytes = (data.nb[1] ?? 0) * shard;
      const shards = Number(lib.ggml_opt_dataset_ndata(dataset)) / shard;
      return size > 0 && size % bytes === 0 && (batch + 1) * (size / bytes) <= shards;
    },
  };
}
