import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { defaultModelPath } from "../../mod.ts";
import { ROOT } from "./places.ts";

/** What every bench takes. */
export interface BenchOptions {
  /** How often each thing is measured. */
  pairs: number;
  /** Print JSON and nothing else. */
  json: boolean;
  /** The model file. */
  model: string;
  /** The folder of the built libraries. */
  libraries: string;
}

/** Reads the flags that every bench has: `--pairs N`, `--json`, `-m FILE`, `--libraries FOLDER`. */
export async function benchOptions(defaultPairs: number): Promise<BenchOptions> {
  const { values } = parseArgs({
    options: {
      pairs: { type: "string", default: String(defaultPairs) },
      json: { type: "boolean", default: false },
      model: { type: "string", short: "m" },
      libraries: { type: "string" },
    },
  });
  const pairs = Number(values.pairs);
  if (!Number.isInteger(pairs) || pairs < 1) {
    throw new TypeError(`--pairs must be a whole number of at least 1, not ${values.pairs}`);
  }
  return {
    pairs,
    json: values.json,
    model: resolve(values.model ?? await defaultModelPath()),
    libraries: resolve(values.libraries ?? builtLibraries()),
  };
}

function builtLibraries(): string {
  const given = process.env["GGML_FFI_LIBRARY_PATH"];
  if (given) return given;
  const folder = join(ROOT, "native", "x86_64-linux-gnu");
  if (!existsSync(folder)) {
    throw new Error("the libraries aren't built: run `npm run setup`, or give --libraries FOLDER");
  }
  return folder;
}

/** Says on standard error how far the bench is. */
export function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
