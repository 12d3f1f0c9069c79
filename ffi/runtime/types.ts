import process from "node:process";
import { UnsupportedPlatformError } from "../../base/errors.ts";

/** The type of a scalar argument or result, as both FFIs name it. A pointer is a `u64`. */
export type Scalar = "bool" | "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64" | "f32" | "f64";

/** A struct by value, as its members in order. Only an adapter with `structs` takes one. */
export interface StructType {
  /** The members; arrays are written out. */
  readonly struct: readonly AbiType[];
}

/** A parameter or a result. */
export type AbiType = Scalar | StructType;

/** A function's signature once lowered for a runtime and a system. */
export interface AbiSignature {
  /** The parameters in order. */
  readonly parameters: readonly AbiType[];
  /** The result. */
  readonly result: AbiType | "void";
}

/** A bound C function: takes and gives raw values (bigint for 64 bits, Uint8Array for a struct). */
// deno-lint-ignore no-explicit-any
export type RawFunction = (...values: any[]) => any;

/** A JavaScript function that C can call. */
export interface RawCallback {
  /** Its address. */
  readonly address: bigint;
  /** Frees it. */
  close(): void;
}

/** All that differs between Deno and Bun. */
export interface NativeRuntime {
  /** The name of the runtime. */
  readonly name: "deno" | "bun";
  /** Whether structs cross by value as they are; else `abi.ts` lowers them to scalars. */
  readonly structs: boolean;
  /** The most parameters that it takes. */
  readonly maxParameters: number;
  /** Whether the memory of JavaScript stays until the process ends, whatever ends the program. */
  readonly keepsMemory: boolean;
  /** Whether native code may be called. Deno asks its user once, where it can. */
  mayCall(): boolean;
  /** Binds an exported function of a library, which stays open for good. Throws when there is no such library or symbol. */
  bind(path: string, symbol: string, signature: AbiSignature): RawFunction;
  /** A C function at an address. */
  functionAt(address: bigint, signature: AbiSignature): RawFunction;
  /** The address of the first byte of a typed array. Stays right while the array lives. */
  addressOf(memory: ArrayBufferView): bigint;
  /** Native memory as an ArrayBuffer, not copied. */
  memory(address: bigint, byteLength: number): ArrayBuffer;
  /** A JavaScript function as a C function, for calls on this thread. */
  callback(signature: AbiSignature, fn: RawFunction): RawCallback;
}

let chosen: NativeRuntime | undefined;

/** The adapter of the runtime that this program runs on. Throws UnsupportedPlatformError elsewhere. */
export async function nativeRuntime(): Promise<NativeRuntime> {
  if (chosen !== undefined) return chosen;
  if ("deno" in process.versions) chosen = (await import("./deno.ts")).denoRuntime();
  else if ("bun" in process.versions) chosen = (await import("./bun.ts")).bunRuntime();
  else {
    throw new UnsupportedPlatformError("ggml-ffi runs on Deno and Bun; this is neither", {
      value: process.version,
      expected: "Deno 2.9 or later, or Bun 1.4 or later",
    });
  }
  return chosen;
}
