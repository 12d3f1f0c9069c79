import { options } from "../../../base/options.ts";
import { definePicture } from "../../../base/inspect.ts";
import { BackendCore } from "./backend_core.ts";
import { checkAddress } from "../tensor/address.ts";
import { brands } from "../brands.ts";
import { nodePointer } from "../tensor/node_pointer.ts";
import { availableParallelism } from "node:os";
import type { Native, Pointer } from "../../../ffi/mod.ts";
import { BackendError } from "../../errors.ts";
import { checkInteger, refuse } from "../../../base/check.ts";
import { assertAnyThread } from "./js_devices_in_use.ts";
import type { BackendBuffer } from "./buffer.ts";
import type { BufferType } from "./buffer_type.ts";
import { assertNonNull } from "./non_null.ts";
import { type WorkOptions, workRules } from "./compute_thread.ts";
import type { Device } from "./device.ts";
import { createGraphPlan, type GraphPlan } from "./graph_plan.ts";
import { checkGraph } from "./graph_check.ts";
import { retainAll } from "../tensor/handle.ts";
import { guardIndices, refuseComputed } from "../indices/guard.ts";
import { assertWritable } from "../indices/lock.ts";
import { computeParts, type GraphPart, splitGraph } from "../indices/parts.ts";
import type { ComputedUse } from "../indices/trace.ts";
import type { GraphReference, TensorReference } from "../tensor/references.ts";
import { statusError } from "./status.ts";
import { checkAllocated, checkRange, checkRows, checkSameLayout, type TensorRows } from "./tensor_copy.ts";
import { wrapDevice } from "./wrappers.ts";

const computeSpec = options("compute", workRules);

/** A graph that can be computed now. */
interface CheckedGraph {
  /** Functions that release what the computation retains. */
  readonly releases: (() => void)[];
  /** Indices that the graph computes itself. */
  readonly computed: readonly ComputedUse[];
  /** The parts between which they are checked. */
  readonly parts: readonly GraphPart[];
}

/** The most threads that a backend is told to use. */
export const MAX_THREADS = 512;

/**
 * A device that was opened for computing: it computes graphs, one after another.
 *
 * C: `ggml_backend_t`.
 *
 * ```ts ignore
 * using backend = (await Registry.open()).best().open();
 * await backend.compute(graph);
 * ```
 */
export class Backend implements Disposable {
  /** The libraries. */
  readonly native: Native;
  /** The device that it was opened on. C: `ggml_backend_get_device`. */
  readonly device: Device;
  /** Its name, such as `"CPU"`. C: `ggml_backend_name`. */
  readonly name: string;
  readonly #core: BackendCore;

  /** Takes over a backend that the raw layer made. */
  constructor(native: Native, pointer: Pointer<"ggml_backend">) {
    checkAddress(native, pointer);
    this.native = native;
    this.name = native.readCString(native.lib.ggml_backend_name(pointer));
    this.device = wrapDevice(native, assertNonNull(native.lib.ggml_backend_get_device(pointer), "a device"));
    const { registration } = this.device;
    this.#core = new BackendCore(native, pointer, this.name, {
      setThreads: registration?.procAddress("ggml_backend_set_n_threads"),
      setAbort: registration?.procAddress("ggml_backend_set_abort_callback"),
    });
    brands.backend.add(this, this.#core);
    if (this.#core.functions.setThreads !== undefined) this.threads = Math.min(availableParallelism(), MAX_THREADS);
  }

  /** The address, for the raw layer. Throws DisposedError once it was disposed. */
  get unsafePointer(): Pointer<"ggml_backend"> {
    return this.#core.handle.pointer;
  }

  /** The 16 bytes that say which implementation it is. C: `ggml_backend_guid`. */
  get guid(): string {
    const guid = this.native.lib.ggml_backend_guid(this.unsafePointer);
    return guid === null ? "" : this.native.copy(guid, 16).toHex();
  }

  /** The memory that it likes best. C: `ggml_backend_get_default_buffer_type`. */
  get bufferType(): BufferType {
    return this.device.bufferType;
  }

  /** Tensors start at multiples of this many bytes. C: `ggml_backend_get_alignment`. */
  get alignment(): number {
    return Number(this.native.lib.ggml_backend_get_alignment(this.unsafePointer));
  }

  /** The most bytes that one buffer can have; `Infinity` where there is no limit. C: `ggml_backend_get_max_size`. */
  get maxSize(): number {
    return this.bufferType.maxSize;
  }

  /** Number of threads that it computes with; 1 for one without threads. In `compute` it takes no more than the cores that are free. */
  get threads(): number {
    return this.#core.threads;
  }

  /** Sets the number of threads, from 1 to 512. Throws BackendError for a backend without threads. C: `ggml_backend_set_n_threads_t`. */
  set threads(value: number) {
    checkInteger("threads", value, { min: 1, max: MAX_THREADS });
    const { setThreads } = this.#core.functions;
    if (setThreads === undefined) {
      throw new BackendError(`${this.name} has no threads to set`, {
        value,
        expected: "a backend with threads, such as CPU",
      });
    }
    this.#core.assertIdle("set its threads");
    this.native.functionAt(setThreads, { parameters: ["pointer", "i32"], result: "void" })(
      this.unsafePointer,
      value,
    );
    this.#core.threads = value;
  }

  /** Allocates a buffer of its own type. Throws as {@linkcode BufferType.alloc} does. C: `ggml_backend_alloc_buffer`. */
  alloc(size: number): BackendBuffer {
    return this.bufferType.alloc(size);
  }

  /** Whether it can compute this node. C: `ggml_backend_supports_op`. */
  supportsOperation(node: TensorReference): boolean {
    return this.native.lib.ggml_backend_supports_op(
      this.unsafePointer,
      nodePointer(node),
    );
  }

  /** Whether it can use tensors in buffers of this type. C: `ggml_backend_supports_buft`. */
  supportsBufferType(type: BufferType): boolean {
    return this.native.lib.ggml_backend_supports_buft(
      this.unsafePointer,
      brands.bufferType.check("type", type).unsafePointer,
    );
  }

  /** Whether it wants to compute this node even if the weights lie elsewhere. C: `ggml_backend_offload_op`. */
  offloadsOperation(node: TensorReference): boolean {
    return this.native.lib.ggml_backend_offload_op(this.unsafePointer, nodePointer(node));
  }

  /**
   * Computes a graph on a native thread; the event loop stays free. Leave the graph's tensors alone until it is done. Calls on one backend run one
   * after another.
   *
   * Rejects with NotAllocatedError, UnsupportedOperationError, InvalidArgumentError for an index outside of its tensor, BackendError, AllocationError,
   * DisposedError, the signal's reason; with NativeAbortError when native code aborted: the backend can't be used any more. C: `ggml_backend_graph_compute`.
   */
  async compute(graph: GraphReference, options?: WorkOptions): Promise<void> {
    const { signal } = computeSpec.check(options);
    signal?.throwIfAborted();
    assertAnyThread([this]);
    this.#core.assertNotBorrowed();
    const { releases, parts } = this.#check(graph);
    const input = { place: this.#core.place(), parts };
    const status = await this.#core.thread.run(releases, (thread) => thread.run("computeGraph", input, { signal }));
    const error = statusError(status, `computing on ${this.name}`);
    if (error !== undefined) throw error;
  }

  /**
   * Computes a graph on the calling thread, which it blocks: for small graphs. Throws as {@linkcode Backend.compute} rejects.
   * C: `ggml_backend_graph_compute`.
   */
  computeSync(graph: GraphReference): void {
    this.#core.assertIdle("compute");
    const { unsafePointer, native } = this;
    const { releases, parts } = this.#check(graph);
    const status = this.#core.thread.runSync(
      releases,
      () => computeParts(native, parts, (part) => native.lib.ggml_backend_graph_compute(unsafePointer, part)),
    );
    const error = statusError(status, `computing on ${this.name}`);
    if (error !== undefined) throw error;
  }

  /**
   * Begins to compute a graph on the calling thread; done after {@linkcode Backend.synchronize}. A backend that works in step with the caller, such as
   * the CPU, is done when the call returns. Throws as {@linkcode Backend.compute} rejects, and UnsupportedOperationError for a graph that computes
   * indices in a way that may give any number. C: `ggml_backend_graph_compute_async`.
   */
  begin(graph: GraphReference): void {
    this.#core.assertIdle("compute");
    this.#core.addInFlight(...this.#checkWhole(graph));
    const status = this.native.lib.ggml_backend_graph_compute_async(this.unsafePointer, graph.unsafePointer);
    const error = statusError(status, `computing on ${this.name}`);
    if (error === undefined) return;
    this.synchronize();
    throw error;
  }

  /** A plan for a graph that is computed often. Throws as {@linkcode Backend.begin}, BackendError for a backend without plans. C: `ggml_backend_graph_plan_create`. */
  plan(graph: GraphReference): GraphPlan {
    this.#core.assertIdle("plan");
    return createGraphPlan(this, graph, (compute) => {
      this.#core.assertIdle("compute");
      return this.#core.thread.runSync(this.#checkWhole(graph), compute);
    });
  }

  /** Waits, and blocks the caller, until all that it was given is done. C: `ggml_backend_synchronize`. */
  synchronize(): void {
    this.#core.assertIdle("wait for it");
    this.native.lib.ggml_backend_synchronize(this.unsafePointer);
    this.#core.completeInFlight();
  }

  /**
   * Begins to write into a tensor; done after {@linkcode Backend.synchronize}. Leave the bytes alone until then. Where the backend knows no
   * asynchronous copies it is done at once. Throws NotAllocatedError, InvalidArgumentError for a range outside of the tensor.
   * C: `ggml_backend_tensor_set_async`.
   */
  setAsync(tensor: TensorReference, data: ArrayBufferView<ArrayBuffer>, offset: number = 0): void {
    this.#core.assertIdle("copy");
    checkRange(tensor, offset, data, "write");
    assertWritable(tensor);
    this.#core.addWriteInFlight(data);
    this.native.lib.ggml_backend_tensor_set_async(
      this.unsafePointer,
      tensor.unsafePointer,
      this.native.addressOf(data),
      BigInt(offset),
      BigInt(data.byteLength),
    );
  }

  /** Begins to read from a tensor into `data`; done after {@linkcode Backend.synchronize}. Else as {@linkcode Backend.setAsync}. C: `ggml_backend_tensor_get_async`. */
  getAsync(tensor: TensorReference, data: ArrayBufferView<ArrayBuffer>, offset: number = 0): void {
    this.#core.assertIdle("copy");
    checkRange(tensor, offset, data, "read");
    this.#core.addInFlight(data);
    this.native.lib.ggml_backend_tensor_get_async(
      this.unsafePointer,
      tensor.unsafePointer,
      this.native.addressOf(data),
      BigInt(offset),
      BigInt(data.byteLength),
    );
  }

  /** Begins to write rows; else as {@linkcode Backend.setAsync}. C: `ggml_backend_tensor_set_2d_async`. */
  setRowsAsync(tensor: TensorReference, data: ArrayBufferView<ArrayBuffer>, rows: TensorRows): void {
    this.#core.assertIdle("copy");
    const args = checkRows(tensor, data, rows, "writePart");
    assertWritable(tensor);
    this.#core.addWriteInFlight(data);
    this.native.lib.ggml_backend_tensor_set_2d_async(
      this.unsafePointer,
      tensor.unsafePointer,
      this.native.addressOf(data),
      ...args,
    );
  }

  /** Begins to read rows; else as {@linkcode Backend.getAsync}. C: `ggml_backend_tensor_get_2d_async`. */
  getRowsAsync(tensor: TensorReference, data: ArrayBufferView<ArrayBuffer>, rows: TensorRows): void {
    this.#core.assertIdle("copy");
    const args = checkRows(tensor, data, rows, "read");
    this.#core.addInFlight(data);
    this.native.lib.ggml_backend_tensor_get_2d_async(
      this.unsafePointer,
      tensor.unsafePointer,
      this.native.addressOf(data),
      ...args,
    );
  }

  /**
   * Begins to copy a tensor that this backend computes to one of another backend's, after what both were given before; done after both were
   * synchronized. Throws NotAllocatedError, InvalidArgumentError for another layout. C: `ggml_backend_tensor_copy_async`.
   */
  copyAsync(from: TensorReference, to: TensorReference, other: Backend): void {
    this.#core.assertIdle("copy");
    checkAllocated(from, "read");
    checkAllocated(to, "write");
    checkSameLayout(from, to);
    brands.backend.check("other", other);
    assertWritable(to);
    this.#core.addWriteInFlight();
    brands.backend.of(other).addWriteInFlight();
    this.native.lib.ggml_backend_tensor_copy_async(
      this.unsafePointer,
      other.unsafePointer,
      from.unsafePointer,
      to.unsafePointer,
    );
  }

  /** Retains it until the returned function is called: it stays open even when it is disposed meanwhile. */
  retain(): () => void {
    return this.#core.handle.retain();
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#core.handle.disposed;
  }

  /** Closes it once its work is done; a second call does nothing. C: `ggml_backend_free`. */
  dispose(): void {
    this.#core.handle.dispose();
  }

  /** {@linkcode Backend.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** The objects retained by a computation that can't be split. */
  #checkWhole(graph: GraphReference): (() => void)[] {
    const { releases, computed } = this.#check(graph);
    try {
      refuseComputed(this.native, computed);
      return releases;
    } catch (error) {
      releases.forEach((release) => release());
      throw error;
    }
  }

  /** Checks a graph; returns what its computation retains, the indices that it computes itself, and its parts between them. */
  #check(graph: GraphReference): CheckedGraph {
    this.#core.thread.assertKept();
    this.#core.handle.assertAlive();
    if (!brands.graph.has(graph) && !brands.graphCopy.has(graph)) refuse("graph", graph, "a Graph");
    const buffers = checkGraph(this.native, graph, { device: this.device.unsafePointer, name: this.name });
    const { computed, release } = guardIndices(graph, { freeze: this.device.kind === "cpu" });
    const split = splitGraph(graph, computed);
    const releases = retainAll(
      () => split.release,
      () => release,
      () => this.#core.handle.retain(),
      () => graph.retain(),
      ...buffers.map((buffer) => () => buffer.retain()),
    );
    return { releases, computed, parts: split.parts };
  }

  static {
    definePicture(
      Backend,
      "Backend",
      (backend) => (backend.#core.handle.assertAlive(), `${backend.name}, ${backend.threads} threads`),
    );
  }
}
