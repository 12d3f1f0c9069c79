/** One run of the random driver, in a process of its own: `child.ts ENTRY API_FILE SEED TRACE_FILE COUNT [ONLY,…]`. Its report is its output's last line. */

import { openSync, readFileSync, writeSync } from "node:fs";
import process from "node:process";
import { open } from "../../ffi/mod.ts";
import type { Api } from "./api.ts";
import { type EntryName, loadEntry } from "./entries.ts";
import { excluded } from "./excluded.ts";
import { Machine } from "./machine.ts";

const [entry = "ggml", file = "", seed = "0", traceFile = "", count = "0", only = ""] = process.argv.slice(2);
const api = JSON.parse(readFileSync(file, "utf8")) as Api;
const trace = openSync(traceFile, "w");
const machine = new Machine({
  api,
  ...await loadEntry(entry as EntryName),
  excluded: new Set([...excluded.keys(), ...unsafe(api)]),
  seed: Number(seed),
  trace: (line) => writeSync(trace, `${line}\n`),
});
machine.add("Native", await open());
const steps = only === "" ? Array.from({ length: Number(count) }, (_, index) => index) : only.split(",").map(Number);
for (const step of steps) await machine.step(step);
writeSync(trace, "end\n");
await machine.end();
process.stdout.write(`${JSON.stringify(machine.report)}\n`);

/** Calls that take an address: these are for the raw layer, where nothing can be checked. */
function unsafe({ calls }: Api): string[] {
  return calls.filter(({ parameters }) =>
    parameters.some(({ type }) => type.kind === "named" && type.name === "Pointer")
  ).map(({ title }) => title);
}
