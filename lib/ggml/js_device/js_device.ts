import { callback, options, type RulesOf, text } from "../../../base/options.ts";
import { definePicture } from "../../../base/inspect.ts";
import { type CallbackName, type Native, open, type Pointer, type StructView } from "../../../ffi/mod.ts";
import type { ggml_backend_device, ggml_backend_i } from "../../../ffi/mod.ts";
import { ggml_backend_dev_type, ggml_op, ggml_status, ggml_tensor_flag } from "../../../ffi/mod.ts";
import type { Callbacks } from "../../../ffi/tables/callbacks.ts";
import { beginJsDevice, callerOnly, endJsDevice } from "../backend/js_devices_in_use.ts";
import { checkNative } from "../tensor/address.ts";
import { Device } from "../backend/device.ts";
import { drainErrors, recordError } from "../backend/callback_errors.ts";
import { CallbackSet, JsMemory } from "./memory.ts";
import { type JsNode, lendJsNode } from "./node.ts";

/** Options of {@linkcode JsDevice}. */
export interface JsDeviceOptions {
  /** Its short name. */
  name: string;
  /** Description. Default: its name. */
  description?: string | undefined;
  /** Says whether it computes a node: its operator, types, shapes and parameters are known, its values not yet. What it throws counts as no. */
  supports: (node: JsNode) => boolean;
  /** Computes a node: reads the data of its sources and writes its own. What it throws is the cause of a BackendError. */
  compute: (node: JsNode) => void;
  /** Says whether it wants a node even if the weights lie elsewhere. Default: never. */
  offloads?: ((node: JsNode) => boolean) | undefined;
}

const deviceSpec = options(
  "JsDevice",
  {
    name: text({ required: true }),
    description: text(),
    supports: callback<JsDeviceOptions["supports"], { required: true }>({ required: true }),
    compute: callback<JsDeviceOptions["compute"], { required: true }>({ required: true }),
    offloads: callback<NonNullable<JsDeviceOptions["offloads"]>>(),
  } satisfies RulesOf<JsDeviceOptions>,
);

/** Devices that native code may call: a program may keep no more than a backend of one. */
const inUse = new Set<JsDevice>();

/**
 * A device whose operators are TypeScript: ggml's tables of functions, filled with callbacks. A scheduler is given backends that were opened on it, beside
 * one with a CPU. It isn't in the registry: other threads would find it there, and only the thread that made it may call it. So it computes by
 * `computeSync`; `compute` is refused.
 *
 * C: `struct ggml_backend_device`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { GgmlContext, Graph, ops, Registry, Scheduler, JsDevice } from "../mod.ts";
 *
 * using mine = await JsDevice.create({
 *   name: "Mine",
 *   supports: ({ op, type }) => op === "SQR" && type === "f32",
 *   compute: ({ sources: [a], data }) => a!.data.forEach((value, index) => data[index] = Number(value) ** 2),
 * });
 * const registry = await Registry.open();
 * using backend = mine.device.open();
 * using cpu = registry.device("CPU").open({ threads: 1 });
 * using scheduler = new Scheduler([backend, cpu]);
 * using context = await GgmlContext.create();
 * const x = context.tensor("f32", [3]).setInput();
 * const square = ops.sqr(context, x);
 * const sum = ops.sum(context, square).setOutput();
 * using graph = new Graph(context).forward(sum);
 * scheduler.assign(square, backend);
 * scheduler.allocate(graph);
 * x.write([1, 2, 3]);
 * scheduler.computeSync(graph);
 * assert.equal(sum.read()[0], 14);
 * ```
 */
export class JsDevice implements Disposable {
  /** The device, to open backends on. */
  readonly device: Device;
  readonly #native: Native;
  readonly #options: JsDeviceOptions;
  readonly #callbacks: CallbackSet;
  readonly #memory: JsMemory;
  readonly #view: StructView<ggml_backend_device>;
  /** The structs of opened backends, by address. */
  readonly #backends = new Map<bigint, { readonly struct: unknown; readonly guid: Uint8Array }>();
  readonly #events = new Map<bigint, unknown>();
  readonly #texts: Uint8Array<ArrayBuffer>[] = [];
  #functions: Partial<ggml_backend_i> | undefined;
  #disposed = false;

  /** Opens the libraries and creates a device. Throws InvalidArgumentError. */
  static async create(options: JsDeviceOptions): Promise<JsDevice> {
    return new JsDevice(await open(), options);
  }

  /** Creates a device with libraries that are open. Throws InvalidArgumentError. */
  constructor(native: Native, options: JsDeviceOptions) {
    checkNative(native);
    const settings = deviceSpec.check(options);
    const { name, description = name } = settings;
    this.#options = settings;
    this.#native = native;
    this.#callbacks = new CallbackSet(native, recordError);
    const make = <N extends CallbackName>(type: N, call: Callbacks[N]): Pointer<N> => this.#make(type, call, 0n);
    const label = this.#text(name);
    this.#memory = new JsMemory(native, label, make, () => this.#sweep());
    this.#view = native.struct("ggml_backend_device");
    Object.assign(this.#view.iface, this.#deviceFunctions(label, this.#text(description)));
    beginJsDevice(...this.#addresses());
    this.device = new Device(native, native.addressOf<"ggml_backend_device">(this.#view));
    this.#memory.type.device = this.device.unsafePointer;
    inUse.add(this);
  }

  /** Ends it once its backends, buffers and events are gone; nothing may be opened on it after. */
  dispose(): void {
    this.#disposed = true;
    this.#sweep();
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#disposed;
  }

  /** {@linkcode JsDevice.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Not at once: native code may be on its way out of the callback that gave the last one back. */
  #sweep(): void {
    if (!this.#disposed || this.#isUsed()) return;
    endJsDevice(...this.#addresses());
    setTimeout(() => {
      this.#callbacks.close();
      inUse.delete(this);
    });
  }

  #addresses(): bigint[] {
    return [this.#native.addressOf(this.#view), this.#native.addressOf(this.#memory.type)];
  }

  #isUsed(): boolean {
    return this.#memory.count + this.#backends.size + this.#events.size > 0;
  }

  #text(text: string): Pointer<"char"> {
    const bytes = new TextEncoder().encode(`${text}\0`);
    this.#texts.push(bytes);
    return this.#native.addressOf<"char">(bytes);
  }

  #make<N extends CallbackName>(type: N, call: Callbacks[N], otherwise: unknown): Pointer<N> {
    return this.#callbacks.make(type, call, otherwise);
  }

  #asks(ask: ((node: JsNode) => boolean) | undefined, node: Pointer<"ggml_tensor"> | null): boolean {
    return ask !== undefined && node !== null && lendJsNode(this.#native, node, ask) === true;
  }

  #deviceFunctions(name: Pointer<"char">, description: Pointer<"char">): object {
    const { supports, offloads } = this.#options;
    const native = this.#native;
    const kind = ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_ACCEL;
    return {
      get_name: this.#make("ggml_backend_device_i.get_name", () => name, 0n),
      get_description: this.#make("ggml_backend_device_i.get_description", () => description, 0n),
      get_memory: this.#make("ggml_backend_device_i.get_memory", (_, free, total) => {
        // None of a size of its own.
        for (const size of [free, total]) if (size !== null) native.view(size, 8).fill(0);
      }, undefined),
      get_type: this.#make("ggml_backend_device_i.get_type", () => kind, kind),
      get_props: this.#make("ggml_backend_device_i.get_props", (_, props) => {
        if (props === null) return;
        const view = native.structAt("ggml_backend_dev_props", props);
        Object.assign(view, { name, description, type: kind });
        Object.assign(view.caps, { async: false, events: true });
      }, undefined),
      init_backend: this.#make("ggml_backend_device_i.init_backend", () => this.#open(name), 0n),
      get_buffer_type: this.#make(
        "ggml_backend_device_i.get_buffer_type",
        () => native.addressOf<"ggml_backend_buffer_type">(this.#memory.type),
        0n,
      ),
      supports_op: this.#make(
        "ggml_backend_device_i.supports_op",
        (_, node) => isView(native, node) || this.#asks(supports, node),
        false,
      ),
      supports_buft: this.#make(
        "ggml_backend_device_i.supports_buft",
        (_, type) => type === native.addressOf<"ggml_backend_buffer_type">(this.#memory.type),
        false,
      ),
      offload_op: this.#make("ggml_backend_device_i.offload_op", (_, node) => this.#asks(offloads, node), false),
      event_new: this.#make("ggml_backend_device_i.event_new", (device) => this.#newEvent(device), 0n),
      event_free: this.#make("ggml_backend_device_i.event_free", (_, event) => {
        if (event !== null) this.#events.delete(event);
        this.#sweep();
      }, undefined),
      // Whatever it was given is done when the call returns.
      event_synchronize: this.#make("ggml_backend_device_i.event_synchronize", () => {}, undefined),
    };
  }

  #newEvent(device: Pointer<"ggml_backend_device"> | null): Pointer<"ggml_backend_event"> {
    const event = this.#native.struct("ggml_backend_event");
    event.device = device;
    const pointer = this.#native.addressOf<"ggml_backend_event">(event);
    this.#events.set(pointer, event);
    return pointer;
  }

  #open(name: Pointer<"char">): Pointer<"ggml_backend"> | null {
    if (this.#disposed) return null;
    const struct = this.#native.struct("ggml_backend");
    const guid = crypto.getRandomValues(new Uint8Array(16));
    struct.guid = this.#native.addressOf(guid);
    struct.device = this.device.unsafePointer;
    Object.assign(struct.iface, this.#functions ??= this.#backendFunctions(name));
    const pointer = this.#native.addressOf<"ggml_backend">(struct);
    this.#backends.set(pointer, { struct, guid });
    callerOnly.add(pointer);
    return pointer;
  }

  #backendFunctions(name: Pointer<"char">): Partial<ggml_backend_i> {
    const memory = this.#memory;
    return {
      get_name: this.#make("ggml_backend_i.get_name", () => name, 0n),
      free: this.#make("ggml_backend_i.free", (backend) => this.#close(backend), undefined),
      set_tensor_async: this.#make("ggml_backend_i.set_tensor_async", (_, ...args) => memory.set(...args), undefined),
      get_tensor_async: this.#make("ggml_backend_i.get_tensor_async", (_, ...args) => memory.get(...args), undefined),
      cpy_tensor_async: this.#make("ggml_backend_i.cpy_tensor_async", () => false, false),
      synchronize: this.#make("ggml_backend_i.synchronize", () => {}, undefined),
      graph_compute: this.#make(
        "ggml_backend_i.graph_compute",
        (_, graph) => this.#compute(graph),
        ggml_status.GGML_STATUS_FAILED,
      ),
      event_record: this.#make("ggml_backend_i.event_record", () => {}, undefined),
      event_wait: this.#make("ggml_backend_i.event_wait", () => {}, undefined),
    };
  }

  #close(backend: Pointer<"ggml_backend"> | null): void {
    if (backend === null) return;
    callerOnly.delete(backend);
    this.#backends.delete(backend);
    this.#sweep();
  }

  #compute(graph: Pointer<"ggml_cgraph"> | null): ggml_status {
    drainErrors();
    const native = this.#native;
    const count = graph === null ? 0 : native.lib.ggml_graph_n_nodes(graph);
    for (let index = 0; index < count && graph !== null; index++) {
      const node = native.lib.ggml_graph_node(graph, index);
      const { flags } = native.structAt("ggml_tensor", node);
      const isWanted = (flags & ggml_tensor_flag.GGML_TENSOR_FLAG_COMPUTE) !== 0 && !native.lib.ggml_is_empty(node);
      if (isWanted && !isView(native, node)) lendJsNode(native, node, this.#options.compute);
    }
    return ggml_status.GGML_STATUS_SUCCESS;
  }

  static {
    definePicture(JsDevice, "JsDevice", (device) => device.device.name);
  }
}

/** Whether a node computes nothing. */
function isView(native: Native, node: Pointer<"ggml_tensor"> | null): boolean {
  if (node === null) return false;
  const { op } = native.structAt("ggml_tensor", node);
  return op === ggml_op.GGML_OP_NONE || op === ggml_op.GGML_OP_RESHAPE || op === ggml_op.GGML_OP_VIEW ||
    op === ggml_op.GGML_OP_PERMUTE || op === ggml_op.GGML_OP_TRANSPOSE;
}
