import { drainErrors } from "./callback_errors.ts";
import { AllocationError, BackendError, type GgmlError } from "../../errors.ts";

/** The error for a value of `enum ggml_status`; `undefined` for success. */
export function statusError(status: number, what: string): GgmlError | undefined {
  const cause = drainErrors();
  if (status === 0) return undefined;
  if (status === -2) {
    return new AllocationError(
      `${what} needs more memory than the backend gave; free buffers, or take a smaller graph`,
      {
        value: status,
        expected: "as much memory as the graph needs",
      },
    );
  }
  const words = status === 1 ? "was stopped before it was done" : `failed with status ${status}`;
  return new BackendError(`${what} ${words}; what it wrote isn't to be used`, {
    value: status,
    expected: "a backend that works (status 0)",
    ...(cause === undefined ? {} : { cause }),
  });
}
