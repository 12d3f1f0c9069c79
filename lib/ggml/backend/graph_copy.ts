import { definePicture } from "../../../base/inspect.ts";
import { checkBufferAccess } from "../tensor/buffer_access.ts";
import { adoptContext, GgmlContext } from "../tensor/context.ts";
import { brands } from "../brands.ts";
import type { Lifetime, Native, Pointer, StructView } from "../../../ffi/mod.ts";
import type { ggml_backend_graph_copy } from "../../../ffi/mod.ts";
import { AllocationError, UnsupportedOperationError } from "../../errors.ts";
import { checkArray, checkFunction } from "../../../base/check.ts";
import { tensorsOf } from "./scheduled_graph.ts";
import type { Backend } from "./backend.ts";
import type { Graph } from "../graph/graph.ts";
import { checkGraph, notAllocated, tensorLabel } from "./graph_check.ts";
import { originalOf } from "../indices/freeze.ts";
import { guardIndices, refuseComputed } from "../indices/guard.ts";
import { Handle } from "../tensor/handle.ts";
import type { GraphReference } from "../tensor/references.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { GraphError } from "../tensor/errors.ts";

/** Native code goes from node to node by calls within calls: more of them might not fit the stack. */
const MAX_TENSORS = 16_384;

/**
 * A copy of a graph, its tensors and their values in another backend's memory.
 *
 * C: `struct ggml_backend_graph_copy`.
 */
export class GraphCopy implements GraphReference, Disposable {
  /** The libraries. */
  readonly native: Native;
  readonly #handle: Handle<"ggml_cgraph">;
  readonly #context: GgmlContext;
  readonly #lifetime: Lifetime;

  /**
   * Copies a graph whose tensors lie in buffers. Throws NotAllocatedError, AllocationError, UnsupportedOperationError for a node that the backend can't
   * compute, GraphError for one of more than 16,384 tensors. C: `ggml_backend_graph_copy`.
   */
  constructor(backend: Backend, graph: Graph) {
    brands.backend.check("backend", backend);
    brands.graph.check("graph", graph);
    checkCopyable(backend, graph);
    brands.graphCopy.add(this);
    this.native = graph.native;
    const { lib } = this.native;
    const unlock = graph.retain();
    const copy = lib.ggml_backend_graph_copy(backend.unsafePointer, graph.unsafePointer);
    unlock();
    const { graph: pointer, ctx_allocated: context } = copy;
    if (pointer === null || context === null) throw noMemory(backend);
    const release = backend.retain();
    this.#context = adoptContext(this.native, context, () => {});
    this.#lifetime = brands.context.of(this.#context).lifetime;
    this.#handle = new Handle({
      what: "the copy of a graph",
      pointer,
      free: () => {
        lib.ggml_backend_graph_copy_free(copy as StructView<ggml_backend_graph_copy>);
        release();
      },
    });
    brands.context.of(this.#context).keepMemory(this.#handle);
  }

  /** The address, for the raw layer. Throws DisposedError once it was disposed, or its tensors' context was reset. */
  get unsafePointer(): Pointer<"ggml_cgraph"> {
    this.#lifetime.assertAlive();
    return this.#handle.pointer;
  }

  /** Its nodes, in the order of the graph that it was copied from. */
  get nodes(): Tensor[] {
    const { lib } = this.native;
    return Array.from(
      { length: lib.ggml_graph_n_nodes(this.unsafePointer) },
      (_, index) => brands.context.of(this.#context).wrap(lib.ggml_graph_node(this.unsafePointer, index)),
    );
  }

  /** Retains it until the returned function is called. */
  retain(): () => void {
    this.#lifetime.assertAlive();
    return this.#handle.retain();
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#handle.disposed;
  }

  /** Frees it; its tensors can't be used after. A second call does nothing. C: `ggml_backend_graph_copy_free`. */
  dispose(): void {
    this.#context.dispose();
    this.#handle.dispose();
  }

  /** {@linkcode GraphCopy.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  static {
    definePicture(GraphCopy, "GraphCopy", (copy) => `${copy.nodes.length} nodes`);
  }
}

/** One node as two backends computed it; valid during the call only. */
export interface ComparedNode {
  /** The node's place in the graph. */
  readonly index: number;
  /** The node, computed by the first backend. */
  readonly first: Tensor;
  /** Its copy, computed by the second one. */
  readonly second: Tensor;
}

/**
 * Computes a graph on two backends, node by node, and passes on the two results of each node. Each node is computed from what its own backend made of the nodes
 * before. Blocks the caller. `onNode` gives `false` to end early; with `nodes` the graph is computed as a whole and only these are shown.
 *
 * Throws as {@linkcode GraphCopy} does, and what `onNode` throws. C: `ggml_backend_compare_graph_backend`.
 */
export function compareBackends(
  first: Backend,
  second: Backend,
  graph: Graph,
  onNode: (node: ComparedNode) => boolean | void,
  nodes?: readonly Tensor[],
): void {
  brands.backend.check("first", first);
  brands.backend.check("second", second);
  brands.graph.check("graph", graph);
  checkFunction("onNode", onNode);
  checkGraph(graph.native, graph, { device: first.device.unsafePointer, name: first.name });
  checkCopyable(second, graph);
  const wanted = checkNodes(graph, nodes);
  const { native } = graph;
  let thrown: { readonly error: unknown } | undefined;
  using callback = native.callback("ggml_backend_eval_callback", (index, a, b) => {
    if (a === null || b === null) return true;
    // Of nothing but the tensor that is shown.
    const copied = new GgmlContext(native, { maxTensors: 1 });
    try {
      return onNode({
        index,
        first: brands.context.of(graph.context).wrap(a),
        second: brands.context.of(copied).wrap(b),
      }) !== false;
    } catch (error) {
      thrown ??= { error };
      return false;
    } finally {
      copied.dispose();
    }
  });
  const borrower = {};
  const guard = guardIndices(graph, { freeze: false });
  const releases = [guard.release, graph.retain(), brands.backend.of(first).borrow(borrower)];
  let done = false;
  try {
    refuseComputed(native, guard.computed);
    releases.push(brands.backend.of(second).borrow(borrower));
    done = native.lib.ggml_backend_compare_graph_backend(
      first.unsafePointer,
      second.unsafePointer,
      graph.unsafePointer,
      callback.pointer,
      null,
      wanted === undefined ? null : native.addressOf(wanted),
      BigInt(wanted?.length ?? 0),
    );
  } finally {
    for (const release of releases) release();
  }
  if (thrown !== undefined) throw thrown.error;
  if (!done) throw noMemory(second);
}

function checkNodes(graph: Graph, nodes: readonly Tensor[] | undefined): BigUint64Array<ArrayBuffer> | undefined {
  if (nodes === undefined) return undefined;
  const wanted = checkArray("nodes", nodes, (name, node) => brands.tensor.check(name, node).unsafePointer);
  const known = new Set<bigint>(graph.nodes.map(({ unsafePointer }) => unsafePointer));
  if (wanted.length > 0 && wanted.every((pointer) => known.has(pointer))) return BigUint64Array.from(wanted);
  throw new GraphError("the nodes to compare aren't nodes of the graph", {
    value: wanted.length,
    expected: "one node or more of the graph",
  });
}

function checkCopyable(backend: Backend, graph: Graph): void {
  const { native } = graph;
  const tensors = tensorsOf(native, graph);
  if (tensors.size > MAX_TENSORS) {
    throw new GraphError(`the graph has ${tensors.size} tensors; at most ${MAX_TENSORS} can be copied`, {
      value: tensors.size,
      expected: `at most ${MAX_TENSORS} tensors`,
    });
  }
  for (const tensor of tensors) {
    const { data, buffer, view_src, src } = native.structAt("ggml_tensor", tensor);
    if (data === null || (buffer === null && view_src === null)) throw notAllocated(native, tensor);
    if (Array.from(src).some((one) => originalOf(one as Pointer<"ggml_tensor">) !== one)) throw inUse(native, tensor);
    if (view_src === null) checkBufferAccess(native, tensor, "read");
    if (native.lib.ggml_backend_dev_supports_op(backend.device.unsafePointer, tensor)) continue;
    throw new UnsupportedOperationError(`${backend.name} doesn't compute ${tensorLabel(native, tensor)}`, {
      value: native.readCString(native.lib.ggml_op_desc(tensor)),
      expected: `operations that ${backend.name} supports`,
    });
  }
}

/** While a node is computed its indices are a copy, which is nothing to copy again. */
function inUse(native: Native, node: Pointer<"ggml_tensor">): GraphError {
  return new GraphError(`${tensorLabel(native, node)} is being computed; copy its graph afterwards`, {
    value: native.readCString(native.lib.ggml_get_name(node)),
    expected: "a graph that isn't being computed",
  });
}

function noMemory(backend: Backend): AllocationError {
  return new AllocationError(`${backend.name} gave no memory for a copy of the graph`, {
    value: backend.name,
    expected: "as much memory as the graph's tensors take",
  });
}
