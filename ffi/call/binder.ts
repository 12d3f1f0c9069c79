import { hostAbi, place, structType } from "./abi.ts";
import { type CallSupport, callSupport, directCaller, type LibFunction, loweredCaller } from "./caller.ts";
import { SymbolNotFoundError, UnsupportedSignatureError } from "../../base/errors.ts";
import { lower } from "./lower.ts";
import type { AbiSignature, AbiType, NativeRuntime } from "../runtime/types.ts";
import { type CValue, isStruct, type LayoutOf, type Signature } from "../types/signature.ts";
import type { StructFactory } from "../memory/struct_factory.ts";
import type { NativeLibrary } from "../runtime/system.ts";
import { hasThunk, thunkCaller } from "./thunk.ts";

/** Binds C functions by their signatures: the shortest way that the runtime allows. */
export class Binder {
  readonly #runtime: NativeRuntime;
  readonly #support: CallSupport;
  readonly #layoutOf: LayoutOf;

  /** A binder for one runtime, with the layouts of the structs that signatures name. */
  constructor(runtime: NativeRuntime, structs: StructFactory, layoutOf: LayoutOf) {
    this.#runtime = runtime;
    this.#support = callSupport(runtime, structs);
    this.#layoutOf = layoutOf;
  }

  /** A function; one that isn't there or can't be called throws SymbolNotFoundError or UnsupportedSignatureError when it is called. */
  bind(library: NativeLibrary, name: string, signature: Signature): LibFunction {
    const address = library.symbol(name);
    if (address === null) return failing(notExported(name, library.path));
    if (this.#takesAsIs(signature)) {
      const raw = this.#runtime.bind(library.path, name, this.#direct(signature));
      return directCaller(signature, raw, this.#support);
    }
    const placement = place(signature, hostAbi(), this.#layoutOf);
    const lowered = lower(placement, this.#runtime.maxParameters);
    if (!("reason" in lowered)) {
      const abi: AbiSignature = { parameters: lowered.parameters.map(({ type }) => type), result: lowered.result };
      return loweredCaller(signature, placement, lowered, this.#runtime.bind(library.path, name, abi), this.#support);
    }
    if (!hasThunk(placement.abi)) return failing(unsupported(name, lowered.reason));
    return thunkCaller(this.#runtime, address, signature, placement, this.#support);
  }

  /** The function at an address. Throws UnsupportedSignatureError for one with structs by value where the runtime has none. */
  bindAt(address: bigint, signature: Signature): LibFunction {
    if (!this.#takesAsIs(signature)) {
      throw unsupported(`the function at ${address}`, "it takes or gives a struct by value");
    }
    return directCaller(signature, this.#runtime.functionAt(address, this.#direct(signature)), this.#support);
  }

  /** The signature of a callback. Throws UnsupportedSignatureError for one with structs by value where the runtime has none. */
  callbackSignature(name: string, signature: Signature): AbiSignature {
    if (this.#takesAsIs(signature)) return this.#direct(signature);
    throw unsupported(name, "it takes or gives a struct by value");
  }

  #takesAsIs({ parameters, result }: Signature): boolean {
    if (parameters.length > this.#runtime.maxParameters) return false;
    return this.#runtime.structs || !(parameters.some(isStruct) || isStruct(result));
  }

  #direct({ parameters, result }: Signature): AbiSignature {
    const direct = (type: CValue): AbiType => {
      if (type === "pointer") return "u64";
      return isStruct(type) ? structType(this.#layoutOf(type.struct), this.#layoutOf) : type;
    };
    return { parameters: parameters.map(direct), result: result === "void" ? "void" : direct(result) };
  }
}

function failing(error: SymbolNotFoundError | UnsupportedSignatureError): LibFunction {
  return () => {
    throw error;
  };
}

/** The error for a function that a library lacks. */
export function notExported(name: string, path: string): SymbolNotFoundError {
  return new SymbolNotFoundError(`${path} doesn't export ${name}`, {
    value: name,
    expected: "a function of this release: a set of another build may lack it",
  });
}

function unsupported(name: string, reason: string): UnsupportedSignatureError {
  return new UnsupportedSignatureError(`${name} can't be called from this runtime: ${reason}`, {
    value: name,
    expected: "another function",
  });
}
