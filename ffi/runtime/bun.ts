import process from "node:process";
import { UnsupportedSignatureError } from "../../base/errors.ts";
import type { AbiSignature, AbiType, NativeRuntime, RawCallback, RawFunction } from "./types.ts";

/** The most parameters that Bun's FFI takes. */
export const MAX_PARAMETERS = 32;

interface BunFunction {
  readonly args: readonly string[];
  readonly returns: string;
  readonly ptr?: number;
}

/** The parts of `bun:ffi` that are used. */
interface BunFfi {
  dlopen(path: string, symbols: Record<string, BunFunction>): { symbols: Record<string, RawFunction> };
  CFunction(definition: BunFunction): RawFunction;
  ptr(view: ArrayBufferView): number;
  toArrayBuffer(pointer: number, byteOffset: number, byteLength: number): ArrayBuffer;
  JSCallback: new (fn: RawFunction, definition: BunFunction) => { readonly ptr: number | null; close(): void };
}

function scalar(type: AbiType): string {
  if (typeof type === "string") return type;
  throw new UnsupportedSignatureError("Bun's FFI takes no structs by value", {
    value: type,
    expected: "a lowered signature",
  });
}

function definition(signature: AbiSignature): BunFunction {
  if (signature.parameters.length > MAX_PARAMETERS) {
    throw new UnsupportedSignatureError(`Bun's FFI takes at most ${MAX_PARAMETERS} parameters`, {
      value: signature.parameters.length,
      expected: `at most ${MAX_PARAMETERS}`,
    });
  }
  return {
    args: signature.parameters.map(scalar),
    returns: signature.result === "void" ? "void" : scalar(signature.result),
  };
}

/** The adapter for Bun. Opens nothing by itself. */
export function bunRuntime(): NativeRuntime {
  // Asked for by name, so that bundlers for other runtimes don't stumble over it.
  const ffi = process.getBuiltinModule("bun:ffi") as unknown as BunFfi;
  const empty = new Uint8Array(new ArrayBuffer(8));
  const emptyAddress = BigInt(ffi.ptr(empty));

  return {
    name: "bun",
    keepsMemory: true,
    structs: false,
    maxParameters: MAX_PARAMETERS,
    mayCall: () => true,
    bind(path: string, symbol: string, signature: AbiSignature): RawFunction {
      return ffi.dlopen(path, { [symbol]: definition(signature) }).symbols[symbol] as RawFunction;
    },
    functionAt(address: bigint, signature: AbiSignature): RawFunction {
      return ffi.CFunction({ ...definition(signature), ptr: Number(address) });
    },
    addressOf(memory: ArrayBufferView): bigint {
      // The address of a small array changes when its `.buffer` is first touched: touch it before asking.
      const buffer = memory.buffer;
      if (memory.byteLength !== 0) return BigInt(ffi.ptr(memory));
      return buffer.byteLength === 0
        ? emptyAddress
        : BigInt(ffi.ptr(new Uint8Array(buffer))) + BigInt(memory.byteOffset);
    },
    memory(address: bigint, byteLength: number): ArrayBuffer {
      return ffi.toArrayBuffer(Number(address), 0, byteLength);
    },
    callback(signature: AbiSignature, fn: RawFunction): RawCallback {
      const made = new ffi.JSCallback(fn, definition(signature));
      return { address: BigInt(made.ptr ?? 0), close: () => made.close() };
    },
  };
}
