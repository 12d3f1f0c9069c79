/**
 * Memory for all tensors of a context at once.
 *
 * @module
 */

import { AllocationError, InvalidArgumentError } from "../../errors.ts";
import { show } from "../../../base/check.ts";
import type { Backend } from "../backend/backend.ts";
import { BackendBuffer } from "../backend/buffer.ts";
import type { BufferType } from "../backend/buffer_type.ts";
import { brands } from "../brands.ts";
import type { GgmlContext } from "../tensor/context.ts";
import { buffersOf, clear, clearEmpty, unallocated } from "./release_memory.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { GraphError } from "../tensor/errors.ts";

/**
 * Allocates every tensor of a context that has no memory yet in one new buffer, of the backend's default type or of the one that is given. When the buffer is
 * disposed the tensors have none again. The context is one without `memory`.
 *
 * Throws GraphError when there is nothing to allocate or a view's owner has no buffer, InvalidArgumentError for a context with memory of its own,
 * AllocationError when there isn't enough, DisposedError. C: `ggml_backend_alloc_ctx_tensors`, `ggml_backend_alloc_ctx_tensors_from_buft`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { allocateContext, BufferType, GgmlContext } from "../mod.ts";
 *
 * using context = await GgmlContext.create();
 * const a = context.tensor("f32", [4]);
 * using _buffer = allocateContext(context, BufferType.cpu(context.native));
 * a.write([1, 2, 3, 4]);
 * assert.deepEqual([...a.read()], [1, 2, 3, 4]);
 * ```
 */
export function allocateContext(context: GgmlContext, where: BufferType | Backend): BackendBuffer {
  const kind = typeOf(where);
  const waiting = checkContext(context);
  const { lib } = context.native;
  const pointer = brands.backend.has(where)
    ? lib.ggml_backend_alloc_ctx_tensors(context.unsafePointer, where.unsafePointer)
    : lib.ggml_backend_alloc_ctx_tensors_from_buft(context.unsafePointer, kind.unsafePointer);
  if (pointer === null) {
    const bytes = lib.ggml_backend_alloc_ctx_tensors_from_buft_size(context.unsafePointer, kind.unsafePointer);
    waiting.forEach(clear);
    throw new AllocationError(`${kind.name} gave no ${bytes} bytes for the tensors of the context; free others first`, {
      value: Number(bytes),
      expected: "as many bytes as the device has free",
    });
  }
  const buffer = new BackendBuffer(context.native, pointer);
  // A buffer of several parts: tensors lie in the parts.
  brands.buffer.of(buffer).own(context, buffersOf(waiting));
  return buffer;
}

/**
 * Returns the number of bytes that {@linkcode allocateContext} would allocate. Throws as it does. C: `ggml_backend_alloc_ctx_tensors_from_buft_size`.
 */
export function contextBufferSize(context: GgmlContext, where: BufferType | Backend): number {
  assertContext(context);
  return Number(
    context.native.lib.ggml_backend_alloc_ctx_tensors_from_buft_size(
      context.unsafePointer,
      typeOf(where).unsafePointer,
    ),
  );
}

function typeOf(where: BufferType | Backend): BufferType {
  if (brands.bufferType.has(where)) return where;
  if (brands.backend.has(where)) return where.device.bufferType;
  throw new InvalidArgumentError(`the place for the tensors is ${show(where)}; give a BufferType or a Backend`, {
    value: where,
    expected: "a BufferType or a Backend",
  });
}

function assertContext(context: GgmlContext): void {
  brands.context.check("the context", context).assertAlive();
  brands.context.of(context).assertSettled();
  if (context.noAlloc) return;
  throw new InvalidArgumentError(
    "the context has memory of its own for its tensors; make one without the option memory",
    {
      value: "a context with memory",
      expected: "a context without",
    },
  );
}

function checkContext(context: GgmlContext): Tensor[] {
  assertContext(context);
  clearEmpty(context.tensors());
  const waiting = unallocated(context);
  const own = new Set(waiting.map(({ unsafePointer }) => unsafePointer));
  for (const tensor of waiting) {
    const owner = tensor.viewOf;
    if (owner === undefined || own.has(owner.unsafePointer) || owner.struct.buffer !== null) continue;
    throw new GraphError(
      `${tensor.label} is a view of ${owner.label}, which lies in no buffer; allocate that one first`,
      {
        value: owner.name,
        expected: "a view of a tensor in a buffer",
      },
    );
  }
  if (waiting.some((tensor) => tensor.viewOf === undefined && tensor.elementCount > 0)) return waiting;
  throw new GraphError("every tensor of the context has memory already", {
    value: waiting.length,
    expected: "a tensor without",
  });
}
