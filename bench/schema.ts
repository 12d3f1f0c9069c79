/**
 * Milliseconds that a schema takes to become a grammar: one of 500 properties and one of a dozen, the first time in a process,
 * the next thirty times, and once the runtime has compiled the code.
 *
 *   deno run -A bench/schema.ts [--pairs 15] [--json]
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
const taken = new Map<string, number[]>();
for (let round = 0; round < options.pairs; round++) {
  progress(`round ${round + 1} of ${options.pairs}`);
  for (const name of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
    // A new process each time: the first schema of a program is the one that its user waits for.
    const child = await LineChild.start([
      ...RUNTIMES[name],
      `${ROOT}bench/children/schema.ts`,
      options.short ? "1" : "150",
    ]);
    const measured = await child.ask<Record<string, number>>("measure");
    await child.stop();
    for (const [kind, ms] of Object.entries(measured)) {
      taken.set(`${kind}|${name}`, [...taken.get(`${kind}|${name}`) ?? [], ms]);
    }
  }
}

const results: { kind: string; runtime: string; ms: Summary }[] = [...taken].map(([key, list]) => {
  const [kind = "", runtime = ""] = key.split("|");
  return { kind, runtime, ms: summarize(list) };
});
const kinds = [...new Set(results.map(({ kind }) => kind))];
const cell = (kind: string, runtime: string) => {
  const found = results.find((result) => result.kind === kind && result.runtime === runtime);
  return found === undefined ? "" : show(found.ms);
};
const rows = kinds.map((kind) => [kind, ...NAMES.map((name) => cell(kind, name))]);
console.log(
  options.json
    ? JSON.stringify({ bench: "schema", machine: machine(), results }, null, 1)
    : `${table([["ms", ...NAMES], ...rows])}Medians of ${options.pairs} processes, quartiles in brackets.\n`,
);
