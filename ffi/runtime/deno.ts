import type { AbiSignature, AbiType, NativeRuntime, RawCallback, RawFunction } from "./types.ts";

type ForeignType = string | { readonly struct: readonly ForeignType[] };

interface ForeignFunction {
  readonly parameters: readonly ForeignType[];
  readonly result: ForeignType;
}

/** A pointer of Deno's own; it never leaves this file. */
declare const pointerMark: unique symbol;
type DenoPointer = { readonly [pointerMark]: true };

/** The parts of Deno that are used. Declared here, so that this file also checks where Deno's types aren't at hand. */
interface DenoFfi {
  dlopen(path: string, symbols: Record<string, ForeignFunction>): { readonly symbols: Record<string, RawFunction> };
  readonly permissions: { requestSync(descriptor: { readonly name: "ffi" }): { readonly state: string } };
  readonly UnsafePointer: {
    of(memory: ArrayBufferView): DenoPointer;
    value(pointer: DenoPointer): bigint;
    create(address: bigint): DenoPointer;
  };
  readonly UnsafePointerView: { getArrayBuffer(pointer: DenoPointer, byteLength: number): ArrayBuffer };
  readonly UnsafeFnPointer: new (pointer: DenoPointer, definition: ForeignFunction) => { call: RawFunction };
  readonly UnsafeCallback: new (
    definition: ForeignFunction,
    fn: RawFunction,
  ) => { readonly pointer: DenoPointer; close(): void };
}

function foreignType(type: AbiType): ForeignType {
  return typeof type === "string" ? type : { struct: type.struct.map(foreignType) };
}

function definition({ parameters, result }: AbiSignature): ForeignFunction {
  return { parameters: parameters.map(foreignType), result: result === "void" ? "void" : foreignType(result) };
}

/** The adapter for Deno. Opens nothing by itself. */
export function denoRuntime(): NativeRuntime {
  const deno = (globalThis as unknown as { readonly Deno: DenoFfi }).Deno;
  const { UnsafePointer: pointers, UnsafePointerView: views, UnsafeFnPointer, UnsafeCallback } = deno;
  const empty = new Uint8Array(new ArrayBuffer(8));
  const bases = new WeakMap<ArrayBufferLike, bigint>();

  /** Asking Deno for an address takes 270 ns, remembering it 30. Touching `.buffer` pins small arrays, which move otherwise. */
  function baseOf(buffer: ArrayBufferLike): bigint {
    // Not remembered: one that was moved away has no memory any more, and one that can grow has its own once it did.
    if (buffer.byteLength === 0) return pointers.value(pointers.of(empty));
    const known = bases.get(buffer);
    if (known !== undefined) return known;
    const base = pointers.value(pointers.of(new Uint8Array(buffer)));
    bases.set(buffer, base);
    return base;
  }

  return {
    name: "deno",
    keepsMemory: false,
    structs: true,
    maxParameters: Infinity,
    // For all of it: with paths, Deno permits no addresses of memory.
    mayCall: () => deno.permissions.requestSync({ name: "ffi" }).state === "granted",
    bind(path: string, symbol: string, signature: AbiSignature): RawFunction {
      // Each symbol is a dlopen of its own: the system counts the references, nothing is loaded twice.
      return deno.dlopen(path, { [symbol]: definition(signature) }).symbols[symbol] as RawFunction;
    },
    functionAt(address: bigint, signature: AbiSignature): RawFunction {
      const fn = new UnsafeFnPointer(pointers.create(address), definition(signature));
      return (...values) => fn.call(...values);
    },
    addressOf(memory: ArrayBufferView): bigint {
      const base = baseOf(memory.buffer);
      return memory.byteOffset === 0 ? base : base + BigInt(memory.byteOffset);
    },
    memory(address: bigint, byteLength: number): ArrayBuffer {
      return views.getArrayBuffer(pointers.create(address), byteLength);
    },
    callback(signature: AbiSignature, fn: RawFunction): RawCallback {
      const made = new UnsafeCallback(definition(signature), fn);
      return { address: pointers.value(made.pointer), close: () => made.close() };
    },
  };
}
