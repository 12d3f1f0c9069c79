import process from "node:process";
import { PermissionError } from "../../base/errors.ts";

/** A variable of the environment; `undefined` when it isn't set, is empty, or may not be read. */
export function environment(name: string): string | undefined {
  try {
    return process.env[name] || undefined;
  } catch {
    // In Deno without --allow-env: as if it weren't set.
    return undefined;
  }
}

/** Throws PermissionError in place of an error by which the runtime itself forbids something; other errors go unharmed. */
export function rethrowDenied(error: unknown, doing: string, flag: string): void {
  if (!(error instanceof Error) || (error.name !== "NotCapable" && error.name !== "PermissionDenied")) return;
  throw new PermissionError(`${doing} isn't permitted: run with ${flag}`, {
    value: error.message,
    expected: flag,
    cause: error,
  });
}
