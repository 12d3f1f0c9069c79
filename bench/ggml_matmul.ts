/**
 * A product of matrices through the graph API: a C program on the same libraries against ours, in Deno and in Bun; and how long it takes to read the
 * result without a copy.
 *
 *   deno run -A bench/ggml_matmul.ts [--pairs 9] [--threads 2] [--size 4096] [--short] [--json]
 *
 * @module
 */
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { open } from "../ffi/mod.ts";
import { buildCLoop } from "./support/c_loop.ts";
import { LineChild } from "./support/line_child.ts";
import { machine } from "./support/machine.ts";
import { progress } from "./support/options.ts";
import { ROOT, RUNTIMES } from "./support/places.ts";
import { ratios, show, summarize, type Summary } from "./support/stats.ts";
import { table } from "./support/table.ts";

interface Answer {
  ms: number;
  sum: number;
  viewMs?: number;
  bytes?: number;
}

const CONTESTANTS = ["c", "deno", "bun"] as const;
type Contestant = (typeof CONTESTANTS)[number];
const TYPES = ["f32", "q4_0"] as const;

const { values: flags } = parseArgs({
  options: {
    pairs: { type: "string" },
    threads: { type: "string" },
    size: { type: "string" },
    short: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const defaults = flags.short ? { pairs: 1, threads: 1, size: 256 } : { pairs: 9, threads: 2, size: 4096 };
const pairs = Number(flags.pairs ?? defaults.pairs);
const threads = Number(flags.threads ?? defaults.threads);
const size = Number(flags.size ?? defaults.size);

async function start(): Promise<Record<Contestant, LineChild>> {
  const { set, cpu } = (await open()).opened();
  const program = await buildCLoop(set.directory, "ggml_matmul");
  const child = join(ROOT, "bench", "children", "ggml_matmul.ts");
  const args = [String(threads), String(size)];
  const env = { GGML_FFI_LIBRARY_PATH: set.directory };
  return {
    c: await LineChild.start([program, join(set.directory, cpu), ...args]),
    deno: await LineChild.start([...RUNTIMES.deno, child, ...args], env),
    bun: await LineChild.start([...RUNTIMES.bun, child, ...args], env),
  };
}

interface Result {
  type: string;
  ms: Record<Contestant, Summary>;
  /** Ours by C's, of times. */
  ratio: { deno: Summary; bun: Summary };
  viewMs: { deno: Summary; bun: Summary };
  sameSum: boolean;
}

async function measure(children: Record<Contestant, LineChild>, type: string): Promise<Result> {
  const answers: Record<Contestant, Answer[]> = { c: [], deno: [], bun: [] };
  for (const name of CONTESTANTS) await children[name].ask<Answer>(type);
  for (let round = 0; round < pairs; round++) {
    const turn = CONTESTANTS.map((_, at) => CONTESTANTS[(at + round) % CONTESTANTS.length] as Contestant);
    for (const name of turn) answers[name].push(await children[name].ask<Answer>(type));
    progress(`${type}: ${round + 1} of ${pairs}`);
  }
  const ms = (name: Contestant): number[] => answers[name].map((one) => one.ms);
  const views = (name: "deno" | "bun"): Summary => summarize(answers[name].map(({ viewMs = 0 }) => viewMs));
  const sums = CONTESTANTS.flatMap((name) => answers[name].map(({ sum }) => sum));
  return {
    type,
    ms: { c: summarize(ms("c")), deno: summarize(ms("deno")), bun: summarize(ms("bun")) },
    ratio: { deno: summarize(ratios(ms("deno"), ms("c"))), bun: summarize(ratios(ms("bun"), ms("c"))) },
    viewMs: { deno: views("deno"), bun: views("bun") },
    sameSum: sums.every((sum) => Math.abs(sum - (sums[0] ?? 0)) <= 1e-3 * Math.max(1, Math.abs(sum))),
  };
}

const children = await start();
const results: Result[] = [];
for (const type of TYPES) results.push(await measure(children, type));
for (const child of Object.values(children)) await child.stop();
if (flags.json) console.log(JSON.stringify({ machine: machine(), size, threads, pairs, results }));
else {
  const lines = results.map(({ type, ms, ratio, viewMs, sameSum }) => [
    type,
    show(ms.c),
    show(ms.deno),
    show(ms.bun),
    show(ratio.deno, 3),
    show(ratio.bun, 3),
    `${show(viewMs.deno, 3)} / ${show(viewMs.bun, 3)}`,
    sameSum ? "yes" : "NO",
  ]);
  console.log(`${size} × ${size} by ${size} × ${size}, ${threads} threads, ${pairs} rounds, ${machine().cpu}`);
  console.log(
    table([[
      "type",
      "C, ms",
      "Deno, ms",
      "Bun, ms",
      "Deno / C",
      "Bun / C",
      `view of ${size * size * 4 / 2 ** 20} MiB, ms`,
      "same sum",
    ], ...lines]),
  );
}
process.exitCode = results.every(({ sameSum }) => sameSum) ? 0 : 1;
