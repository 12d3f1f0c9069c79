/** Asked by each guard of an instrumented tree before it refuses: whether it stands, or is taken away for this run. */

import { appendFileSync } from "node:fs";
import process from "node:process";

/** The guard that is taken away. */
export const WITHOUT = "GGML_FFI_WITHOUT_GUARD";
/** The file that gets a line for each guard that refuses. */
export const LOG = "GGML_FFI_GUARD_LOG";
/** The name of the test that runs; child processes inherit it. */
export const TEST = "GGML_FFI_GUARD_TEST";

const without = variable(WITHOUT);
const log = variable(LOG);
const seen = new Set<string>();

/** A variable of the environment; `undefined` also where reading it isn't allowed. */
function variable(name: string): string | undefined {
  try {
    return process.env[name];
  } catch {
    return undefined;
  }
}

/** Whether a guard stands. */
export function stands(id: string): boolean {
  if (log !== undefined) record(id, log);
  return id !== without;
}

function record(id: string, file: string): void {
  const row = `${id}\t${variable(TEST) ?? ""}\n`;
  if (seen.has(row)) return;
  seen.add(row);
  try {
    appendFileSync(file, row);
  } catch {
    // A program that may not write: its guards are not seen.
  }
}

/** What stands in place of a function that refuses. */
export function nothing(..._values: readonly unknown[]): never {
  return undefined as never;
}
