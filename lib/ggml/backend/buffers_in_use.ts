import type { BackendBuffer } from "./buffer.ts";

/** The buffers in use, by address: a computation retains those that its tensors lie in. */
export const buffersInUse: Map<bigint, BackendBuffer> = new Map();

/** The buffer at an address; `undefined` for one that an allocator or the raw layer owns. */
export function bufferAt(pointer: bigint): BackendBuffer | undefined {
  return buffersInUse.get(pointer);
}
