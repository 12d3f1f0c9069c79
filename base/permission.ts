import { PermissionError } from "./errors.ts";

/** Throws PermissionError in place of an error by which the runtime itself forbids something; other errors go unharmed. */
export function rethrowDenied(error: unknown, doing: string, flag: string): void {
  if (!isDenied(error)) return;
  throw new PermissionError(`${doing} isn't permitted: run with ${flag}`, {
    value: error.message,
    expected: flag,
    cause: error,
  });
}

/** Whether an error is the runtime's own refusal, which no right of the system's would change. */
function isDenied(error: unknown): error is Error {
  try {
    return error instanceof Error && (error.name === "NotCapable" || error.name === "PermissionDenied");
  } catch {
    return false;
  }
}
