import type { Handle } from "../tensor/handle.ts";

/** What owns a buffer: a BackendBuffer, or a graph allocator. */
export type BufferHandle = Pick<Handle<"ggml_backend_buffer">, "assertAlive" | "retain">;

const handles = new Map<bigint, WeakRef<BufferHandle>>();

/** Adds a buffer that was made; {@linkcode removeBuffer} when it is freed. */
export function addBuffer(pointer: bigint, handle: BufferHandle): void {
  handles.set(pointer, new WeakRef(handle));
}

/** Removes a buffer whose memory goes now. */
export function removeBuffer(pointer: bigint): void {
  handles.delete(pointer);
}

/** The owner of the buffer at an address, which a computation retains; `undefined` for one that a scheduler or the raw layer owns. */
export function bufferAt(pointer: bigint): BufferHandle | undefined {
  return handles.get(pointer)?.deref();
}
