import { computeSpec, type EvaluateOptions, evaluateSpec, type SchedulerOptions, schedulerSpec } from "./options.ts";
import { definePicture } from "../../../base/inspect.ts";
import { brands } from "../brands.ts";
import type { Native, Pointer } from "../../../ffi/mod.ts";
import { type AllocationError, BackendError, InvalidArgumentError } from "../../errors.ts";
import { ScheduledGraph, SourceSnapshot, tensorsOf } from "../backend/scheduled_graph.ts";
import type { Backend } from "../backend/backend.ts";
import { BufferType } from "../backend/buffer_type.ts";
import { assertAnyThread } from "../backend/js_devices_in_use.ts";
import { ComputeThread, type WorkOptions } from "../backend/compute_thread.ts";
import type { Graph } from "../graph/graph.ts";
import { guardIndices, ownOperand } from "../indices/guard.ts";
import { type NodeCheck, nodeChecks, withNodeCallback } from "./node_callback.ts";
import { Handle, retainAll } from "../tensor/handle.ts";
import { SchedulerState } from "./state.ts";
import { clearEmpty } from "../allocator/release_memory.ts";
import { NodeStream } from "./node_stream.ts";
import { assertNonNull } from "../backend/non_null.ts";
import { Assignments } from "./assignments.ts";
import { checkBackends, checkSchedulable, checkTypes, markUnusedLeaves, noMemory } from "./check.ts";
import { statusError } from "../backend/status.ts";
import type { Tensor } from "../tensor/tensor.ts";

/**
 * Shares a graph out among several backends: each node goes to the first backend that can compute it, to where its weights lie, or to where
 * {@linkcode Scheduler.assign} says; tensors that another backend needs are copied. It allocates the graph's tensors by itself.
 *
 * C: `ggml_backend_sched_t`.
 *
 * ```ts ignore
 * using scheduler = new Scheduler([gpu, cpu]);
 * scheduler.allocate(graph);
 * input.write(values);
 * await scheduler.compute(graph);
 * ```
 */
export class Scheduler implements Disposable {
  /** The libraries. */
  readonly native: Native;
  /** Its backends, the first choice first. C: `ggml_backend_sched_get_backend`, `ggml_backend_sched_get_n_backends`. */
  readonly backends: readonly Backend[];
  readonly #handle: Handle<"ggml_backend_sched">;
  readonly #thread: ComputeThread;
  readonly #graphSize: number;
  readonly #state: SchedulerState;
  readonly #assignments: Assignments;
  /** Whether its allocator is without buffers while it takes itself to have them: so it is after a failure, and after a count of sizes. */
  #hollow = false;

  /**
   * Creates a scheduler; the last backend must be a CPU. Throws InvalidArgumentError, DisposedError. C: `ggml_backend_sched_new`.
   */
  constructor(backends: readonly Backend[], options?: SchedulerOptions) {
    const { bufferTypes, graphSize, parallel, opOffload } = schedulerSpec.check(options);
    checkBackends(backends);
    brands.scheduler.add(this);
    this.native = (backends[0] as Backend).native;
    this.backends = [...backends];
    this.#graphSize = graphSize;
    const types = checkTypes(backends, bufferTypes);
    const pointers = BigUint64Array.from(backends, ({ unsafePointer }) => unsafePointer);
    const pointer = this.native.lib.ggml_backend_sched_new(
      this.native.addressOf(pointers),
      types === null ? null : this.native.addressOf(types),
      backends.length,
      BigInt(this.#graphSize),
      parallel,
      opOffload,
    );
    const releases = backends.map((backend) => backend.retain());
    const thread = new ComputeThread(this.native);
    const state = new SchedulerState(this.native, assertNonNull(pointer, "a scheduler"));
    this.#thread = thread;
    this.#state = state;
    this.#assignments = new Assignments(this.native);
    this.#handle = new Handle({
      what: "the scheduler",
      pointer: state.pointer,
      free: () => {
        thread.end();
        state.free();
        for (const release of releases) release();
      },
    });
  }

  /** The address, for the raw layer. */
  get unsafePointer(): Pointer<"ggml_backend_sched"> {
    return this.#handle.pointer;
  }

  /** In how many parts the last graph was split. C: `ggml_backend_sched_get_n_splits`. */
  get splitCount(): number {
    return this.native.lib.ggml_backend_sched_get_n_splits(this.unsafePointer);
  }

  /** Number of copies of inputs: 1 unless it is `parallel`. C: `ggml_backend_sched_get_n_copies`. */
  get copyCount(): number {
    return this.native.lib.ggml_backend_sched_get_n_copies(this.unsafePointer);
  }

  /** The memory that a backend computes in. Throws InvalidArgumentError for a backend of another scheduler. C: `ggml_backend_sched_get_buffer_type`. */
  bufferType(backend: Backend): BufferType {
    const type = this.native.lib.ggml_backend_sched_get_buffer_type(
      this.unsafePointer,
      this.#ownBackend(backend).unsafePointer,
    );
    return new BufferType(this.native, assertNonNull(type, "a buffer type"));
  }

  /** Bytes that it has allocated for a backend to compute in. Throws as {@linkcode Scheduler.bufferType}. C: `ggml_backend_sched_get_buffer_size`. */
  bufferSize(backend: Backend): number {
    return Number(
      this.native.lib.ggml_backend_sched_get_buffer_size(this.unsafePointer, this.#ownBackend(backend).unsafePointer),
    );
  }

  /**
   * Says which backend computes a node, from the next {@linkcode Scheduler.allocate} on until {@linkcode Scheduler.reset}.
   * Throws UnsupportedOperationError when the backend can't. C: `ggml_backend_sched_set_tensor_backend`.
   */
  assign(node: Tensor, backend: Backend): void {
    this.#assertIdle("assign nodes");
    this.#ownBackend(backend);
    brands.tensor.check("node", node);
    this.#assignments.set(node, backend);
  }

  /** The backend that a node or an input of the last graph was given to; `undefined` when it wasn't. C: `ggml_backend_sched_get_tensor_backend`. */
  backendOf(tensor: Tensor): Backend | undefined {
    const pointer = this.native.lib.ggml_backend_sched_get_tensor_backend(
      this.unsafePointer,
      brands.tensor.check("tensor", tensor).unsafePointer,
    );
    return this.backends.find((backend) => pointer !== null && backend.unsafePointer === pointer);
  }

  /**
   * Allocates memory for the largest graph to come, such as this one; later graphs need no more. Throws AllocationError, and as
   * {@linkcode Scheduler.compute} rejects. C: `ggml_backend_sched_reserve`.
   */
  reserve(graph: Graph): void {
    this.#exclusively(graph, () => {
      const tensors = this.#prepare(graph);
      this.#fill(graph, tensors);
      this.#state.forgetGraph();
    });
  }

  /** The bytes that {@linkcode Scheduler.reserve} would take, for each backend. Makes no memory. C: `ggml_backend_sched_reserve_size`. */
  reserveSizes(graph: Graph): number[] {
    const sizes = new BigUint64Array(this.backends.length);
    this.#exclusively(graph, () => {
      const { size } = this.#prepare(graph);
      if (size === 0) return;
      // It forgets assignments before it begins, so those aren't in the sizes.
      this.#hollow = true;
      this.native.lib.ggml_backend_sched_reserve_size(
        this.unsafePointer,
        graph.unsafePointer,
        this.native.addressOf(sizes),
      );
      this.#state.forgetGraph();
    });
    return Array.from(sizes, Number);
  }

  /** Assigns each node to a backend and counts the parts, without allocating memory; returns {@linkcode Scheduler.splitCount}. C: `ggml_backend_sched_split_graph`. */
  split(graph: Graph): number {
    return this.#exclusively(graph, () => {
      this.#prepare(graph);
      this.native.lib.ggml_backend_sched_split_graph(this.unsafePointer, graph.unsafePointer);
      const { splitCount } = this;
      this.#state.forgetGraph();
      return splitCount;
    });
  }

  /**
   * Splits a graph and gives its tensors memory, so that inputs can be written before {@linkcode Scheduler.compute}. The graph that it had before loses
   * its memory; so does another scheduler that had this one. Throws AllocationError, and as {@linkcode Scheduler.compute} rejects. C: `ggml_backend_sched_alloc_graph`.
   */
  allocate(graph: Graph): void {
    this.#exclusively(graph, () => {
      brands.graph.of(graph).setHolder(this.#state);
      const tensors = this.#prepare(graph);
      if (this.#hollow) {
        this.#fill(graph, tensors);
        this.#assignments.apply(this.unsafePointer, tensors);
      }
      const allocation = new ScheduledGraph(graph, tensors);
      if (!this.native.lib.ggml_backend_sched_alloc_graph(this.unsafePointer, graph.unsafePointer)) {
        allocation.end();
        throw this.#noMemory();
      }
      brands.graph.of(graph).setHolder(this.#state);
      allocation.setOwner(this.#handle, this.#state.onReset);
      brands.graph.of(graph).owner = this.#handle;
      this.#state.allocation = allocation;
    });
  }

  /**
   * Computes a graph on a native thread; allocates it first, unless it is the one that has memory. Leave its tensors alone until it is done.
   *
   * Rejects with GraphError, NotAllocatedError, UnsupportedOperationError, AllocationError, BackendError, DisposedError, the signal's reason; with
   * NativeAbortError when native code aborted: the scheduler can't be used any more. C: `ggml_backend_sched_graph_compute`.
   */
  async compute(graph: Graph, options?: WorkOptions): Promise<void> {
    const { signal } = computeSpec.check(options);
    signal?.throwIfAborted();
    assertAnyThread(this.backends);
    this.#ready(graph);
    await this.#run(graph, signal);
  }

  /** Computes a graph on the calling thread, which it blocks: for small graphs. Throws as {@linkcode Scheduler.compute} rejects. C: `ggml_backend_sched_graph_compute_async`. */
  computeSync(graph: Graph): void {
    this.#assertIdle("compute");
    this.#ready(graph);
    const { unsafePointer } = this;
    const { lib } = this.native;
    const { releases, checks } = this.#retain(graph);
    const status = this.#thread.runSync(
      releases,
      () =>
        withNodeCallback(this.native, unsafePointer, { checks, shown: undefined }, () => {
          const computed = lib.ggml_backend_sched_graph_compute_async(unsafePointer, graph.unsafePointer);
          lib.ggml_backend_sched_synchronize(unsafePointer);
          return computed;
        }),
    );
    this.#check(status);
  }

  /**
   * Computes a graph and shows its nodes as they are computed, in order: while a node is in the loop's body the computation waits, and the node's values
   * can be read. Leaving the loop stops the computation. Throws as {@linkcode Scheduler.compute} rejects. C: `ggml_backend_sched_set_eval_callback`.
   *
   * ```ts ignore
   * for await (const node of scheduler.evaluate(graph)) console.log(node.name, node.read());
   * ```
   */
  async *evaluate(graph: Graph, options?: EvaluateOptions): AsyncGenerator<Tensor, void, void> {
    const { signal, filter } = evaluateSpec.check(options);
    signal?.throwIfAborted();
    assertAnyThread(this.backends);
    const nodes = brands.graph.check("graph", graph).nodes.filter((node) => filter(node));
    this.#ready(graph);
    const stream = new NodeStream(nodes.map(({ unsafePointer }) => unsafePointer));
    const run = this.#run(graph, signal, stream);
    stream.endWith(run);
    try {
      for await (const pointer of stream) yield brands.context.of(graph.context).wrap(pointer);
      await run;
    } finally {
      stream.stop();
      await run.catch(() => {});
    }
  }

  /** Waits, and blocks the caller, until all backends are done. C: `ggml_backend_sched_synchronize`. */
  synchronize(): void {
    this.#assertIdle("wait for it");
    this.native.lib.ggml_backend_sched_synchronize(this.unsafePointer);
  }

  /** Forgets assignments and the graph that it has allocated, whose tensors lose their memory. C: `ggml_backend_sched_reset`. */
  reset(): void {
    this.#assertIdle("reset it");
    this.#state.assertUnused("reset the scheduler");
    this.#state.forgetGraph();
    this.#assignments.clear();
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#handle.disposed;
  }

  /** Frees it once its work is done; the backends stay. A second call does nothing. C: `ggml_backend_sched_free`. */
  dispose(): void {
    this.#handle.dispose();
  }

  /** {@linkcode Scheduler.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  async #run(graph: Graph, signal: AbortSignal | undefined, stream?: NodeStream): Promise<void> {
    const { releases, checks } = this.#retain(graph);
    const input = {
      checks,
      scheduler: this.unsafePointer,
      graph: graph.unsafePointer,
      places: this.backends.map((backend) => brands.backend.of(backend).place()),
      watch: stream?.watch,
    };
    const onMessage = stream === undefined
      ? undefined
      : (message: { node?: Pointer<"ggml_tensor"> | undefined }) => stream.add(message.node);
    const status = await this.#thread.run(
      releases,
      (thread) => thread.run("computeScheduled", input, { signal, onMessage }),
    );
    if (stream?.stopped !== true) this.#check(status);
  }

  /** Throws unless this graph can be computed now; allocates it when it has no memory. */
  #ready(graph: Graph): void {
    this.#thread.assertKept();
    for (const backend of this.backends) brands.backend.of(backend).assertKept();
    this.#handle.assertAlive();
    brands.graph.check("graph", graph);
    if (this.#state.allocation?.isOf(graph) !== true) this.allocate(graph);
  }

  /** Retains what a computation uses; returns what is to be checked on the way, too. */
  #retain(graph: Graph): { releases: (() => void)[]; checks: readonly NodeCheck[] } {
    const own = ownOperand(this.native);
    const { release, computed, nodes } = guardIndices(graph, {
      freeze: this.backends.every(({ device }) => device.kind === "cpu"),
      operandOf: (node, slot) => this.#state.sources?.operandOf(node, slot) ?? own(node, slot),
    });
    const releases = retainAll(
      () => release,
      () => this.#handle.retain(),
      () => graph.retain(),
      ...this.backends.map((backend) => () => brands.backend.of(backend).borrow(this)),
    );
    return { releases, checks: nodeChecks(nodes, computed) };
  }

  /** Does work with a graph while neither it nor this object may be changed: devices in TypeScript are asked what they support. */
  #exclusively<T>(graph: Graph, work: () => T): T {
    this.#assertIdle("take another graph");
    brands.graph.check("graph", graph);
    clearEmpty(graph.tensors());
    return this.#thread.runSync(
      retainAll(
        () => brands.graph.of(graph).retainAlone("let a scheduler take it"),
        () => markUnusedLeaves(graph),
        () => this.#handle.retain(),
      ),
      work,
    );
  }

  #prepare(graph: Graph): Set<Pointer<"ggml_tensor">> {
    if (this.#state.allocation?.isGraph(graph) !== true) this.#state.assertUnused("give the scheduler another graph");
    this.#state.forgetGraph();
    const tensors = tensorsOf(this.native, graph);
    checkSchedulable(this.native, tensors, this.backends, this.#graphSize);
    this.#state.sources = new SourceSnapshot(this.native, tensors);
    this.#assignments.apply(this.unsafePointer, tensors);
    return tensors;
  }

  /** Allocates the buffers; native code forgets the assignments afterwards. */
  #fill(graph: Graph, tensors: ReadonlySet<Pointer<"ggml_tensor">>): void {
    this.#hollow = true;
    if (tensors.size === 0) return;
    if (!this.native.lib.ggml_backend_sched_reserve(this.unsafePointer, graph.unsafePointer)) throw this.#noMemory();
    this.#state.sources?.restore();
    this.#hollow = false;
  }

  #check(status: number): void {
    const error = statusError(status, `computing on ${this.backends.map(({ name }) => name).join(" and ")}`);
    if (error !== undefined) throw error;
  }

  #noMemory(): AllocationError {
    this.#hollow = true;
    this.#state.forgetGraph();
    return noMemory(this.backends);
  }

  #ownBackend(backend: Backend): Backend {
    if (this.backends.includes(backend)) return backend;
    throw new InvalidArgumentError("the backend isn't one of this scheduler's", {
      value: backend,
      expected: `one of ${this.backends.map(({ name }) => name).join(", ")}`,
    });
  }

  #assertIdle(doing: string): void {
    this.#handle.assertAlive();
    this.#thread.assertKept();
    if (!this.#thread.working) return;
    throw new BackendError(`the scheduler computes just now; await that before you ${doing}`, {
      value: "computing",
      expected: "a scheduler at rest",
    });
  }

  static {
    definePicture(Scheduler, "Scheduler", (scheduler) => (
      scheduler.#handle.assertAlive(),
        `of ${scheduler.backends.map(({ name }) => name).join(", ")}, ${scheduler.splitCount} splits`
    ));
  }
}
