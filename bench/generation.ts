/**
 * Prompt and generation speed: a C loop on the same libraries against ours, in Deno and in Bun.
 *
 *   deno run -A bench/generation.ts [--pairs 15] [--threads 1,2] [--json] [-m MODEL] [--libraries FOLDER]
 *
 * @module
 */
import process from "node:process";
import { buildCLoop } from "./support/c_loop.ts";
import { LineChild } from "./support/line_child.ts";
import { machine } from "./support/machine.ts";
import { type BenchOptions, benchOptions, progress } from "./support/options.ts";
import { ROOT, RUNTIMES } from "./support/places.ts";
import { DEFAULT_SAMPLING, GREEDY, type Measured, type Round, toLine } from "./support/round.ts";
import { ratios, show, summarize, type Summary } from "./support/stats.ts";
import { table } from "./support/table.ts";

const CONTEXT_SIZE = 2048;
const BATCH_SIZE = 2048;
/** The children are started anew after so many rounds: where a process lies in memory moves its speed by a percent or two. */
const ROUNDS_A_PROCESS = 5;
const CONTESTANTS = ["c", "deno", "bun"] as const;
type Contestant = (typeof CONTESTANTS)[number];

/** Something to be measured. */
interface Scenario {
  name: string;
  make(round: number): Round;
}

const SCENARIOS: readonly Scenario[] = [
  { name: "64 tokens, greedy", make: (n) => ({ ...GREEDY, maxTokens: 64, prompt: story(n) }) },
  { name: "256 tokens, greedy", make: (n) => ({ ...GREEDY, maxTokens: 256, prompt: story(n) }) },
  { name: "64 tokens, default", make: (n) => ({ ...DEFAULT_SAMPLING, maxTokens: 64, prompt: story(n) }) },
  { name: "256 tokens, default", make: (n) => ({ ...DEFAULT_SAMPLING, maxTokens: 256, prompt: story(n) }) },
  { name: "prompt of about 500", make: (n) => ({ ...GREEDY, maxTokens: 1, prompt: longPrompt(n) }) },
];

/** No two rounds begin alike, so that nothing of one can serve the next. */
function story(round: number): string {
  return `${round + 1} friends met in a forest, and the oldest of them began to tell a long story: Once upon a time`;
}

function longPrompt(round: number): string {
  const words = ["river", "stone", "cloud", "garden", "winter", "letter", "bridge", "morning"];
  const sentence = (n: number) =>
    `The ${words[n % 8]} near the ${words[(n * 5 + round) % 8]} was older than the ${words[(n * 3) % 8]}.`;
  return `${round + 1} lines: ${Array.from({ length: 45 }, (_, n) => sentence(n)).join(" ")}`;
}

function shortened(round: Round): Round {
  return { ...round, maxTokens: Math.min(round.maxTokens, 8), prompt: round.prompt.slice(0, 100) };
}

/** The measures of one scenario on one number of threads. */
interface Result {
  scenario: string;
  threads: number;
  /** Whether all three gave the same tokens in every round. */
  sameTokens: boolean;
  promptTokens: number;
  tokens: Summary;
  /** Tokens a second. */
  speed: Record<Contestant, { prompt: Summary; generation: Summary; whole: Summary }>;
  /** Ours by the C loop's, round by round: 1 is as fast. */
  ratio: Record<"deno" | "bun", { prompt: Summary; generation: Summary; whole: Summary }>;
}

async function start(options: BenchOptions, program: string, threads: number): Promise<Record<Contestant, LineChild>> {
  const child = `${ROOT}bench/children/generation.ts`;
  const ours = [child, options.model, String(threads), String(CONTEXT_SIZE), String(BATCH_SIZE)];
  const env = { GGML_FFI_LIBRARY_PATH: options.libraries };
  return {
    c: await LineChild.start([program, options.model, options.libraries, ...ours.slice(2)]),
    deno: await LineChild.start([...RUNTIMES.deno, ...ours], env),
    bun: await LineChild.start([...RUNTIMES.bun, ...ours], env),
  };
}

async function measure(options: BenchOptions, program: string, threads: number): Promise<Result[]> {
  const taken = SCENARIOS.map(() => ({ c: [] as Measured[], deno: [] as Measured[], bun: [] as Measured[] }));
  for (let first = 0; first < options.pairs; first += ROUNDS_A_PROCESS) {
    const children = await start(options, program, threads);
    const warmUpRound = { ...GREEDY, maxTokens: 8, prompt: longPrompt(999) };
    const warmUp = toLine(options.short ? shortened(warmUpRound) : warmUpRound);
    for (const name of CONTESTANTS) await children[name].ask(warmUp);
    for (let round = first; round < Math.min(options.pairs, first + ROUNDS_A_PROCESS); round++) {
      progress(`${threads} thread${threads > 1 ? "s" : ""}: round ${round + 1} of ${options.pairs}`);
      for (const [at, scenario] of SCENARIOS.entries()) {
        const made = scenario.make(round);
        const line = toLine(options.short ? shortened(made) : made);
        for (let turn = 0; turn < CONTESTANTS.length; turn++) {
          const name = CONTESTANTS[(round + turn) % CONTESTANTS.length] ?? "c";
          taken[at]?.[name].push(await children[name].ask<Measured>(line));
        }
      }
    }
    for (const name of CONTESTANTS) await children[name].stop();
  }
  return taken.map((measures, at) => sumUp(SCENARIOS[at]?.name ?? "", threads, measures));
}

function sumUp(scenario: string, threads: number, measures: Record<Contestant, Measured[]>): Result {
  const speeds = (name: Contestant) => ({
    prompt: measures[name].map((m) => m.promptTokens / m.promptMs * 1000),
    generation: measures[name].map((m) => m.tokens.length / m.generateMs * 1000),
    whole: measures[name].map((m) => (m.promptTokens + m.tokens.length) / m.wholeMs * 1000),
  });
  const c = speeds("c");
  const summed = (name: Contestant) => mapValues(speeds(name), summarize);
  const against = (name: Contestant) => mapValues(speeds(name), (ours, key) => summarize(ratios(ours, c[key])));
  const ids = (list: Measured[]) => JSON.stringify(list.map((m) => m.tokens));
  return {
    scenario,
    threads,
    sameTokens: ids(measures.c) === ids(measures.deno) && ids(measures.c) === ids(measures.bun),
    promptTokens: measures.c[0]?.promptTokens ?? NaN,
    tokens: summarize(measures.c.map((m) => m.tokens.length)),
    speed: { c: summed("c"), deno: summed("deno"), bun: summed("bun") },
    ratio: { deno: against("deno"), bun: against("bun") },
  };
}

function mapValues<K extends string, A, B>(record: Record<K, A>, map: (value: A, key: K) => B): Record<K, B> {
  const entries = (Object.entries(record) as [K, A][]).map(([key, value]) => [key, map(value, key)]);
  return Object.fromEntries(entries) as Record<K, B>;
}

function report(results: readonly Result[]): string {
  const rows = results.flatMap(({ scenario, threads, speed, ratio, sameTokens, tokens }) => {
    const kind = scenario.startsWith("prompt") ? "prompt" : "generation";
    return CONTESTANTS.map((name) => [
      name === "c" ? scenario : "",
      String(threads),
      name,
      show(speed[name][kind]),
      name === "c" ? "1" : show(ratio[name][kind], 3),
      show(speed[name].whole),
      name === "c" ? "1" : show(ratio[name].whole, 3),
      String(tokens.median),
      sameTokens ? "yes" : "NO",
    ]);
  });
  const head = ["scenario", "threads", "who", "tokens/s", "by C's", "whole call", "by C's", "made", "same tokens"];
  return `${table([head, ...rows])}Medians of ${results[0]?.tokens.runs} rounds, quartiles in brackets.\n`;
}

const options = await benchOptions(15);
const program = await buildCLoop(options.libraries);
const results: Result[] = [];
for (const threads of options.threads) results.push(...await measure(options, program, threads));
console.log(
  options.json ? JSON.stringify({ bench: "generation", machine: machine(), results }, null, 1) : report(results),
);
if (results.some((result) => !result.sameTokens)) process.exitCode = 1;
