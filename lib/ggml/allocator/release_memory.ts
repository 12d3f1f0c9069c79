import { brands } from "../brands.ts";
import type { ggml_tensor, Pointer, StructView } from "../../../ffi/mod.ts";
import type { GgmlContext } from "../tensor/context.ts";
import { allContexts } from "../tensor/context_registry.ts";
import type { Tensor } from "../tensor/tensor.ts";

/**
 * Says that buffers are gone: every tensor that lies in one of them has no memory from now on, so that its next use throws NotAllocatedError, and what
 * was handed out of it without a copy is detached.
 */
export function forgetBuffers(buffers: ReadonlySet<bigint>): void {
  if (buffers.size === 0) return;
  for (const context of allContexts) {
    let found = false;
    for (const struct of structsOf(context)) {
      const { buffer } = struct;
      if (buffer === null || !buffers.has(buffer)) continue;
      clearStruct(struct);
      found = true;
    }
    if (found) brands.context.of(context).releaseViews();
  }
}

/** The contexts that have tensors in a buffer. */
export function* contextsIn(buffer: bigint): Generator<GgmlContext> {
  for (const context of allContexts) {
    for (const struct of structsOf(context)) {
      if (struct.buffer !== buffer) continue;
      yield context;
      break;
    }
  }
}

/** A context's tensors as they are in native memory, also the views whose own memory is gone. */
function* structsOf({ native, unsafePointer }: GgmlContext): Generator<StructView<ggml_tensor>> {
  const { lib } = native;
  for (let at = lib.ggml_get_first_tensor(unsafePointer); at !== null;) {
    yield native.structAt("ggml_tensor", at);
    at = lib.ggml_get_next_tensor(unsafePointer, at);
  }
}

/** Takes a tensor's memory from it. */
export function clear(tensor: Tensor): void {
  clearStruct(tensor.struct);
}

function clearStruct(struct: StructView<ggml_tensor>): void {
  struct.data = null;
  struct.buffer = null;
  struct.extra = null;
}

/**
 * Takes tensors without elements out of the buffers in which they lie at no address: native code takes them for tensors without memory, and aborts when it
 * finds the buffer.
 */
export function clearEmpty(tensors: Iterable<Tensor>): void {
  for (const tensor of tensors) {
    const { data, buffer, view_src } = tensor.struct;
    if (data === null && buffer !== null && view_src === null) clear(tensor);
  }
}

/** The tensors of a context that have no memory yet. */
export function unallocated(context: GgmlContext): Tensor[] {
  return [...context.tensors()].filter(({ struct }) =>
    struct.buffer === null && (struct.data === null || struct.view_src !== null)
  );
}

/** The buffers that tensors lie in; views don't count, whose memory may be another one's. */
export function buffersOf(tensors: Iterable<Tensor>): Set<Pointer<"ggml_backend_buffer">> {
  const found = new Set<Pointer<"ggml_backend_buffer">>();
  for (const { struct: { buffer, view_src } } of tensors) if (buffer !== null && view_src === null) found.add(buffer);
  return found;
}
