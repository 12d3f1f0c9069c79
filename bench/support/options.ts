import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { hostTarget } from "../../ffi/library/platform.ts";
import { defaultModelPath } from "../../mod.ts";
import { ROOT } from "./places.ts";

/** Options of every benchmark. */
export interface BenchOptions {
  /** One round of little work on one thread: whether the benchmark runs, not a measurement. */
  short: boolean;
  /** The number of measurements of each thing. */
  pairs: number;
  /** The numbers of compute threads to measure with. */
  threads: number[];
  /** Print JSON and nothing else. */
  json: boolean;
  /** The model file. */
  model: string;
  /** The folder of the built libraries. */
  libraries: string;
}

/** Reads the flags that every benchmark has: `--pairs N`, `--threads 1,2`, `--json`, `-m FILE`, `--libraries FOLDER`, `--short`. */
export async function benchOptions(defaultPairs: number): Promise<BenchOptions> {
  const { values } = parseArgs({
    options: {
      pairs: { type: "string" },
      json: { type: "boolean", default: false },
      short: { type: "boolean", default: false },
      model: { type: "string", short: "m" },
      libraries: { type: "string" },
      threads: { type: "string" },
    },
  });
  const { short } = values;
  return {
    short,
    pairs: wholeNumber("--pairs", values.pairs ?? String(short ? 1 : defaultPairs)),
    threads: (values.threads ?? (short ? "1" : "1,2")).split(",").map((text) => wholeNumber("--threads", text)),
    json: values.json,
    model: resolve(values.model ?? await defaultModelPath()),
    libraries: resolve(values.libraries ?? builtLibraries()),
  };
}

function wholeNumber(flag: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) {
    throw new TypeError(`${flag} must be a whole number of at least 1, not ${text}`);
  }
  return number;
}

function builtLibraries(): string {
  const given = process.env["GGML_FFI_LIBRARY_PATH"];
  if (given) return given;
  const folder = join(ROOT, "native", hostTarget());
  if (!existsSync(folder)) {
    throw new Error("the libraries aren't built: run `npm run setup`, or give --libraries FOLDER");
  }
  return folder;
}

/** Prints the progress of a benchmark to standard error. */
export function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
