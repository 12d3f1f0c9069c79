/**
 * Tries damaged inputs of each kind in child processes and prints what became of them.
 *
 *   deno run -A tests/hostile/rounds.ts [--kinds gguf,…] [--count N] [--seed N] [--runtime deno|bun|both]
 */

import { readFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { moduleCommand, runProgram, type RuntimeName, runtimesOf } from "../support/program.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import type { Outcome } from "./child.ts";

/** Inputs in one process. */
const BATCH = 500;
/** A batch that takes longer hangs. */
const LIMIT_MS = 300_000;

/** The outcome of a batch, or how its process ended. */
export type Batch = { readonly outcome: Outcome } | { readonly death: string };

/** Tries inputs `first` to `first + count - 1` of a kind. */
export async function runBatch(
  which: RuntimeName,
  kind: string,
  seed: number,
  first: number,
  count: number,
): Promise<Batch> {
  using folder = new TemporaryFolder();
  const args = [kind, ...[seed, first, count].map(String), folder.path];
  const command = moduleCommand("tests/hostile/child.ts", args, which);
  const { code, signal, stdout, stderr } = await runProgram(command, { limitMs: LIMIT_MS });
  const line = stdout.trimEnd().split("\n").at(-1) ?? "";
  if (code === 0 && line.startsWith("{")) return { outcome: JSON.parse(line) as Outcome };
  const at = readFileSync(folder.file("at"), { encoding: "utf8", flag: "a+" }).trimEnd().split("\n").at(-1);
  return { death: `${signal ?? `exit ${code}`} at input ${at}: ${stderr.trim().split("\n").slice(-3).join(" | ")}` };
}

/** Adds up two outcomes. */
export function addOutcomes(a: Outcome, b: Outcome): Outcome {
  const refused = { ...a.refused };
  for (const [code, count] of Object.entries(b.refused)) refused[code] = (refused[code] ?? 0) + count;
  return {
    taken: a.taken + b.taken,
    refused,
    untyped: [...a.untyped, ...b.untyped],
    residentBytes: Math.max(a.residentBytes, b.residentBytes),
    longestMs: Math.max(a.longestMs, b.longestMs),
  };
}

async function runKind(runtime: RuntimeName, kind: string, seed: number, count: number): Promise<boolean> {
  let sum: Outcome = { taken: 0, refused: {}, untyped: [], residentBytes: 0, longestMs: 0 };
  let deaths = 0;
  for (let first = 0; first < count; first += BATCH) {
    const batch = await runBatch(runtime, kind, seed, first, Math.min(BATCH, count - first));
    if ("outcome" in batch) sum = addOutcomes(sum, batch.outcome);
    else {
      deaths++;
      console.log(`DEATH ${kind} in ${runtime}: ${batch.death}`);
    }
  }
  for (const text of sum.untyped.slice(0, 5)) console.log(`UNTYPED ${kind} in ${runtime}: ${text}`);
  const codes = Object.entries(sum.refused).map(([code, times]) => `${code} ${times}`).join(", ");
  console.log(
    `${runtime.padEnd(5)}${
      kind.padEnd(12)
    }${count} inputs, ${deaths} deaths, ${sum.untyped.length} untyped, ${sum.taken} taken, refused: ${
      codes || "none"
    }; ${Math.round(sum.residentBytes / 1e6)} MB, longest ${Math.round(sum.longestMs)} ms`,
  );
  return deaths === 0 && sum.untyped.length === 0;
}

if (import.meta.main) {
  const { kinds } = await import("./kinds.ts");
  const { values } = parseArgs({
    options: {
      kinds: { type: "string", default: Object.keys(kinds).join(",") },
      count: { type: "string", default: "5000" },
      seed: { type: "string", default: "1" },
      runtime: { type: "string", default: "both" },
    },
  });
  let fine = true;
  for (const kind of values.kinds.split(",")) {
    for (const runtime of runtimesOf(values.runtime)) {
      fine = await runKind(runtime, kind, Number(values.seed), Number(values.count)) && fine;
    }
  }
  process.exit(fine ? 0 : 1);
}
