import type { AbiSignature, AbiType, NativeRuntime, RawCallback, RawFunction } from "./runtime.ts";

type ForeignType = Deno.NativeType | Deno.NativeStructType;

function foreignType(type: AbiType): ForeignType {
  return typeof type === "string" ? type : { struct: type.struct.map(foreignType) };
}

function definition(signature: AbiSignature): { parameters: ForeignType[]; result: ForeignType | "void" } {
  const { parameters, result } = signature;
  return { parameters: parameters.map(foreignType), result: result === "void" ? "void" : foreignType(result) };
}

/** The adapter for Deno. Opens nothing by itself. */
export function denoRuntime(): NativeRuntime {
  const empty = new Uint8Array(8);
  const bases = new WeakMap<ArrayBufferLike, bigint>();
  const pointers = Deno.UnsafePointer;

  return {
    name: "deno",
    structs: true,
    bind(path: string, symbol: string, signature: AbiSignature): RawFunction {
      // Each symbol is a dlopen of its own: the system counts the references, nothing is loaded twice.
      const library = Deno.dlopen(path, { [symbol]: definition(signature) as Deno.ForeignFunction });
      return library.symbols[symbol] as RawFunction;
    },
    functionAt(address: bigint, signature: AbiSignature): RawFunction {
      const pointer = pointers.create(address) as Deno.PointerObject<Deno.ForeignFunction>;
      const fn = new Deno.UnsafeFnPointer(pointer, definition(signature) as Deno.ForeignFunction);
      return (...values) => fn.call(...(values as []));
    },
    addressOf(memory: ArrayBufferView): bigint {
      // Asking Deno takes 270 ns, remembering 30; touching `.buffer` also pins small arrays.
      const buffer = memory.buffer;
      let base = bases.get(buffer);
      if (base === undefined || buffer.byteLength === 0) {
        const bytes = buffer.byteLength === 0 ? empty : new Uint8Array(buffer as ArrayBuffer);
        base = pointers.value(pointers.of(bytes));
        bases.set(buffer, base);
      }
      return memory.byteOffset === 0 ? base : base + BigInt(memory.byteOffset);
    },
    memory(address: bigint, byteLength: number): ArrayBuffer {
      return Deno.UnsafePointerView.getArrayBuffer(pointers.create(address) as Deno.PointerObject, byteLength);
    },
    callback(signature: AbiSignature, fn: RawFunction): RawCallback {
      const made = new Deno.UnsafeCallback(definition(signature) as Deno.UnsafeCallbackDefinition, fn as never);
      return { address: pointers.value(made.pointer), close: () => made.close() };
    },
  };
}
