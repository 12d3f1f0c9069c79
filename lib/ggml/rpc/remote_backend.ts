/**
 * Graphs on devices of other machines.
 *
 * @module
 */

import { integer, options, type RulesOf } from "../../../base/options.ts";
import { definePicture } from "../../../base/inspect.ts";
import { type Lib, type Native, type NativeThread, open, type Pointer } from "../../../ffi/mod.ts";
import { startThread } from "../../worker/start.ts";
import { AllocationError, DisposedError, NotAllocatedError } from "../../errors.ts";
import type { GgmlContext } from "../tensor/context.ts";
import type { Graph } from "../graph/graph.ts";
import { checkGraph } from "../backend/graph_check.ts";
import { brands } from "../brands.ts";
import { ownOperand } from "../indices/guard.ts";
import { type GraphPart, splitGraph } from "../indices/parts.ts";
import { traceIndices } from "../indices/trace.ts";
import { buffersOf, clearEmpty, forgetBuffers, unallocated } from "../allocator/release_memory.ts";
import { remoteBuffers } from "../tensor/remote_buffers.ts";
import { connectRules } from "./connect.ts";
import type { RemoteDevice } from "./protocol.ts";
import { checkRemoteDevice, RemoteDevices } from "./connections.ts";
import { statusError } from "../backend/status.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { GraphError, TensorLayoutError } from "../tensor/errors.ts";
import { valuesFrom } from "../tensor/read.ts";
import type { TensorValues } from "../tensor/view.ts";
import { encodeValues, type TensorInput } from "../tensor/write.ts";
import type { GgmlTasks } from "../thread/tasks.ts";

/** Options of opening a device of another machine. */
export interface RemoteBackendOptions {
  /** Time limit of the server's first answer in milliseconds: 1 to 2,147,483,647, default 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds that work may take without a sign of life: 0 to 2,147,483,647, default 120,000; 0 is for ever. */
  readonly watchdogMs?: number | undefined;
  /** Stops the opening. */
  readonly signal?: AbortSignal | undefined;
}

const openSpec = options(
  "RemoteBackend.open",
  {
    ...connectRules,
    watchdogMs: integer({ min: 0, max: 0x7fff_ffff }),
  } satisfies RulesOf<RemoteBackendOptions>,
);

/**
 * A device of another machine, opened for computing. All that crosses the network runs on one native thread, in the order in which it is asked for: a server
 * that is lost is a RemoteLostError there, one that falls silent a NativeHangError; either ends this object. C: `ggml_backend_rpc_init`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { connectRpc, GgmlContext, Graph, ops, RemoteBackend, RpcServer } from "../mod.ts";
 *
 * await using server = await RpcServer.start({ threads: 1 });
 * const { devices: [device] } = await connectRpc(server.endpoint);
 * await using remote = await RemoteBackend.open(device!);
 * using context = await GgmlContext.create();
 * const a = context.tensor("f32", [3]);
 * const sum = ops.sum(context, a);
 * await remote.allocate(context);
 * await remote.write(a, [1, 2, 3]);
 * using graph = new Graph(context).forward(sum);
 * await remote.compute(graph);
 * assert.deepEqual([...await remote.read(sum)], [6]);
 * ```
 */
export class RemoteBackend implements AsyncDisposable {
  /** The device. */
  readonly device: RemoteDevice;
  readonly #native: Native;
  readonly #thread: NativeThread<GgmlTasks>;
  readonly #devices: RemoteDevices;
  readonly #buffers: Set<Pointer<"ggml_backend_buffer">> = new Set();
  readonly #allocating = new Set<Promise<void>>();
  #disposed: Promise<void> | undefined;

  private constructor(device: RemoteDevice, native: Native, thread: NativeThread<GgmlTasks>, devices: RemoteDevices) {
    this.device = device;
    this.#native = native;
    this.#thread = thread;
    this.#devices = devices;
  }

  /** Opens a device. Throws RpcConnectError, RpcProtocolError, RpcInUseError, InvalidArgumentError, and the signal's reason. */
  static async open(device: RemoteDevice, options?: RemoteBackendOptions): Promise<RemoteBackend> {
    checkRemoteDevice("the device", device);
    const { timeoutMs, watchdogMs, signal } = openSpec.check(options);
    signal?.throwIfAborted();
    const native = await open();
    const thread = await startThread<GgmlTasks>(native, { watchdogMs });
    try {
      const devices = await RemoteDevices.open([device], thread, timeoutMs, signal);
      return new RemoteBackend(device, native, thread, devices);
    } catch (error) {
      await thread[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * Allocates memory on the device for the tensors of a context that have none, until this object is disposed. Throws GraphError when there are none,
   * AllocationError when the device hasn't that much. C: `ggml_backend_alloc_ctx_tensors`.
   */
  async allocate(context: GgmlContext): Promise<void> {
    const work = this.#allocate(context);
    this.#allocating.add(work);
    try {
      await work;
    } finally {
      this.#allocating.delete(work);
    }
  }

  async #allocate(context: GgmlContext): Promise<void> {
    this.#assertAlive();
    brands.context.check("the context", context).assertAlive();
    brands.context.of(context).assertSettled();
    clearEmpty(context.tensors());
    const waiting = unallocated(context);
    if (waiting.length === 0) {
      throw new GraphError("the context has no tensor without memory", { expected: "a context without memory" });
    }
    const release = brands.context.of(context).lock();
    const buffer = await this.#work([release], "ggml_backend_alloc_ctx_tensors", context.unsafePointer, this.#backend);
    for (const one of buffersOf(waiting)) {
      this.#buffers.add(one);
      remoteBuffers.add(one);
    }
    if (buffer !== null) return void this.#buffers.add(buffer);
    throw new AllocationError(`${this.device.endpoint} has no memory for the tensors of the context`, {
      value: this.device.endpoint,
      expected: "as many bytes as the device has free",
    });
  }

  /** Writes all values of a tensor that lies on the device. Throws InvalidArgumentError, NotAllocatedError, TensorLayoutError. C: `ggml_backend_tensor_set`. */
  async write(tensor: Tensor, values: TensorInput): Promise<void> {
    this.#checkTensor(tensor);
    if (!tensor.isContiguous) {
      throw new TensorLayoutError(`${tensor.label} has gaps; write to the tensor that it is a view of`, {
        value: tensor.strides,
        expected: "a contiguous tensor",
      });
    }
    const bytes = encodeValues(tensor, values);
    if (bytes.length === 0) return;
    const release = brands.context.of(tensor.context).lock();
    await this.#work([release], "ggml_backend_tensor_set", tensor.unsafePointer, bytes, 0n, BigInt(bytes.length));
  }

  /** Reads all values of a tensor that lies on the device. Throws NotAllocatedError. C: `ggml_backend_tensor_get`. */
  async read(tensor: Tensor): Promise<TensorValues> {
    this.#checkTensor(tensor);
    const bytes = new Uint8Array(tensor.byteLength);
    const release = brands.context.of(tensor.context).lock();
    if (bytes.length > 0) {
      await this.#work([release], "ggml_backend_tensor_get", tensor.unsafePointer, bytes, 0n, BigInt(bytes.length));
    } else release();
    return valuesFrom(tensor, bytes);
  }

  /** Computes a graph whose tensors all lie on the device. Throws InvalidArgumentError for an index outside of its tensor, NotAllocatedError, UnsupportedOperationError, BackendError. C: `ggml_backend_graph_compute`. */
  async compute(graph: Graph): Promise<void> {
    this.#assertAlive();
    const device = this.#devices.pointers[0] as Pointer<"ggml_backend_device">;
    brands.graph.check("graph", graph);
    checkGraph(this.#native, graph, { device, name: this.device.endpoint });
    if (graph.length === 0) throw new GraphError("the graph is empty", { expected: "a graph with nodes" });
    const { inputs, computed } = traceIndices(graph, ownOperand(this.#native));
    const split = splitGraph(graph, computed);
    const [first, ...rest] = split.parts as [GraphPart, ...GraphPart[]];
    // The server would end for an index out of range.
    const parts = [{ ...first, checks: inputs }, ...rest];
    const work = this.#thread.run("computeRemote", { backend: this.#backend, parts });
    const status = await this.#released([split.release, graph.retain()], work);
    const error = statusError(status, `computing on ${this.device.endpoint}`);
    if (error !== undefined) throw error;
  }

  get #backend(): Pointer<"ggml_backend"> {
    return this.#devices.backends[0] as Pointer<"ggml_backend">;
  }

  async #work<K extends keyof Lib & string>(
    releases: readonly (() => void)[],
    name: K,
    ...args: Parameters<Lib[K]>
  ): Promise<ReturnType<Lib[K]>> {
    return await this.#released(releases, this.#thread.call(name, ...args));
  }

  /** Waits for work of the thread, then releases what it retains. */
  async #released<T>(releases: readonly (() => void)[], work: Promise<T>): Promise<T> {
    try {
      return await work;
    } finally {
      // A thread that was lost may still use it.
      if (this.#thread.lost === undefined) releases.forEach((release) => release());
    }
  }

  /** The libraries that it came from. */
  get native(): Native {
    return this.#native;
  }

  #checkTensor(tensor: Tensor): void {
    this.#assertAlive();
    const { buffer } = brands.tensor.check("tensor", tensor).struct;
    if (buffer !== null && this.#buffers.has(buffer)) return;
    throw new NotAllocatedError(
      `${tensor.label} doesn't lie on ${this.device.endpoint}; allocate its context there first`,
      {
        value: tensor.name,
        expected: "a tensor that this device holds",
      },
    );
  }

  #assertAlive(): void {
    if (this.#disposed === undefined) {
      if (this.#thread.lost !== undefined) throw this.#thread.lost;
      return;
    }
    throw new DisposedError(`the device at ${this.device.endpoint} was disposed; open it again`, {
      value: this.device.endpoint,
      expected: "a device in use",
    });
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#disposed !== undefined;
  }

  /** Frees what it allocated, whose tensors have no memory any more, and ends the connection. Waits for the work that was asked for. */
  dispose(): Promise<void> {
    return this.#disposed ??= this.#end();
  }

  /** {@linkcode RemoteBackend.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #end(): Promise<void> {
    // What is being allocated is known after it.
    await Promise.allSettled(this.#allocating);
    forgetBuffers(this.#buffers);
    try {
      for (const buffer of this.#buffers) {
        if (this.#thread.lost === undefined) await this.#thread.call("ggml_backend_buffer_free", buffer);
      }
    } catch (error) {
      // A server that was lost has nothing left to free.
      if (this.#thread.lost === undefined) throw error;
    } finally {
      for (const buffer of this.#buffers) remoteBuffers.delete(buffer);
      await this.#devices.close();
      await this.#thread[Symbol.asyncDispose]();
    }
  }

  static {
    definePicture(
      RemoteBackend,
      "RemoteBackend",
      (backend) => (backend.#assertAlive(), `device ${backend.device.index} of ${backend.device.endpoint}`),
    );
  }
}
