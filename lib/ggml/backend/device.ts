import { allocate } from "../tensor/allocate.ts";
import { integer, options, type RulesOf, text } from "../../../base/options.ts";
import { definePicture } from "../../../base/inspect.ts";
import { checkAddress } from "../tensor/address.ts";
import { brands } from "../brands.ts";
import { nodePointer } from "../tensor/node_pointer.ts";
import type { Native, Pointer } from "../../../ffi/mod.ts";
import { BackendError } from "../../errors.ts";
import { checkInteger } from "../../../base/check.ts";
import { Backend, MAX_THREADS } from "./backend.ts";
import type { BackendBuffer } from "./buffer.ts";
import { bufferFromBytes } from "./host_buffer.ts";
import { BufferType } from "./buffer_type.ts";
import { type DeviceKind, deviceKind } from "./device_kind.ts";
import { BackendEvent } from "./event.ts";
import { BackendModule } from "./backend_module.ts";
import { addWrapper } from "./wrappers.ts";
import { assertInUse } from "./js_devices_in_use.ts";
import type { TensorReference } from "../tensor/references.ts";

/** Capabilities of a device. Plain data. C: `struct ggml_backend_dev_caps`. */
export interface DeviceCapabilities {
  /** It computes and copies while the caller goes on. */
  async: boolean;
  /** It offers memory of the processor from which it copies faster. */
  hostBuffer: boolean;
  /** It takes memory of the processor as a buffer, without copying. */
  bufferFromHostPointer: boolean;
  /** It has events. */
  events: boolean;
  /** Files that are mapped into memory can be loaded for it. */
  mmapSupport: boolean;
}

/** Properties of a device. Plain data. C: `struct ggml_backend_dev_props`. */
export interface DeviceProperties {
  /** Its short name. */
  name: string;
  /** Description. */
  description: string;
  /** The kind of device. */
  kind: DeviceKind;
  /** Bytes of its memory that were free just now; 0 where it doesn't say. */
  memoryFree: number;
  /** Bytes of its memory; 0 where it doesn't say. */
  memoryTotal: number;
  /** Its address on the bus (`"0000:c1:00.0"`), where it has one. */
  deviceId: string | undefined;
  /** Capabilities. */
  capabilities: DeviceCapabilities;
}

/** Options of opening a backend. */
export interface BackendOptions {
  /** Parameters in the words of the device itself, which most ignore. C: the argument `params` of `ggml_backend_dev_init`. */
  params?: string | undefined;
  /** Number of threads that it computes with, for those that have threads; default: the processor's cores. C: `ggml_backend_set_n_threads_t`. */
  threads?: number | undefined;
}

/**
 * A device that computes: a CPU, a GPU, an accelerator or a `JsDevice`. It lives as long as its module is loaded.
 *
 * C: `ggml_backend_dev_t`.
 */
export class Device {
  /** The libraries. */
  readonly native: Native;
  readonly #pointer: Pointer<"ggml_backend_device">;

  /** A device at an address that the raw layer gave. */
  constructor(native: Native, pointer: Pointer<"ggml_backend_device">) {
    checkAddress(native, pointer);
    this.native = native;
    brands.device.add(this);
    this.#pointer = pointer;
  }

  /** The address, for the raw layer. Throws DisposedError for a JavaScript device that was disposed. */
  get unsafePointer(): Pointer<"ggml_backend_device"> {
    return assertInUse(this.#pointer);
  }

  /** Its short name, such as `"CPU"`. C: `ggml_backend_dev_name`. */
  get name(): string {
    return this.native.readCString(this.native.lib.ggml_backend_dev_name(this.unsafePointer));
  }

  /** Description, such as the processor's model. C: `ggml_backend_dev_description`. */
  get description(): string {
    return this.native.readCString(this.native.lib.ggml_backend_dev_description(this.unsafePointer));
  }

  /** The kind of device. C: `ggml_backend_dev_type`. */
  get kind(): DeviceKind {
    return deviceKind(this.native.lib.ggml_backend_dev_type(this.unsafePointer));
  }

  /** Bytes of its memory, free and in all; 0 where it doesn't say. C: `ggml_backend_dev_memory`. */
  get memory(): { free: number; total: number } {
    const free = new BigUint64Array(1);
    const total = new BigUint64Array(1);
    this.native.lib.ggml_backend_dev_memory(this.unsafePointer, free, total);
    return { free: Number(free[0]), total: Number(total[0]) };
  }

  /** All that it says of itself. C: `ggml_backend_dev_get_props`. */
  get properties(): DeviceProperties {
    const { native } = this;
    const props = native.struct("ggml_backend_dev_props");
    native.lib.ggml_backend_dev_get_props(this.unsafePointer, props);
    const { caps } = props;
    return {
      name: native.readCString(props.name),
      description: native.readCString(props.description),
      kind: deviceKind(props.type),
      memoryFree: Number(props.memory_free),
      memoryTotal: Number(props.memory_total),
      deviceId: props.device_id === null ? undefined : native.readCString(props.device_id),
      capabilities: {
        async: caps.async,
        hostBuffer: caps.host_buffer,
        bufferFromHostPointer: caps.buffer_from_host_ptr,
        events: caps.events,
        mmapSupport: caps.mmap_support,
      },
    };
  }

  /** The module that it came with. C: `ggml_backend_dev_backend_reg`. */
  get registration(): BackendModule | undefined {
    const reg = this.native.lib.ggml_backend_dev_backend_reg(this.unsafePointer);
    return reg === null ? undefined : new BackendModule(this.native, reg);
  }

  /** The memory that it likes best. C: `ggml_backend_dev_buffer_type`. */
  get bufferType(): BufferType {
    return new BufferType(this.native, this.native.lib.ggml_backend_dev_buffer_type(this.unsafePointer));
  }

  /** Memory of the processor from which it copies faster; `undefined` where it has none. C: `ggml_backend_dev_host_buffer_type`. */
  get hostBufferType(): BufferType | undefined {
    const pointer = this.native.lib.ggml_backend_dev_host_buffer_type(this.unsafePointer);
    return pointer === null ? undefined : new BufferType(this.native, pointer);
  }

  /** Further kinds of memory, such as those in which weights are rearranged. C: proc address `ggml_backend_dev_get_extra_bufts`. */
  get extraBufferTypes(): BufferType[] {
    const call = this.registration?.function("ggml_backend_dev_get_extra_bufts", {
      parameters: ["pointer"],
      result: "pointer",
    });
    const list = call?.(this.unsafePointer) as Pointer | null | undefined;
    if (list === null || list === undefined) return [];
    return this.native.pointersAt(list).map((pointer) =>
      new BufferType(this.native, pointer as Pointer<"ggml_backend_buffer_type">)
    );
  }

  /** Whether it can compute this node. C: `ggml_backend_dev_supports_op`. */
  supportsOperation(node: TensorReference): boolean {
    return this.native.lib.ggml_backend_dev_supports_op(
      this.unsafePointer,
      nodePointer(node),
    );
  }

  /** Whether it can use tensors in buffers of this type. C: `ggml_backend_dev_supports_buft`. */
  supportsBufferType(type: BufferType): boolean {
    return this.native.lib.ggml_backend_dev_supports_buft(
      this.unsafePointer,
      brands.bufferType.check("type", type).unsafePointer,
    );
  }

  /** Whether it wants to compute this node even if the weights lie elsewhere. C: `ggml_backend_dev_offload_op`. */
  offloadsOperation(node: TensorReference): boolean {
    return this.native.lib.ggml_backend_dev_offload_op(
      this.unsafePointer,
      nodePointer(node),
    );
  }

  /**
   * Opens it for computing. Throws BackendError when it refuses, InvalidArgumentError. C: `ggml_backend_dev_init`; `ggml_backend_init_by_name` and
   * `ggml_backend_init_by_type` do it for a device of a name or a kind.
   */
  open(options?: BackendOptions): Backend {
    const { params, threads } = openSpec.check(options);
    const pointer = this.native.lib.ggml_backend_dev_init(this.unsafePointer, params ?? null);
    if (pointer === null) {
      throw new BackendError(`the device ${this.name} gave no backend; it may be lost, or refuse these parameters`, {
        value: params,
        expected: "a device that works",
      });
    }
    const backend = new Backend(this.native, pointer);
    try {
      if (threads !== undefined) backend.threads = threads;
      return backend;
    } catch (error) {
      backend.dispose();
      throw error;
    }
  }

  /**
   * Wraps existing memory in a buffer without copying it: a write on one side is seen on the other. The array lives as long as the
   * buffer; its address must be a multiple of the buffer type's alignment: {@linkcode Device.alignedBytes} makes such an array.
   *
   * Throws InvalidArgumentError for an array at a bad address, BackendError where the device can't take memory of the processor.
   * C: `ggml_backend_dev_buffer_from_host_ptr`, for the CPU `ggml_backend_cpu_buffer_from_ptr`.
   */
  bufferFromBytes(bytes: Uint8Array<ArrayBuffer>): BackendBuffer {
    if (!this.properties.capabilities.bufferFromHostPointer) {
      throw new BackendError(`${this.name} can't take memory of the processor as a buffer; alloc one and copy`, {
        value: this.name,
        expected: "a device with the capability bufferFromHostPointer",
      });
    }
    return bufferFromBytes(this, bytes);
  }

  /**
   * Bytes for {@linkcode Device.bufferFromBytes}: zeroed, at an address that the device takes. Throws InvalidArgumentError for what is no size, AllocationError where there isn't
   * so much.
   */
  alignedBytes(size: number): Uint8Array<ArrayBuffer> {
    const bytes = checkInteger("size", size, { min: 1, max: 2 ** 32 });
    return allocate(this.native, bytes, "a buffer", this.bufferType.alignment);
  }

  /** Creates an event. Throws BackendError where the device has none. C: `ggml_backend_event_new`. */
  event(): BackendEvent {
    const pointer = this.native.lib.ggml_backend_event_new(this.unsafePointer);
    if (pointer === null) {
      throw new BackendError(`${this.name} has no events; use synchronize()`, {
        value: this.name,
        expected: "a device with the capability events",
      });
    }
    return new BackendEvent(this.native, pointer);
  }

  /** Whether it is the same device as another. */
  equals(other: Device): boolean {
    return this.unsafePointer === brands.device.check("other", other).unsafePointer;
  }

  static {
    definePicture(Device, "Device", (device) => `${device.name} (${device.description}), ${device.kind}`);
  }
}

const openSpec = options(
  "open",
  {
    params: text(),
    threads: integer({ min: 1, max: MAX_THREADS }),
  } satisfies RulesOf<BackendOptions>,
);

addWrapper("device", (native, pointer) => new Device(native, pointer));
