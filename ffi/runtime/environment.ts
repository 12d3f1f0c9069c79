import process from "node:process";

/** A variable of the environment; `undefined` when it isn't set, is empty, or may not be read. */
export function environment(name: string): string | undefined {
  try {
    return process.env[name] || undefined;
  } catch {
    // In Deno without --allow-env: as if it weren't set.
    return undefined;
  }
}
