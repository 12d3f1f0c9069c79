/** A failure that the reader can do something about: shown without a stack. */
export class SetupError extends Error {
  override name = "SetupError";
}

/** A command was called wrongly: exit code 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** The `code` of an error of the system; `undefined` for any other error. */
export function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}
