/**
 * Runs the random driver: many children with seeds of their own; prints calls by state, deaths, hangs and untyped errors, and shrinks what kills a child.
 *
 *   deno run -A tests/driver/driver.ts [--entry ggml|llama|whisper] [--runs N] [--steps N] [--seed N] [--runtime deno|bun|both]
 */

import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { documentationOf } from "../../scripts/public_names/read.ts";
import { moduleCommand, runProgram, type RuntimeName, runtimesOf } from "../support/program.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { readApi } from "./api.ts";
import { type EntryName, modules } from "./entries.ts";
import type { Finding, Report, State } from "./machine.ts";

/** A child that writes nothing for so long hangs. */
const LIMIT_MS = 120_000;

/** How a child ended. */
export interface Ended {
  readonly runtime: RuntimeName;
  readonly seed: number;
  readonly report: Report | undefined;
  /** Why there is no report. */
  readonly death: string | undefined;
  /** The last lines that it traced. */
  readonly last: readonly string[];
}

/** Runs the driver's children in a temporary folder. */
export class Driver implements Disposable {
  readonly #folder = new TemporaryFolder();
  readonly #api = this.#folder.file("api.json");
  readonly #entry: EntryName;

  constructor(entry: EntryName) {
    this.#entry = entry;
    writeFileSync(this.#api, JSON.stringify(readApi(modules[entry].map(documentationOf))));
  }

  /** Runs one child. */
  async run(which: RuntimeName, seed: number, steps: number, only?: readonly number[]): Promise<Ended> {
    const trace = this.#folder.file(`${which}-${seed}`);
    const args = [this.#entry, this.#api, String(seed), trace, String(steps), only?.join(",") ?? ""];
    const command = moduleCommand("tests/driver/child.ts", args, which);
    const { code, signal, stdout, stderr } = await runProgram(command, { cwd: this.#folder.path, limitMs: LIMIT_MS });
    const line = stdout.trimEnd().split("\n").at(-1) ?? "";
    const report = code === 0 && line.startsWith("{") ? JSON.parse(line) as Report : undefined;
    const death = report === undefined
      ? `${signal ?? `exit ${code}`}: ${stderr.trim().split("\n").slice(0, 6).join(" | ")}`
      : undefined;
    return { runtime: which, seed, report, death, last: readFileSync(trace, "utf8").trimEnd().split("\n").slice(-4) };
  }

  /** Leaves out steps as long as the child still dies; gives the trace of what is left. */
  async shrink({ runtime, seed, last }: Ended, tries = 40): Promise<string[]> {
    const number = Number.parseInt(last.at(-1) ?? "", 10);
    let steps = Array.from({ length: (Number.isNaN(number) ? 0 : number) + 1 }, (_, index) => index);
    for (let size = Math.ceil(steps.length / 2); size >= 1 && tries > 0; size = Math.floor(size / 2)) {
      for (let at = 0; at < steps.length && tries > 0;) {
        const fewer = steps.toSpliced(at, size);
        tries--;
        const died = fewer.length > 0 && (await this.run(runtime, seed, 0, fewer)).death !== undefined;
        if (died) steps = fewer;
        else at += size;
      }
    }
    await this.run(runtime, seed, 0, steps);
    return readFileSync(this.#folder.file(`${runtime}-${seed}`), "utf8").trimEnd().split("\n");
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

/** Adds up the reports of runs. */
export function addUp(
  runs: readonly Ended[],
): {
  counts: Map<string, Partial<Record<State, number>>>;
  findings: Map<string, Finding & { times: number; seed: number }>;
} {
  const counts = new Map<string, Partial<Record<State, number>>>();
  const findings = new Map<string, Finding & { times: number; seed: number }>();
  for (const { report, seed } of runs) {
    for (const [title, states] of Object.entries(report?.counts ?? {})) {
      const sum = counts.get(title) ?? {};
      for (const [state, count] of Object.entries(states) as [State, number][]) sum[state] = (sum[state] ?? 0) + count;
      counts.set(title, sum);
    }
    for (const finding of report?.findings ?? []) {
      const key = `${finding.call} ${finding.error.replaceAll(/\d+/g, "#")}`;
      const known = findings.get(key);
      findings.set(key, { ...finding, seed, times: (known?.times ?? 0) + 1 });
    }
  }
  return { counts, findings };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      entry: { type: "string", default: "ggml" },
      runs: { type: "string", default: "10" },
      steps: { type: "string", default: "500" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) },
      runtime: { type: "string", default: "both" },
    },
  });
  using driver = new Driver(values.entry as EntryName);
  const runs: Ended[] = [];
  const shrunk = new Set<string>();
  for (let index = 0; index < Number(values.runs); index++) {
    for (const runtime of runtimesOf(values.runtime)) {
      const ended = await driver.run(runtime, Number(values.seed) + index, Number(values.steps));
      runs.push(ended);
      if (ended.death === undefined) continue;
      console.log(`DEATH ${runtime} seed ${ended.seed}: ${ended.death}\n  ${ended.last.join("\n  ")}`);
      const kind = ended.last.at(-1)?.replace(/^\d+ /, "").replace(/\(.*/, "") ?? "";
      if (shrunk.has(kind)) continue;
      shrunk.add(kind);
      console.log(`  shrunk:\n    ${(await driver.shrink(ended)).join("\n    ")}`);
    }
  }
  const { counts, findings } = addUp(runs);
  const states: readonly State[] = ["fresh", "in use", "in callback", "disposed"];
  for (const [title, sum] of [...counts].sort(([a], [b]) => a < b ? -1 : 1)) {
    console.log(`${title.padEnd(40)} ${states.map((state) => String(sum[state] ?? 0).padStart(8)).join("")}`);
  }
  for (const { call, error, times, seed, step } of findings.values()) {
    console.log(`FINDING ${times}× seed ${seed} step ${step} ${call}: ${error}`);
  }
  const deaths = runs.filter(({ death }) => death !== undefined).length;
  console.log(
    `seed ${values.seed}, ${runs.length} runs, ${deaths} deaths or hangs, ${findings.size} kinds of untyped errors`,
  );
  process.exitCode = deaths + findings.size > 0 ? 1 : 0;
}
