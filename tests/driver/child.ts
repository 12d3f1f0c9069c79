/**
 * One run of the random driver, in a process of its own: `child.ts SETTINGS_FILE`, which has {@linkcode ChildSettings} as JSON.
 */

import { openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import process from "node:process";
import { open } from "../../ffi/mod.ts";
import type { Api } from "./api.ts";
import { type EntryName, loadEntry } from "./entries.ts";
import { costly, excludedOf } from "./excluded.ts";
import { Machine } from "./machine.ts";

/** What a child shall do. */
export interface ChildSettings {
  readonly entry: EntryName;
  /** The file with the {@linkcode Api}. */
  readonly api: string;
  readonly seed: number;
  /** The file for a line before each call. */
  readonly trace: string;
  /** The file for the report. */
  readonly report: string;
  /** The steps to make. */
  readonly steps: readonly number[];
  /** No new step is begun after so many milliseconds. */
  readonly limitMs: number;
  readonly weights: Readonly<Record<string, number>>;
  /** A folder for files. */
  readonly folder: string;
}

const settings = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as ChildSettings;
const api = JSON.parse(readFileSync(settings.api, "utf8")) as Api;
const trace = openSync(settings.trace, "w");
const machine = new Machine({
  api,
  ...await loadEntry(settings.entry, settings.folder),
  excluded: new Set(excludedOf(api).keys()),
  costly: new Set(costly.keys()),
  seed: settings.seed,
  weights: settings.weights,
  trace: (line) => writeSync(trace, `${line}\n`),
});
machine.add("Native", await open());
const end = performance.now() + settings.limitMs;
for (const step of settings.steps) {
  if (performance.now() > end) break;
  await machine.step(step);
}
writeSync(trace, "end\n");
await machine.end();
writeFileSync(settings.report, JSON.stringify(machine.report));
// Threads that were lost, and servers that a scene has started, keep a runtime alive.
process.exit(0);
