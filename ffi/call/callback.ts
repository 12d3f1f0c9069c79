import { InvalidArgumentError } from "../../base/errors.ts";
import type { NativeRuntime } from "../runtime/types.ts";
import { type CallbackName, callbackSignature } from "../tables.ts";
import type { Callbacks } from "../tables/callbacks.ts";
import type { Pointer } from "../types/pointer.ts";
import type { Binder } from "./binder.ts";

/** A JavaScript function that C may call on the thread that made it, until it is closed. */
export interface NativeCallback<N extends string = string> extends Disposable {
  /** The address to hand to C. */
  readonly pointer: Pointer<N>;
  /** Ends it: C must not call it any more. */
  close(): void;
  /** Does what `close` does. */
  dispose(): void;
}

/** Makes a C function of a callback type from a JavaScript function. Throws InvalidArgumentError for a type that isn't in the headers. */
export function nativeCallback<N extends CallbackName>(
  runtime: NativeRuntime,
  binder: Binder,
  type: N,
  fn: Callbacks[N],
): NativeCallback<N> {
  const signature = callbackSignature(type);
  if (signature === undefined) {
    throw new InvalidArgumentError(`there is no callback type ${type} in the headers`, {
      value: type,
      expected: "a name of Callbacks",
    });
  }
  const abi = binder.callbackSignature(type, signature);
  const pointers = signature.parameters.map((one) => one === "pointer");
  const call = fn as (...values: unknown[]) => unknown;
  const raw = runtime.callback(abi, (...values: unknown[]) => {
    const result = call(...values.map((value, index) => pointers[index] ? nullable(value as bigint | number) : value));
    return signature.result === "pointer" ? result ?? 0n : result;
  });
  const close = (): void => raw.close();
  return { pointer: raw.address as Pointer<N>, close, dispose: close, [Symbol.dispose]: close };
}

function nullable(value: bigint | number): bigint | null {
  const address = BigInt(value);
  return address === 0n ? null : address;
}
