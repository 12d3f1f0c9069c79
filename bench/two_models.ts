/**
 * Two models, each with its context, in one process on the machine's cores: both at once against one after the other, in Deno and in Bun.
 *
 *   deno run -A bench/two_models.ts [--pairs 11] [--json] [-m MODEL] [--libraries FOLDER]
 *
 * @module
 */
import { availableParallelism } from "node:os";
import type { MeasuredPair } from "./children/two_models.ts";
import { LineChild } from "./support/line_child.ts";
import { machine } from "./support/machine.ts";
import { type BenchOptions, benchOptions, progress } from "./support/options.ts";
import { ROOT, RUNTIMES } from "./support/places.ts";
import { ratios, show, summarize, type Summary } from "./support/stats.ts";
import { table } from "./support/table.ts";

const CONTEXT_SIZE = 2048;
const MANNERS = ["after", "at_once"] as const;

/** The prompts and the numbers of tokens. */
const SCENARIOS = [
  { name: "64 tokens each", maxTokens: 64, prompt: "Once upon a time" },
  {
    name: "prompt of about 500 each",
    maxTokens: 1,
    prompt: "The river near the old stone bridge was cold. ".repeat(50),
  },
  {
    name: "prompt of about 500 and 32 tokens",
    maxTokens: 32,
    prompt: "The river near the old stone bridge was cold. ".repeat(50),
  },
] as const;

interface Result {
  runtime: string;
  scenario: string;
  /** Tokens a second, both models together. */
  speed: Record<(typeof MANNERS)[number], Summary>;
  /** Total speed at once by that of one after the other. */
  ratio: Summary;
  /** Whether both manners gave the same texts. */
  sameTexts: boolean;
}

async function measure(runtime: "deno" | "bun", options: BenchOptions): Promise<Result[]> {
  const threads = String(options.short ? 1 : availableParallelism());
  const child = await LineChild.start(
    [...RUNTIMES[runtime], `${ROOT}bench/children/two_models.ts`, options.model, threads, String(CONTEXT_SIZE)],
    { GGML_FFI_LIBRARY_PATH: options.libraries },
  );
  await child.ask("at_once 8 Once");
  const taken = SCENARIOS.map(() => ({ after: [] as MeasuredPair[], at_once: [] as MeasuredPair[] }));
  for (let pair = 0; pair < options.pairs; pair++) {
    progress(`${runtime}: pair ${pair + 1} of ${options.pairs}`);
    for (const [at, { maxTokens, prompt }] of SCENARIOS.entries()) {
      for (const how of pair % 2 === 0 ? MANNERS : MANNERS.toReversed()) {
        const [tokens, text] = options.short ? [Math.min(maxTokens, 4), prompt.slice(0, 100)] : [maxTokens, prompt];
        taken[at]?.[how].push(await child.ask<MeasuredPair>(`${how} ${tokens} ${pair} ${text}`));
      }
    }
  }
  await child.stop();
  return taken.map((measures, at) => sumUp(runtime, SCENARIOS[at]?.name ?? "", measures));
}

function sumUp(
  runtime: string,
  scenario: string,
  { after, at_once }: Record<(typeof MANNERS)[number], MeasuredPair[]>,
): Result {
  const speeds = (list: readonly MeasuredPair[]) => list.map(({ tokens, ms }) => tokens / ms * 1000);
  const texts = (list: readonly MeasuredPair[]) => JSON.stringify(list.map((one) => one.texts));
  return {
    runtime,
    scenario,
    speed: { after: summarize(speeds(after)), at_once: summarize(speeds(at_once)) },
    ratio: summarize(ratios(speeds(at_once), speeds(after))),
    sameTexts: texts(after) === texts(at_once),
  };
}

const options = await benchOptions(11);
const results = [...await measure("deno", options), ...await measure("bun", options)];
if (options.json) console.log(JSON.stringify({ bench: "two_models", machine: machine(), results }, null, 1));
else {
  const rows = results.map(({ runtime, scenario, speed, ratio, sameTexts }) => [
    runtime,
    scenario,
    show(speed.after),
    show(speed.at_once),
    show(ratio, 3),
    sameTexts ? "yes" : "no",
  ]);
  console.log(table([["runtime", "scenario", "one after the other", "at once", "ratio", "same texts"], ...rows]));
  console.log(`Tokens a second of both, medians of ${options.pairs} pairs, quartiles in brackets.`);
}
