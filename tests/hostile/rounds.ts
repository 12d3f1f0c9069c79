/**
 * Tries damaged inputs of each kind in child processes and prints what became of them.
 *
 *   deno run -A tests/hostile/rounds.ts [--kinds gguf,…] [--count N] [--seed N] [--runtime deno|bun|both]
 */

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Outcome } from "./child.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const CHILD = fileURLToPath(new URL("./child.ts", import.meta.url));
/** Inputs in one process. */
const BATCH = 500;
/** A batch that takes longer hangs. */
const LIMIT_MS = 300_000;

/** The outcome of a batch, or how its process ended. */
export type Batch = { readonly outcome: Outcome } | { readonly death: string };

/** Tries inputs `first` to `first + count - 1` of a kind. */
export async function runBatch(
  runtime: string,
  kind: string,
  seed: number,
  first: number,
  count: number,
): Promise<Batch> {
  const folder = mkdtempSync(join(tmpdir(), "ggml-ffi-hostile-"));
  try {
    const before = runtime === "deno" ? ["run", "-A"] : [];
    const program = join(root, "node_modules/.bin", runtime);
    const child = spawn(program, [...before, CHILD, kind, ...[seed, first, count].map(String), folder], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => out += text);
    child.stderr.setEncoding("utf8").on("data", (text: string) => err = (err + text).slice(-2000));
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
      child.on("error", reject).on("close", (...ended) => resolve(ended));
    });
    clearTimeout(timer);
    const line = out.trimEnd().split("\n").at(-1) ?? "";
    if (code === 0 && line.startsWith("{")) return { outcome: JSON.parse(line) as Outcome };
    const at = readFileSync(join(folder, "at"), { encoding: "utf8", flag: "a+" }).trimEnd().split("\n").at(-1);
    return { death: `${signal ?? `exit ${code}`} at input ${at}: ${err.trim().split("\n").slice(-3).join(" | ")}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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

async function runKind(runtime: string, kind: string, seed: number, count: number): Promise<boolean> {
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
    for (const runtime of values.runtime === "both" ? ["deno", "bun"] : [values.runtime]) {
      fine = await runKind(runtime, kind, Number(values.seed), Number(values.count)) && fine;
    }
  }
  process.exit(fine ? 0 : 1);
}
