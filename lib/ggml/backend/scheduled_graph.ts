import { forgetBuffers } from "../allocator/release_memory.ts";
import type { Native, Pointer } from "../../../ffi/mod.ts";
import type { GgmlContext } from "../tensor/context.ts";
import { GraphError } from "../tensor/errors.ts";
import type { Handle } from "../tensor/handle.ts";
import { brands } from "../brands.ts";
import { bufferAt, type BufferHandle } from "./buffers_in_use.ts";
import type { Graph } from "../graph/graph.ts";
import { originalOf } from "../indices/freeze.ts";

/** Every tensor that a graph reaches: nodes, operands, and what they are views of. */
export function tensorsOf(native: Native, graph: Graph): Set<Pointer<"ggml_tensor">> {
  const { lib } = native;
  const { unsafePointer } = graph;
  const seen = new Set<Pointer<"ggml_tensor">>();
  const open: Pointer<"ggml_tensor">[] = [];
  const count = lib.ggml_graph_n_nodes(unsafePointer);
  for (let index = 0; index < count; index++) open.push(lib.ggml_graph_node(unsafePointer, index));
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    const { src, view_src } = native.structAt("ggml_tensor", at);
    for (const source of src) if (source !== 0n) open.push(originalOf(source as Pointer<"ggml_tensor">));
    if (view_src !== null) open.push(view_src);
  }
  return seen;
}

/** The operands of a graph's nodes as they are now. A scheduler puts copies in their place, which go with its next graph. */
export class SourceSnapshot {
  readonly #native: Native;
  readonly #byNode: ReadonlyMap<Pointer<"ggml_tensor">, BigUint64Array>;

  /** Notes them. */
  constructor(native: Native, tensors: ReadonlySet<Pointer<"ggml_tensor">>) {
    this.#native = native;
    const sources = Array.from(
      tensors,
      (tensor) => {
        const { src } = native.structAt("ggml_tensor", tensor);
        return [tensor, src.map((source) => originalOf(source as Pointer<"ggml_tensor">))] as const;
      },
    )
      .filter(([, operands]) => operands.some((source) => source !== 0n));
    this.#byNode = new Map(sources);
  }

  /** An operand of a node as it was. */
  operandOf(node: Pointer<"ggml_tensor">, slot: number): Pointer<"ggml_tensor"> | undefined {
    return this.#byNode.get(node)?.[slot] as Pointer<"ggml_tensor"> | undefined;
  }

  /** Puts them back. */
  restore(): void {
    for (const [tensor, sources] of this.#byNode) this.#native.structAt("ggml_tensor", tensor).src.set(sources);
  }
}

/**
 * The memory that an allocator gives to a graph's tensors. Made before it does; {@linkcode ScheduledGraph.end} takes the addresses away again, since the
 * allocator's memory goes or is used for others then. Meanwhile graph, contexts and the buffers of its other tensors stay in memory.
 */
export class ScheduledGraph {
  // Weak: a scheduler that nobody has any more is freed, though graph and contexts keep it while they can be reached.
  readonly #graph: WeakRef<Graph>;
  readonly #handle: WeakRef<Handle<"ggml_cgraph">>;
  readonly #contexts: readonly WeakRef<GgmlContext>[];
  readonly #version: number;
  readonly #native: Native;
  /** Those without memory of their own. */
  readonly #given: readonly Pointer<"ggml_tensor">[];
  readonly #releases: readonly (() => void)[];
  #onReset: (() => void) | undefined;

  /** Notes what has no memory yet. */
  constructor(graph: Graph, tensors: ReadonlySet<Pointer<"ggml_tensor">>) {
    this.#graph = new WeakRef(graph);
    this.#handle = new WeakRef(brands.graph.of(graph).handle);
    this.#contexts = [...brands.context.of(graph.context).reached()].map((context) => new WeakRef(context));
    this.#version = brands.graph.of(graph).version;
    this.#native = graph.native;
    const given: Pointer<"ggml_tensor">[] = [];
    const buffers = new Set<BufferHandle>();
    for (const tensor of tensors) {
      const { data, buffer } = this.#native.structAt("ggml_tensor", tensor);
      if (data === null) given.push(tensor);
      const owner = buffer === null ? undefined : bufferAt(buffer);
      if (owner !== undefined) buffers.add(owner);
    }
    this.#given = given;
    this.#releases = [brands.graph.of(graph).retainMemory(), ...[...buffers].map((buffer) => buffer.retain())];
  }

  /** Whether it is of this graph, as it was or changed. */
  isGraph(graph: Graph): boolean {
    return this.#graph.deref() === graph;
  }

  /** Whether it is of this graph. Throws GraphError when the graph was changed since. */
  isOf(graph: Graph): boolean {
    if (!this.isGraph(graph)) return false;
    if (brands.graph.of(graph).version === this.#version) return true;
    throw new GraphError(
      "the graph was changed after the scheduler allocated it; allocate it again, then write its inputs",
      {
        value: brands.graph.of(graph).version,
        expected: "a graph as it was allocated",
      },
    );
  }

  /** Throws GraphError while something computes it, also when it was disposed since. */
  assertUnused(doing: string): void {
    if (this.#handle.deref()?.locked !== true) return;
    throw new GraphError(`the graph is in use by a computation; await that before you ${doing}`, {
      value: "computing",
      expected: "a graph that nothing computes",
    });
  }

  /** Keeps the owner of the memory alive as long as the tensors can be reached; `onReset` is called before their contexts are reset. */
  setOwner(owner: object, onReset: () => void): void {
    this.#onReset = onReset;
    for (const reference of this.#contexts) {
      const context = reference.deref();
      if (context === undefined) continue;
      brands.context.of(context).onReset(onReset);
      if (this.#given.length > 0) brands.context.of(context).keepMemory(owner);
    }
  }

  /** Takes the addresses away and lets the graph go. */
  end(): void {
    const graph = this.#graph.deref();
    if (graph !== undefined) brands.graph.of(graph).setHolder(undefined);
    const buffers = new Set<bigint>();
    for (const tensor of this.#given) {
      const view = this.#native.structAt("ggml_tensor", tensor);
      if (view.buffer !== null && view.view_src === null) buffers.add(view.buffer);
      view.data = null;
      view.buffer = null;
      view.extra = null;
    }
    // Views that were made since.
    forgetBuffers(buffers);
    for (const reference of this.#contexts) {
      const context = reference.deref();
      if (context === undefined) continue;
      brands.context.of(context).releaseViews();
      if (this.#onReset !== undefined) brands.context.of(context).offReset(this.#onReset);
    }
    for (const release of this.#releases) release();
  }
}
