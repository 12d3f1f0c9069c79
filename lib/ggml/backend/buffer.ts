import { definePicture, sizePicture } from "../../../base/inspect.ts";
import { BufferCore } from "./buffer_core.ts";
import { checkAddress } from "../tensor/address.ts";
import { brands } from "../brands.ts";
import type { Native, Pointer } from "../../../ffi/mod.ts";
import { BackendError, InvalidArgumentError, NotAllocatedError } from "../../errors.ts";
import { checkInteger, checkOneOf } from "../../../base/check.ts";
import type { BufferType } from "./buffer_type.ts";
import { assertNonNull } from "./non_null.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { contextsIn } from "../allocator/release_memory.ts";
import { statusError } from "./status.ts";
import { wrapBufferType } from "./wrappers.ts";
import { bufferAt } from "./buffers_in_use.ts";
import { assertUnlocked } from "../indices/lock.ts";
import { rangeOfBuffer } from "../indices/range.ts";

function taken(isView: boolean): InvalidArgumentError {
  return new InvalidArgumentError(
    isView
      ? "the tensor is a view with memory, or can't have memory of its own"
      : "the tensor has memory already, or isn't a view",
    { value: isView, expected: "a tensor without memory" },
  );
}

/** Usage of a buffer: the scheduler computes a node on the device that holds its weights. */
export type BufferUsage = "any" | "weights" | "compute";

/** In the order of `enum ggml_backend_buffer_usage`. */
const usages: readonly BufferUsage[] = ["any", "weights", "compute"];

/**
 * Memory of a device, in which tensors lie.
 *
 * C: `ggml_backend_buffer_t`.
 */
export class BackendBuffer implements Disposable {
  /** The libraries. */
  readonly native: Native;
  readonly #core: BufferCore;

  /** Takes over a buffer that the raw layer made; `bytes` is what it lies in, when that is an array of JavaScript. */
  constructor(native: Native, pointer: Pointer<"ggml_backend_buffer">, bytes?: Uint8Array<ArrayBuffer>) {
    checkAddress(native, pointer);
    this.native = native;
    this.#core = new BufferCore(native, pointer, bytes);
    brands.buffer.add(this, this.#core);
    for (const context of contextsIn(pointer)) this.#core.own(context, [pointer]);
  }

  /** The address, for the raw layer. Throws DisposedError once it was disposed. */
  get unsafePointer(): Pointer<"ggml_backend_buffer"> {
    return this.#core.handle.pointer;
  }

  /** Its name, that of its type. C: `ggml_backend_buffer_name`. */
  get name(): string {
    return this.native.readCString(this.native.lib.ggml_backend_buffer_name(this.unsafePointer));
  }

  /** Its size in bytes. C: `ggml_backend_buffer_get_size`. */
  get size(): number {
    return Number(this.native.lib.ggml_backend_buffer_get_size(this.unsafePointer));
  }

  /** Tensors start at multiples of this many bytes. C: `ggml_backend_buffer_get_alignment`. */
  get alignment(): number {
    return Number(this.native.lib.ggml_backend_buffer_get_alignment(this.unsafePointer));
  }

  /** The most bytes that a buffer of its type can have; `Infinity` where there is no limit. C: `ggml_backend_buffer_get_max_size`. */
  get maxSize(): number {
    return this.type.maxSize;
  }

  /** Its type. C: `ggml_backend_buffer_get_type`. */
  get type(): BufferType {
    return wrapBufferType(
      this.native,
      assertNonNull(this.native.lib.ggml_backend_buffer_get_type(this.unsafePointer), "a buffer type"),
    );
  }

  /** Whether it lies in the processor's own memory. C: `ggml_backend_buffer_is_host`. */
  get isHost(): boolean {
    return this.native.lib.ggml_backend_buffer_is_host(this.unsafePointer);
  }

  /** Its usage; default `"any"`. C: `ggml_backend_buffer_get_usage`. */
  get usage(): BufferUsage {
    return usages[this.native.lib.ggml_backend_buffer_get_usage(this.unsafePointer)] ?? "any";
  }

  /** Says what it is for. Throws InvalidArgumentError. C: `ggml_backend_buffer_set_usage`. */
  set usage(value: BufferUsage) {
    const index = usages.indexOf(checkOneOf("the usage of a buffer", value, usages));
    this.native.lib.ggml_backend_buffer_set_usage(this.unsafePointer, index as 0 | 1 | 2);
  }

  /**
   * Its memory as bytes, not copied: when it is disposed the array's length becomes 0. Throws NotAllocatedError for memory that isn't the processor's.
   * C: `ggml_backend_buffer_get_base`.
   */
  bytes(): Uint8Array<ArrayBuffer> {
    if (!this.isHost) {
      throw new NotAllocatedError(`${this.name} isn't memory of the processor; read its tensors instead`, {
        value: this.name,
        expected: "a buffer with isHost",
      });
    }
    const base = this.native.lib.ggml_backend_buffer_get_base(this.unsafePointer);
    if (base === null) return new Uint8Array(0);
    const bytes = this.native.view(base, this.size);
    this.#core.views.add(bytes.buffer, this);
    return bytes;
  }

  /** Fills it with one byte's value, default 0. Throws GraphError while a computation uses indices in it. C: `ggml_backend_buffer_clear`. */
  clear(value: number = 0): void {
    const byte = checkInteger("value", value, { min: 0, max: 255 });
    assertUnlocked(rangeOfBuffer(this.native, this.unsafePointer));
    this.native.lib.ggml_backend_buffer_clear(this.unsafePointer, byte);
  }

  /**
   * Forgets what tensors have attached to it, before other tensors are put there. Throws BackendError while a computation uses it.
   * C: `ggml_backend_buffer_reset`.
   */
  reset(): void {
    this.#core.handle.assertAlive();
    if (this.#core.handle.busy) {
      throw new BackendError("the buffer is in use by a computation; await that before you reset it", {
        value: this.name,
        expected: "a buffer that nothing computes with",
      });
    }
    this.native.lib.ggml_backend_buffer_reset(this.unsafePointer);
  }

  /**
   * Puts a tensor at a place in it, in bytes from its begin, a multiple of {@linkcode BackendBuffer.alignment}. The allocators do the same by themselves.
   *
   * Throws InvalidArgumentError for a tensor that has memory or is a view, and for a place where it doesn't fit; BackendError when the backend refuses it.
   * C: `ggml_backend_tensor_alloc`, which calls `ggml_backend_buffer_init_tensor`.
   */
  place(tensor: Tensor, offset: number): void {
    const { native, alignment, size } = this;
    brands.context.of(brands.tensor.check("tensor", tensor).context).assertSettled();
    const { data, buffer, view_src } = native.structAt("ggml_tensor", tensor.unsafePointer);
    // A tensor without elements may lie in a buffer at no address.
    if (data !== null || buffer !== null || view_src !== null) throw taken(view_src !== null);
    const needed = Number(native.lib.ggml_backend_buffer_get_alloc_size(this.unsafePointer, tensor.unsafePointer));
    checkInteger("offset", offset, { min: 0, max: Math.max(0, size - needed) });
    if (offset % alignment !== 0 || offset + needed > size) {
      throw new InvalidArgumentError(
        `a tensor of ${needed} bytes doesn't fit at offset ${offset} of a buffer of ${size} bytes, aligned to ${alignment}`,
        { value: offset, expected: `a multiple of ${alignment} up to ${size - needed}` },
      );
    }
    const base = assertNonNull(native.lib.ggml_backend_buffer_get_base(this.unsafePointer), "a base");
    const status = native.lib.ggml_backend_tensor_alloc(
      this.unsafePointer,
      tensor.unsafePointer,
      native.offset(base, offset),
    );
    const error = statusError(status, `placing a tensor in ${this.name}`);
    if (error !== undefined) throw error;
    this.#core.own(tensor.context, [this.unsafePointer]);
  }

  /**
   * Attaches a view to the memory of the tensor that it is a view of. For views that were made before their tensor had memory; the allocators do it by
   * themselves. Throws InvalidArgumentError for what isn't such a view, NotAllocatedError. C: `ggml_backend_view_init`.
   */
  static initView(view: Tensor): void {
    const { native, unsafePointer } = brands.tensor.check("view", view);
    const { view_src, buffer } = native.structAt("ggml_tensor", unsafePointer);
    if (view_src === null || buffer !== null) throw taken(view_src !== null);
    const source = native.structAt("ggml_tensor", view_src);
    if (source.buffer === null || source.data === null) {
      throw new NotAllocatedError("the tensor that the view is of has no memory in a buffer; place that first", {
        value: null,
        expected: "a view of a tensor in a buffer",
      });
    }
    const error = statusError(native.lib.ggml_backend_view_init(unsafePointer), "placing a view");
    if (error !== undefined) throw error;
    const owner = bufferAt(source.buffer);
    if (owner !== undefined) brands.context.of(view.context).keepMemory(owner);
  }

  /** Retains the memory until the returned function is called, even when it is disposed meanwhile. */
  retain(): () => void {
    return this.#core.handle.retain();
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#core.handle.disposed;
  }

  /** Frees it; its tensors have no memory after. A second call does nothing. C: `ggml_backend_buffer_free`. */
  dispose(): void {
    this.#core.handle.dispose();
  }

  /** {@linkcode BackendBuffer.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  static {
    definePicture(
      BackendBuffer,
      "BackendBuffer",
      (buffer) => `${buffer.name}, ${sizePicture(buffer.size)}, ${buffer.usage}`,
    );
  }
}
