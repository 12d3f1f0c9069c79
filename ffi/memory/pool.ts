import type { Pointer } from "../types/pointer.ts";
import type { NativeRuntime } from "../runtime/types.ts";
import type { System } from "../runtime/system.ts";

/** Zeroed memory for native code, which other threads may use when the program ends. */
export interface Pool {
  /** Its address, a multiple of {@linkcode POOL_ALIGNMENT}. */
  readonly address: Pointer<"void">;
  /** Frees it; a second call does nothing. */
  release(this: void): void;
}

/** A line of the cache: data that threads share begins at one. */
const POOL_ALIGNMENT = 64;

/**
 * Makes a pool. In Deno it is pages of its own: an uncaught error, and the end of a Worker, free the memory of JavaScript there while a native thread still
 * works with it. Throws an error when there isn't that much.
 */
export function makePool(runtime: NativeRuntime, system: System, byteLength: number): Pool {
  return runtime.keepsMemory ? javascriptPool(runtime, byteLength) : nativePool(system, byteLength);
}

function aligned(address: bigint): bigint {
  return address + BigInt(POOL_ALIGNMENT - 1) & ~BigInt(POOL_ALIGNMENT - 1);
}

function javascriptPool(runtime: NativeRuntime, byteLength: number): Pool {
  let kept: Uint8Array | undefined = new Uint8Array(new ArrayBuffer(byteLength + POOL_ALIGNMENT));
  const address = aligned(runtime.addressOf(kept)) as Pointer<"void">;
  const release = (): void => {
    kept = undefined;
  };
  return { address, release };
}

function nativePool(system: System, byteLength: number): Pool {
  // Never touched, and so without pages: the collector learns by it how much an object holds.
  let weight: ArrayBuffer | undefined = new ArrayBuffer(byteLength);
  const address = system.memory(byteLength);
  const release = (): void => {
    if (weight === undefined) return;
    weight = undefined;
    system.freeMemory(address, byteLength);
  };
  return { address: address as Pointer<"void">, release };
}
