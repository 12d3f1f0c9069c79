import { addBuffer, removeBuffer } from "../backend/buffers_in_use.ts";
import { definePicture, sizePicture } from "../../../base/inspect.ts";
import type { Native } from "../../../ffi/mod.ts";
import { AllocationError, InvalidArgumentError } from "../../errors.ts";
import { checkFunction, checkInteger, show } from "../../../base/check.ts";
import { brands } from "../brands.ts";
import type { BufferType } from "../backend/buffer_type.ts";
import type { Graph } from "../graph/graph.ts";
import { Handle } from "../tensor/handle.ts";
import { assertNonNull } from "../backend/non_null.ts";
import { unusedLeaves } from "../graph/walk.ts";
import { buffersOf, clearEmpty, forgetBuffers } from "./release_memory.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { GraphError } from "../tensor/errors.ts";

/** The result of {@linkcode GraphAllocator.alloc}. */
export interface GraphAllocation {
  /** Whether a buffer was made larger (the first time too): a graph that needs less than {@linkcode GraphAllocator.reserve} was told never does. */
  grew: boolean;
  /** The tensors with values of their own that got memory just now: write them before the graph is computed. */
  inputs: Tensor[];
}

/** The buffer of an allocator that a tensor lies in, by its index. */
export type BufferChoice = (tensor: Tensor) => number;

type Choices = [nodes: Int32Array, leaves: Int32Array];

/**
 * Allocates memory for the tensors of a graph, and reuses it as soon as it is free. What is to be read after the computation is marked by
 * `setOutput()`; inputs are written before each computation. One graph at a time: when another is allocated, the one before has no memory any more.
 *
 * C: `ggml_gallocr_t`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { BufferType, computeSync, GgmlContext, Graph, GraphAllocator, ops } from "../mod.ts";
 *
 * using context = await GgmlContext.create();
 * const x = context.tensor("f32", [4]).setInput();
 * const y = ops.sqr(context, ops.sqr(context, x)).setOutput();
 * using graph = new Graph(context).forward(y);
 * using allocator = new GraphAllocator(BufferType.cpu(context.native));
 * const { inputs } = allocator.alloc(graph);
 * assert.equal(inputs.length, 1);
 * x.write([1, 2, 3, 4]);
 * computeSync(graph);
 * assert.deepEqual([...y.read()], [1, 16, 81, 256]);
 * ```
 */
export class GraphAllocator implements Disposable {
  readonly #native: Native;
  readonly #types: readonly BufferType[];
  #handle: Handle<"ggml_gallocr">;
  /** The buffers that tensors were put in. */
  #buffers: Set<bigint> = new Set();
  /** The graph that was reserved last. */
  #reserved: { readonly graph: WeakRef<Graph>; readonly version: number } | undefined;

  /**
   * An allocator with one buffer, or with one of each type that is given; a type may be given more than once and then is one buffer.
   *
   * Throws InvalidArgumentError. C: `ggml_gallocr_new`, `ggml_gallocr_new_n`.
   */
  constructor(...types: readonly BufferType[]) {
    const [first] = types;
    const wrong = types.find((type) => !brands.bufferType.has(type));
    if (first === undefined || wrong !== undefined) {
      throw new InvalidArgumentError(
        `a graph allocator takes buffer types, not ${show(first === undefined ? types : wrong)}`,
        {
          value: wrong,
          expected: "at least one BufferType",
        },
      );
    }
    this.#native = first.native;
    this.#types = types;
    this.#handle = this.#make(this.#buffers);
  }

  /** Throws DisposedError after `dispose`. */
  assertAlive(): void {
    this.#handle.assertAlive();
  }

  /** Bytes of each buffer; 0 for one that shares an earlier one's. C: `ggml_gallocr_get_buffer_size`. */
  get bufferSizes(): number[] {
    const { lib } = this.#native;
    return this.#types.map((_, index) => Number(lib.ggml_gallocr_get_buffer_size(this.#handle.pointer, index)));
  }

  /**
   * Grows the buffers to fit a graph without allocating it, such as the largest that will come. With several buffers `choose` says which one
   * each tensor lies in; default the first.
   *
   * Throws AllocationError when there isn't enough memory, GraphError when a graph that it allocated is computed just now, InvalidArgumentError for a bad
   * choice, DisposedError. C: `ggml_gallocr_reserve`, `ggml_gallocr_reserve_n`.
   */
  reserve(graph: Graph, choose?: BufferChoice): this {
    const choices = this.#choices(graph, choose);
    this.#forget();
    clearEmpty(graph.tensors());
    this.#reserved = undefined;
    const { lib } = this.#native;
    const fine = choose === undefined
      ? lib.ggml_gallocr_reserve(this.#handle.pointer, graph.unsafePointer)
      : lib.ggml_gallocr_reserve_n(this.#handle.pointer, graph.unsafePointer, ...choices);
    if (!fine) throw this.#failed(graph, choices);
    this.#reserved = { graph: new WeakRef(graph), version: brands.graph.of(graph).version };
    return this;
  }

  /** The bytes of each buffer that {@linkcode GraphAllocator.reserve} would ask for; nothing is reserved. C: `ggml_gallocr_reserve_n_size`. */
  sizesFor(graph: Graph, choose?: BufferChoice): number[] {
    const choices = this.#choices(graph, choose);
    this.#forget();
    return this.#measure(graph, choices);
  }

  /**
   * Allocates memory for the tensors of a graph; those that have some keep it. With one buffer it grows when it must; with several {@linkcode GraphAllocator.reserve}
   * comes first.
   *
   * Throws AllocationError when there isn't enough memory, GraphError when several buffers must be reserved first or a graph that it allocated is
   * computed just now, DisposedError. C: `ggml_gallocr_alloc_graph`.
   */
  alloc(graph: Graph): GraphAllocation {
    this.#assertFree(graph);
    const reached = graph.tensors();
    if (reached.every(({ isAllocated }) => isAllocated)) {
      // Nothing to do, and the values stay.
      return { grew: false, inputs: [] };
    }
    this.#forget();
    clearEmpty(reached);
    const before = this.bufferSizes;
    const waiting = reached.filter(({ isAllocated }) => !isAllocated);
    if (hasUnusedLeaf(graph, waiting)) this.#reserveLeaves(graph);
    if (!this.#native.lib.ggml_gallocr_alloc_graph(this.#handle.pointer, graph.unsafePointer)) {
      if (this.#types.length === 1) throw this.#failed(graph, this.#choices(graph));
      throw new GraphError("the graph doesn't fit what was reserved in several buffers; reserve it first", {
        value: before,
        expected: "reserve(graph, choose) before alloc(graph)",
      });
    }
    for (const buffer of buffersOf(waiting)) {
      this.#buffers.add(buffer);
      addBuffer(buffer, this.#handle);
    }
    brands.graph.of(graph).owner = this.#handle;
    for (const context of brands.context.of(graph.context).reached()) {
      brands.context.of(context).keepMemory(this.#handle);
    }
    return {
      grew: this.bufferSizes.some((size, index) => size > (before[index] ?? 0)),
      inputs: waiting.filter((tensor) => tensor.op === "NONE" && !tensor.isView),
    };
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#handle.disposed;
  }

  /** Frees the buffers; the graph that was allocated has no memory any more. What computes it just now ends first. A second call does nothing. */
  dispose(): void {
    this.#handle.dispose();
  }

  /** {@linkcode GraphAllocator.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Native code doesn't see that a leaf which no node uses has grown, and aborts. */
  #reserveLeaves(graph: Graph): void {
    if (this.#types.length > 1) {
      if (this.#reserved?.graph.deref() === graph && this.#reserved.version === brands.graph.of(graph).version) return;
      throw new GraphError("the graph has leaves that no node uses; reserve it first", {
        value: "an unused leaf",
        expected: "reserve(graph, choose) before alloc(graph)",
      });
    }
    if (!this.#native.lib.ggml_gallocr_reserve(this.#handle.pointer, graph.unsafePointer)) {
      throw this.#failed(graph, this.#choices(graph));
    }
  }

  #make(buffers: Set<bigint>): Handle<"ggml_gallocr"> {
    const { lib } = this.#native;
    const [first] = this.#types;
    const pointers = BigUint64Array.from(this.#types, ({ unsafePointer }) => unsafePointer);
    const pointer = this.#types.length === 1 && first !== undefined
      ? lib.ggml_gallocr_new(first.unsafePointer)
      : lib.ggml_gallocr_new_n(pointers, pointers.length);
    return new Handle({
      what: "the graph allocator",
      pointer: assertNonNull(pointer, "a graph allocator"),
      free: (one) => {
        forget(buffers);
        lib.ggml_gallocr_free(one);
      },
    });
  }

  #forget(): void {
    forget(this.#buffers);
  }

  /** An allocator that ran out of memory can't be used again. */
  #failed(graph: Graph, choices: Choices): AllocationError {
    this.#handle.dispose();
    this.#handle = this.#make(this.#buffers);
    const sizes = this.#measure(graph, choices);
    return new AllocationError(`there isn't enough memory for the graph: it takes ${sizes.join(" and ")} bytes`, {
      value: sizes,
      expected: "as many bytes as the device has free",
    });
  }

  #measure(graph: Graph, choices: Choices): number[] {
    const sizes = new BigUint64Array(this.#types.length);
    const measuring = this.#make(new Set());
    try {
      this.#native.lib.ggml_gallocr_reserve_n_size(
        measuring.pointer,
        graph.unsafePointer,
        ...choices,
        sizes,
      );
    } finally {
      measuring.dispose();
    }
    return Array.from(sizes, Number);
  }

  /** Which buffer each node and leaf lies in; the graph can't be changed while the program says so. Throws as {@linkcode GraphAllocator.#assertFree}. */
  #choices(graph: Graph, choose: BufferChoice = () => 0): Choices {
    this.#assertFree(graph);
    checkFunction("choose", choose);
    const release = graph.retain();
    let chosen: Choices;
    try {
      chosen = this.#choose(graph, choose);
    } finally {
      release();
    }
    this.#assertFree(graph);
    return chosen;
  }

  #choose(graph: Graph, choose: BufferChoice): Choices {
    const most = this.#types.length - 1;
    const number = (tensor: Tensor): number =>
      checkInteger(`the buffer of ${tensor.label}`, choose(tensor), { min: 0, max: most });
    // An empty array would be NULL to one runtime and not to the other.
    const list = (tensors: readonly Tensor[]): Int32Array => Int32Array.from([...tensors.map(number), 0]);
    return [list(graph.nodes), list(graph.leaves)];
  }

  #assertFree(graph: Graph): void {
    this.assertAlive();
    brands.graph.check("the graph", graph).assertAlive();
    for (const context of brands.context.of(graph.context).reached()) brands.context.of(context).assertSettled();
    if (!this.#handle.busy) return;
    throw new GraphError("a graph in this allocator's memory is computed just now; await that first", {
      value: "computing",
      expected: "an allocator at rest",
    });
  }

  static {
    definePicture(
      GraphAllocator,
      "GraphAllocator",
      (allocator) => allocator.bufferSizes.map(sizePicture).join(" and "),
    );
  }
}

/** Whether one of these tensors is a leaf that no node uses. */
function hasUnusedLeaf(graph: Graph, tensors: readonly Tensor[]): boolean {
  const waiting = new Set<bigint>(tensors.map(({ unsafePointer }) => unsafePointer));
  return unusedLeaves(graph).some(({ unsafePointer }) => waiting.has(unsafePointer));
}

/** Ends the use of buffers that are freed now. */
function forget(buffers: Set<bigint>): void {
  for (const buffer of buffers) removeBuffer(buffer);
  forgetBuffers(buffers);
  buffers.clear();
}
