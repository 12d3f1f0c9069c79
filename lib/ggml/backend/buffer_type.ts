import { definePicture } from "../../../base/inspect.ts";
import { checkAddress, checkNative } from "../tensor/address.ts";
import { brands } from "../brands.ts";
import type { Native, Pointer } from "../../../ffi/mod.ts";
import { AllocationError, InvalidArgumentError } from "../../errors.ts";
import { show } from "../../../base/check.ts";
import { BackendBuffer } from "./buffer.ts";
import type { Device } from "./device.ts";
import { addWrapper, wrapDevice } from "./wrappers.ts";
import { assertInUse } from "./js_devices_in_use.ts";
import type { TensorReference } from "../tensor/references.ts";

/** The largest size that `size_t` can say: a type without a limit gives it. */
const NO_LIMIT = 2n ** 64n - 1n;

/**
 * A kind of memory that tensors can lie in. It belongs to a device and lives as long as the program.
 *
 * C: `ggml_backend_buffer_type_t`.
 */
export class BufferType {
  /** The libraries. */
  readonly native: Native;
  readonly #pointer: Pointer<"ggml_backend_buffer_type">;

  /** A buffer type at an address that the raw layer gave. */
  constructor(native: Native, pointer: Pointer<"ggml_backend_buffer_type">) {
    checkAddress(native, pointer);
    this.native = native;
    brands.bufferType.add(this);
    this.#pointer = pointer;
  }

  /** The address, for the raw layer. Throws DisposedError when it is that of a JavaScript device that was disposed. */
  get unsafePointer(): Pointer<"ggml_backend_buffer_type"> {
    return assertInUse(this.#pointer);
  }

  /** The memory that every CPU backend reads. C: `ggml_backend_cpu_buffer_type`. */
  static cpu(native: Native): BufferType {
    return new BufferType(native, checkNative(native).lib.ggml_backend_cpu_buffer_type());
  }

  /** Its name, such as `"CPU"`. C: `ggml_backend_buft_name`. */
  get name(): string {
    return this.native.readCString(this.native.lib.ggml_backend_buft_name(this.unsafePointer));
  }

  /** Tensors start at multiples of this many bytes. C: `ggml_backend_buft_get_alignment`. */
  get alignment(): number {
    return Number(this.native.lib.ggml_backend_buft_get_alignment(this.unsafePointer));
  }

  /** The most bytes that one buffer can have; `Infinity` where there is no limit. C: `ggml_backend_buft_get_max_size`. */
  get maxSize(): number {
    const size = this.native.lib.ggml_backend_buft_get_max_size(this.unsafePointer);
    return size >= NO_LIMIT ? Infinity : Number(size);
  }

  /** Whether tensors lie in the processor's own memory in ggml's layout. C: `ggml_backend_buft_is_host`. */
  get isHost(): boolean {
    return this.native.lib.ggml_backend_buft_is_host(this.unsafePointer);
  }

  /** The device that it belongs to; `undefined` for the plain CPU type. C: `ggml_backend_buft_get_device`. */
  get device(): Device | undefined {
    const device = this.native.lib.ggml_backend_buft_get_device(this.unsafePointer);
    return device === null ? undefined : wrapDevice(this.native, device);
  }

  /** The bytes that a tensor takes in such a buffer, with padding. C: `ggml_backend_buft_get_alloc_size`. */
  allocSize(tensor: TensorReference): number {
    return Number(
      this.native.lib.ggml_backend_buft_get_alloc_size(
        this.unsafePointer,
        brands.tensor.check("tensor", tensor).unsafePointer,
      ),
    );
  }

  /** Whether it is the same type as another. */
  equals(other: BufferType): boolean {
    return this.unsafePointer === brands.bufferType.check("other", other).unsafePointer;
  }

  /**
   * Allocates a buffer of `size` bytes (0 gives an empty one). Throws AllocationError when the memory can't be had, InvalidArgumentError for what is no
   * size. C: `ggml_backend_buft_alloc_buffer`.
   */
  alloc(size: number): BackendBuffer {
    const { maxSize } = this;
    if (!Number.isSafeInteger(size) || size < 0 || size > maxSize) {
      const expected = `a whole number of bytes from 0 to ${maxSize === Infinity ? Number.MAX_SAFE_INTEGER : maxSize}`;
      throw new InvalidArgumentError(`the size of a buffer is ${show(size)}; give ${expected}`, {
        value: size,
        expected,
      });
    }
    // Some round up before they ask for memory: what no machine has is refused here.
    const pointer = size > MAX_BYTES
      ? null
      : this.native.lib.ggml_backend_buft_alloc_buffer(this.unsafePointer, BigInt(size));
    if (pointer === null) {
      throw new AllocationError(`${this.name} gave no buffer of ${size} bytes; free others first, or ask for less`, {
        value: size,
        expected: "as many bytes as the device has free",
      });
    }
    return new BackendBuffer(this.native, pointer);
  }

  static {
    definePicture(BufferType, "BufferType", (type) => type.name);
  }
}

addWrapper("bufferType", (native, pointer) => new BufferType(native, pointer));

/** More than any machine's address space. */
const MAX_BYTES = 2 ** 47;
