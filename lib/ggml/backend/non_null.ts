import { BackendError } from "../../errors.ts";

/** A pointer that a backend must give. Throws BackendError when it gave NULL all the same. */
export function assertNonNull<T extends bigint>(pointer: T | null, what: string): T {
  if (pointer !== null) return pointer;
  throw new BackendError(`the backend gave no ${what.replace(/^an? /, "")}, which its interface promises`, {
    value: null,
    expected: what,
  });
}
