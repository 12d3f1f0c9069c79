import { Native, type Pointer } from "../../../ffi/mod.ts";
import { isInstance, refuse } from "../../../base/check.ts";

/** Returns the libraries. Throws InvalidArgumentError for anything else. */
export function checkNative(native: Native): Native {
  return isInstance(native, Native as unknown as abstract new () => Native)
    ? native
    : refuse("native", native, "the native libraries, as open() gives them");
}

/** Throws InvalidArgumentError unless an object can be made of these: the libraries, and an address that isn't NULL. What lies there can't be checked. */
export function checkAddress<T extends string>(native: Native, pointer: Pointer<T>): void {
  checkNative(native);
  if (typeof pointer !== "bigint" || pointer <= 0n) refuse("pointer", pointer, "an address that native code gave");
}
