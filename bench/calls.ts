/**
 * Nanoseconds that a call takes, by kind of signature: a scalar, buffers, and a struct by value (`llama_batch_free` of a batch of
 * zeros).
 *
 *   deno run -A bench/calls.ts [--pairs 15] [--json] [--libraries FOLDER]
 *
 * @module
 */
import { LineChild } from "./support/line_child.ts";
import { machine } from "./support/machine.ts";
import { benchOptions, progress } from "./support/options.ts";
import { ROOT, RUNTIMES } from "./support/places.ts";
import { show, summarize, type Summary } from "./support/stats.ts";
import { table } from "./support/table.ts";

type Runtime = keyof typeof RUNTIMES;
const NAMES = Object.keys(RUNTIMES) as Runtime[];

const options = await benchOptions(15);
const children = new Map<Runtime, LineChild>();
for (const name of NAMES) {
  const command = [...RUNTIMES[name], `${ROOT}bench/children/calls.ts`];
  children.set(name, await LineChild.start(command, { GGML_FFI_LIBRARY_PATH: options.libraries }));
}
const taken = new Map<string, number[]>();
for (let round = 0; round < options.pairs; round++) {
  progress(`round ${round + 1} of ${options.pairs}`);
  for (const name of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
    const measured = await children.get(name)?.ask<Record<string, number>>("measure") ?? {};
    for (const [kind, ns] of Object.entries(measured)) {
      taken.set(`${kind}|${name}`, [...taken.get(`${kind}|${name}`) ?? [], ns]);
    }
  }
}
for (const child of children.values()) await child.stop();

const results: { kind: string; runtime: string; ns: Summary }[] = [...taken].map(([key, list]) => {
  const [kind = "", runtime = ""] = key.split("|");
  return { kind, runtime, ns: summarize(list) };
});
const kinds = [...new Set(results.map(({ kind }) => kind))];
const cell = (kind: string, runtime: string) => {
  const found = results.find((result) => result.kind === kind && result.runtime === runtime);
  return found === undefined ? "" : show(found.ns);
};
const rows = kinds.map((kind) => [kind, ...NAMES.map((name) => cell(kind, name))]);
console.log(
  options.json
    ? JSON.stringify({ bench: "calls", machine: machine(), results }, null, 1)
    : `${table([["ns a call", ...NAMES], ...rows])}Medians of ${options.pairs} runs, quartiles in brackets.\n`,
);
