/**
 * Runs the random driver: children with seeds of their own, until each call was made often enough in each state or the time is over. Prints calls by state,
 * deaths, hangs and untyped errors, and shrinks what kills a child.
 *
 *   deno run -A tests/driver/driver.ts [--entry ggml|llama|whisper] [--runtime deno|bun|both] [--minutes N] [--calls N] [--per-state N] [--steps N] [--seed N]
 */

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { documentationOf } from "../../scripts/public_names/read.ts";
import { moduleCommand, runProgram, type RuntimeName, runtimesOf } from "../support/program.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { type Api, readApi } from "./api.ts";
import type { ChildSettings } from "./child.ts";
import { type EntryName, modules, objects } from "./entries.ts";
import { writeFixtures } from "./fixtures.ts";
import type { Report } from "./judge.ts";
import { Table } from "./table.ts";

/** A child that hasn't ended after so long beyond its own limit hangs. */
const LIMIT_MS = 90_000;
/** A child makes steps for so long. */
const CHILD_MS = 30_000;

type Weights = Readonly<Record<string, number>>;

/** How a child ended. */
export interface Ended {
  readonly runtime: RuntimeName;
  readonly seed: number;
  readonly weights: Weights;
  readonly report: Report | undefined;
  /** Why there is no report. */
  readonly death: string | undefined;
  /** The last lines that it traced. */
  readonly last: readonly string[];
}

/** Runs the driver's children in a temporary folder. */
export class Driver implements AsyncDisposable {
  /** What can be called. */
  readonly api: Api;
  readonly #folder: TemporaryFolder;
  readonly #entry: EntryName;
  readonly #files: Readonly<Record<string, string>>;

  private constructor(entry: EntryName, api: Api, folder: TemporaryFolder, files: Readonly<Record<string, string>>) {
    this.#entry = entry;
    this.api = api;
    this.#folder = folder;
    this.#files = files;
  }

  /** A driver for an entry point. */
  static async create(entry: EntryName): Promise<Driver> {
    const folder = new TemporaryFolder();
    const api = readApi(modules[entry].map(documentationOf), objects[entry]);
    writeFileSync(folder.file("api.json"), JSON.stringify(api));
    return new Driver(entry, api, folder, await writeFixtures(entry, folder));
  }

  /** Runs one child: some steps, or as many as there is time for. */
  async run(
    which: RuntimeName,
    seed: number,
    steps: number | readonly number[],
    weights: Weights = {},
  ): Promise<Ended> {
    const [file, trace, report] = ["settings", "trace", "report"].map((name) =>
      this.#folder.file(`${which}-${seed}-${name}`)
    ) as [string, string, string];
    rmSync(report, { force: true });
    const settings: ChildSettings = {
      entry: this.#entry,
      api: this.#folder.file("api.json"),
      seed,
      trace,
      report,
      steps: typeof steps === "number" ? Array.from({ length: steps }, (_, index) => index) : steps,
      limitMs: CHILD_MS,
      weights,
      folder: this.#folder.path,
    };
    writeFileSync(file, JSON.stringify(settings));
    const command = moduleCommand("tests/driver/child.ts", [file], which, ["-A", "--v8-flags=--expose-gc"]);
    const { code, signal, stderr } = await runProgram(command, {
      cwd: this.#folder.path,
      env: this.#files,
      limitMs: typeof steps === "number" ? CHILD_MS + LIMIT_MS : CHILD_MS,
    });
    const death = code !== 0 || !existsSync(report)
      ? `${signal ?? `exit ${code}`}: ${stderr.trim().split("\n").slice(0, 8).join(" | ")}`
      : undefined;
    const found = death === undefined ? JSON.parse(readFileSync(report, "utf8")) as Report : undefined;
    return { runtime: which, seed, weights, report: found, death, last: this.#trace(trace).slice(-12) };
  }

  #trace(file: string): string[] {
    return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
  }

  /** Leaves out steps as long as the child still dies; gives the trace of what is left. */
  async shrink({ runtime, seed, weights, last }: Ended, tries = 40): Promise<string[]> {
    const number = Number.parseInt(last.at(-1) ?? "", 10);
    let steps = Array.from({ length: (Number.isNaN(number) ? 0 : number) + 1 }, (_, index) => index);
    for (let size = steps.length - 1; size >= 1 && tries > 0; size = Math.floor(size / 2)) {
      for (let at = 0; at < steps.length && tries > 0;) {
        const fewer = steps.toSpliced(at, size);
        tries--;
        const died = fewer.length > 0 && (await this.run(runtime, seed, fewer, weights)).death !== undefined;
        if (died) steps = fewer;
        else at += size;
      }
    }
    await this.run(runtime, seed, steps, weights);
    return this.#trace(this.#folder.file(`${runtime}-${seed}-trace`));
  }

  // deno-lint-ignore require-await
  async [Symbol.asyncDispose](): Promise<void> {
    this.#folder[Symbol.dispose]();
  }
}

/** The number of an option. */
function numberOf(text: string): number {
  const value = Number(text);
  if (text === "" || !(value >= 0)) throw new RangeError(`"${text}" is not a number of at least 0`);
  return value;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      entry: { type: "string", default: "ggml" },
      runtime: { type: "string", default: "both" },
      minutes: { type: "string", default: "30" },
      calls: { type: "string", default: "2000" },
      "per-state": { type: "string", default: "50" },
      steps: { type: "string", default: "100000" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) },
    },
  });
  const targets = { calls: numberOf(values.calls), perState: numberOf(values["per-state"]) };
  await using driver = await Driver.create(values.entry as EntryName);
  for (const runtime of runtimesOf(values.runtime)) {
    const table = new Table(driver.api);
    const began = performance.now();
    const minutes = () => (performance.now() - began) / 60_000;
    const shrunk = new Set<string>();
    let [seed, runs, deaths] = [numberOf(values.seed), 0, 0];
    while (minutes() < numberOf(values.minutes) && (runs === 0 || table.behind(targets).length > 0)) {
      const ended = await driver.run(runtime, seed++, numberOf(values.steps), table.weights(targets));
      runs++;
      if (ended.report !== undefined) table.add(ended.report, ended.seed);
      const { length } = table.behind(targets);
      console.error(
        `${runtime} ${runs}: ${
          minutes().toFixed(1)
        } min, ${table.total} calls, ${length} behind, ${table.findings.size} findings`,
      );
      if (ended.death === undefined) continue;
      deaths++;
      console.log(`DEATH ${runtime} seed ${ended.seed}: ${ended.death}\n  ${ended.last.join("\n  ")}`);
      const kind = ended.last.at(-1)?.replace(/^\d+ [^:]*/, "").replace(/\(.*/, "") ?? "";
      if (shrunk.has(kind)) continue;
      shrunk.add(kind);
      console.log(`  shrunk:\n    ${(await driver.shrink(ended)).join("\n    ")}`);
    }
    console.log([...table.lines(), ...table.reasons(), ...table.scenes()].join("\n"));
    for (const line of table.behind(targets)) console.log(`BEHIND ${line}`);
    for (const { call, error, times, seed, step } of table.findings.values()) {
      console.log(`FINDING ${times}× seed ${seed} step ${step} ${call}: ${error}`);
    }
    console.log(
      `${values.entry} in ${runtime}: seeds ${values.seed} to ${seed - 1}, ${
        minutes().toFixed(1)
      } minutes, ${table.size} methods, ` +
        `${table.total} calls, ${table.least()}; ${table.behind(targets).length} behind, ${deaths} deaths or hangs, ` +
        `${table.findings.size} kinds of untyped errors`,
    );
    if (deaths + table.findings.size > 0) process.exitCode = 1;
  }
}

if (import.meta.main) await main();
