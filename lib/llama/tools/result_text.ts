import { plainData } from "./plain_data.ts";

/** Returns a tool's result as the model gets it: text as it is, anything else as JSON. Throws InvalidArgumentError, which begins with `where`, for what JSON can't express. */
export function resultText(where: string, value: unknown): string {
  if (typeof value === "string") return value.toWellFormed();
  return value === undefined ? "done" : JSON.stringify(plainData(where, value, { lenient: true }));
}
