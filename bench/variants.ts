/**
 * Our libraries against those that node-llama-cpp ships (the same release, built by GCC), under the same C loop, for each CPU variant that this
 * machine runs: prompt and generation.
 *
 *   deno run -A bench/variants.ts [--pairs 15] [--threads 1] [--json] [-m MODEL] [--libraries FOLDER]
 *
 * The libraries of `npm run build -- --variants all` have all variants.
 *
 * @module
 */
import process from "node:process";
import { LineChild } from "./support/line_child.ts";
import { machine } from "./support/machine.ts";
import { type BenchOptions, benchOptions, progress } from "./support/options.ts";
import { ensurePeer } from "./support/peer_package.ts";
import { GREEDY, type Measured, toLine } from "./support/round.ts";
import { ratios, show, summarize, type Summary } from "./support/stats.ts";
import { table } from "./support/table.ts";
import { type LibrarySet, librarySet, peerLibraries, runnable } from "./support/variants.ts";

const CONTEXT_SIZE = 1024;
/** The children are started anew after so many rounds: where a process lies in memory moves its speed by a percent or two. */
const ROUNDS_A_PROCESS = 5;
/** The measurements: each a short run of its own, so that load on the machine meets both contestants alike. */
const KINDS = ["prompt", "generation"] as const;
type Kind = (typeof KINDS)[number];
const SENTENCE = "The river near the old stone bridge was cold, and nobody had crossed it. ";
const RUNS: Record<Kind, { maxTokens: number; sentences: number }> = {
  prompt: { maxTokens: 1, sentences: 6 },
  generation: { maxTokens: 24, sentences: 1 },
};

type Contestant = "ours" | "peer";
const CONTESTANTS: readonly Contestant[] = ["ours", "peer"];

type Taken = Record<Contestant, Record<Kind, Measured[]>>;

interface Result {
  variant: string;
  threads: number;
  /** Whether both gave the same tokens. Rounding differs between compilers, so near-ties may part. */
  sameTokens: boolean;
  /** Tokens a second. */
  speed: Record<Contestant, Record<Kind, Summary>>;
  /** Ours by the peer's, round by round. */
  ratio: Record<Kind, Summary>;
}

async function measure(sets: Record<Contestant, LibrarySet>, variant: string, threads: number, options: BenchOptions) {
  const taken: Taken = { ours: { prompt: [], generation: [] }, peer: { prompt: [], generation: [] } };
  for (let first = 0; first < options.pairs; first += ROUNDS_A_PROCESS) {
    const children = {
      ours: await start(sets.ours, variant, threads, options),
      peer: await start(sets.peer, variant, threads, options),
    };
    for (const name of CONTESTANTS) await children[name].ask(line("prompt", 999));
    for (let round = first; round < Math.min(options.pairs, first + ROUNDS_A_PROCESS); round++) {
      for (const kind of KINDS) {
        for (const name of round % 2 === 0 ? CONTESTANTS : CONTESTANTS.toReversed()) {
          taken[name][kind].push(await children[name].ask<Measured>(line(kind, round)));
        }
      }
    }
    for (const name of CONTESTANTS) await children[name].stop();
  }
  return sumUp(variant, threads, taken);
}

function line(kind: Kind, round: number): string {
  const { maxTokens, sentences } = RUNS[kind];
  return toLine({ ...GREEDY, maxTokens, prompt: `${round + 1} lines: ${SENTENCE.repeat(sentences)}` });
}

function start(set: LibrarySet, variant: string, threads: number, options: BenchOptions): Promise<LineChild> {
  const folder = set.variants.get(variant) ?? "";
  return LineChild.start([set.program, options.model, folder, String(threads), String(CONTEXT_SIZE), "512"]);
}

function sumUp(variant: string, threads: number, taken: Taken): Result {
  const speeds = ({ prompt, generation }: Taken[Contestant]) => ({
    prompt: prompt.map((one) => one.promptTokens / one.promptMs * 1000),
    generation: generation.map((one) => one.tokens.length / one.generateMs * 1000),
  });
  const [ours, peer] = [speeds(taken.ours), speeds(taken.peer)];
  const summed = (of: typeof ours) => ({ prompt: summarize(of.prompt), generation: summarize(of.generation) });
  const ids = ({ generation }: Taken[Contestant]) => JSON.stringify(generation.map((one) => one.tokens));
  return {
    variant,
    threads,
    sameTokens: ids(taken.ours) === ids(taken.peer),
    speed: { ours: summed(ours), peer: summed(peer) },
    ratio: {
      prompt: summarize(ratios(ours.prompt, peer.prompt)),
      generation: summarize(ratios(ours.generation, peer.generation)),
    },
  };
}

const options = await benchOptions(15);
const sets = {
  ours: await librarySet("ours", options.libraries),
  peer: await librarySet("peer", peerLibraries(ensurePeer(), `${process.platform}-${process.arch}`)),
};
const { runs, refused } = await runnable([sets.ours, sets.peer], (set, variant) => start(set, variant, 1, options));
const results: Result[] = [];
for (const threads of options.threads) {
  for (const variant of options.short ? runs.slice(-1) : runs) {
    progress(`${variant}, ${threads} thread${threads > 1 ? "s" : ""}`);
    results.push(await measure(sets, variant, threads, options));
  }
}
if (options.json) console.log(JSON.stringify({ bench: "variants", machine: machine(), refused, results }, null, 1));
else {
  const rows = results.flatMap(({ variant, threads, speed, ratio, sameTokens }) =>
    KINDS.map((kind, at) => [
      at === 0 ? variant : "",
      String(threads),
      kind,
      show(speed.ours[kind]),
      show(speed.peer[kind]),
      show(ratio[kind], 3),
      sameTokens ? "yes" : "no",
    ])
  );
  console.log(table([["variant", "threads", "what", "ours", "peer", "ratio", "same tokens"], ...rows]));
  console.log(
    `Tokens a second, medians of ${options.pairs} pairs, quartiles in brackets. Not run here: ${
      refused.join(", ") || "none"
    }.`,
  );
}
