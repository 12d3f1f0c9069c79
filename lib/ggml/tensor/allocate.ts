import type { Native } from "../../../ffi/mod.ts";
import { AllocationError } from "../../errors.ts";

/** Zeroed memory of JavaScript for native code. Throws {@linkcode AllocationError} when there isn't that much. */
export function allocate(native: Native, bytes: number, what: string, alignment = 64): Uint8Array<ArrayBuffer> {
  try {
    return native.allocate(bytes, alignment);
  } catch (cause) {
    throw new AllocationError(`there are no ${bytes} bytes of memory for ${what}; ask for less`, {
      value: bytes,
      expected: "less",
      cause,
    });
  }
}
