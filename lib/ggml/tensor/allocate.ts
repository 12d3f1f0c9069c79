import type { Native } from "../../../ffi/mod.ts";
import type { Pool } from "../../../ffi/memory/pool.ts";
import { AllocationError } from "../../errors.ts";

/** Zeroed memory of JavaScript for native code on this thread. Throws {@linkcode AllocationError} when there isn't that much. */
export function allocate(native: Native, bytes: number, what: string, alignment = 64): Uint8Array<ArrayBuffer> {
  return explained(bytes, what, () => native.allocate(bytes, alignment));
}

/** Zeroed memory that native threads use, until it is released. Throws {@linkcode AllocationError} when there isn't that much. */
export function allocatePool(native: Native, bytes: number, what: string): Pool {
  return explained(bytes, what, () => native.pool(bytes));
}

function explained<T>(bytes: number, what: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw new AllocationError(`there are no ${bytes} bytes of memory for ${what}; ask for less`, {
      value: bytes,
      expected: "less",
      cause,
    });
  }
}
