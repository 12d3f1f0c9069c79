/**
 * Milliseconds from an abort to the rejection, for the decode of a prompt of some 2,500 tokens and for the load of a model.
 *
 *   deno run -A bench/abort.ts [--pairs 15] [--json] [-m MODEL] [--libraries FOLDER]
 *
 * @module
 */
import { LineChild } from "./support/line_child.ts";
import { machine } from "./support/machine.ts";
import { benchOptions, progress } from "./support/options.ts";
import { ROOT, RUNTIMES } from "./support/places.ts";
import { summarize } from "./support/stats.ts";
import { table } from "./support/table.ts";

type Runtime = keyof typeof RUNTIMES;
const NAMES = Object.keys(RUNTIMES) as Runtime[];
const KINDS = ["decode", "load"] as const;

const options = await benchOptions(15);
const children = new Map<Runtime, LineChild>();
for (const name of NAMES) {
  const command = [...RUNTIMES[name], `${ROOT}bench/children/abort.ts`, options.model, "1"];
  children.set(name, await LineChild.start(command, { GGML_FFI_LIBRARY_PATH: options.libraries }));
}
const taken = new Map<string, (number | null)[]>();
for (let round = 0; round < options.pairs; round++) {
  progress(`round ${round + 1} of ${options.pairs}`);
  for (const name of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
    for (const kind of KINDS) {
      const { ms } = await children.get(name)?.ask<{ ms: number | null }>(kind) ?? { ms: null };
      taken.set(`${kind}|${name}`, [...taken.get(`${kind}|${name}`) ?? [], ms]);
    }
  }
}
for (const child of children.values()) await child.stop();

const results = [...taken].map(([key, all]) => {
  const [kind = "", runtime = ""] = key.split("|");
  const stopped = all.filter((ms) => ms !== null);
  return { kind, runtime, tooLate: all.length - stopped.length, ms: summarize(stopped) };
});
const rows = results.map(({ kind, runtime, tooLate, ms }) => [
  kind,
  runtime,
  ms.median.toFixed(1),
  ms.high.toFixed(1),
  ms.max.toFixed(1),
  String(ms.runs),
  String(tooLate),
]);
console.log(
  options.json
    ? JSON.stringify({ bench: "abort", machine: machine(), results }, null, 1)
    : table([["aborted", "runtime", "median ms", "upper quartile", "max", "runs", "done before"], ...rows]),
);
