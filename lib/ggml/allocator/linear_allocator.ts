import { definePicture, sizePicture } from "../../../base/inspect.ts";
import type { Native, StructView } from "../../../ffi/mod.ts";
import type { ggml_tallocr } from "../../../ffi/mod.ts";
import { AllocationError, BackendError, InvalidArgumentError } from "../../errors.ts";
import { brands } from "../brands.ts";
import type { BackendBuffer } from "../backend/buffer.ts";
import type { Tensor } from "../tensor/tensor.ts";

/**
 * Puts tensors into a buffer one after another. Nothing is given back: when the buffer is disposed all of them have no memory again. C: `struct ggml_tallocr`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { BufferType, GgmlContext, LinearAllocator } from "../mod.ts";
 *
 * using context = await GgmlContext.create();
 * const [a, b] = [context.tensor("f32", [100]), context.tensor("f32", [100])];
 * using buffer = BufferType.cpu(context.native).alloc(600);
 * const allocator = new LinearAllocator(buffer);
 * allocator.alloc(a);
 * assert.throws(() => allocator.alloc(b), { code: "ALLOCATION" });
 * ```
 */
export class LinearAllocator {
  /** The buffer that it fills. */
  readonly buffer: BackendBuffer;
  readonly #native: Native;
  readonly #state: StructView<ggml_tallocr>;

  /** Begins at the start of a buffer. Throws InvalidArgumentError, DisposedError. C: `ggml_tallocr_new`. */
  constructor(buffer: BackendBuffer) {
    brands.buffer.check("the buffer", buffer);
    this.buffer = buffer;
    this.#native = buffer.native;
    this.#state = this.#native.lib.ggml_tallocr_new(buffer.unsafePointer);
  }

  /** Bytes that are taken. C: `offset`. */
  get usedBytes(): number {
    return Number(this.#state.offset);
  }

  /**
   * Allocates memory for a tensor. Throws AllocationError when the buffer has too little left, InvalidArgumentError for a view and a tensor that has memory,
   * BackendError when the backend refuses it, DisposedError. C: `ggml_tallocr_alloc`.
   */
  alloc(tensor: Tensor): this {
    brands.context.of(brands.tensor.check("the tensor", tensor).context).assertSettled();
    if (tensor.isAllocated || tensor.struct.view_src !== null) {
      const what = tensor.isAllocated ? "has memory already" : "is a view";
      throw new InvalidArgumentError(`${tensor.label} ${what}; give a tensor of its own without memory`, {
        value: tensor.name,
        expected: "a tensor without memory",
      });
    }
    const { lib } = this.#native;
    const size = Number(lib.ggml_backend_buffer_get_alloc_size(this.buffer.unsafePointer, tensor.unsafePointer));
    const padded = Math.ceil(size / this.buffer.alignment) * this.buffer.alignment;
    const left = this.buffer.size - this.usedBytes;
    if (padded > left) {
      throw new AllocationError(
        `${tensor.label} takes ${padded} bytes, and the buffer has ${left} left; make a larger buffer`,
        {
          value: padded,
          expected: `at most ${left} bytes`,
        },
      );
    }
    const status = lib.ggml_tallocr_alloc(this.#native.addressOf(this.#state), tensor.unsafePointer);
    if (status === 0) {
      brands.buffer.of(this.buffer).own(tensor.context, [this.buffer.unsafePointer]);
      return this;
    }
    throw new BackendError(`${this.buffer.name} refused ${tensor.label}`, { value: status, expected: "success" });
  }

  static {
    definePicture(
      LinearAllocator,
      "LinearAllocator",
      (allocator) => `${sizePicture(allocator.usedBytes)} of ${sizePicture(allocator.buffer.size)}`,
    );
  }
}
