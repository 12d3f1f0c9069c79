/**
 * node-llama-cpp, on Node, against ours, in Deno and in Bun: generation as the caller of a stream sees it, and the time from the
 * start of the process to the first token. The same model, prompts, tokens and number of threads.
 *
 *   deno run -A bench/peer.ts [--pairs 15] [--threads 1,2] [--json] [-m MODEL] [--libraries FOLDER]
 *
 * @module
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { LineChild } from "./support/line_child.ts";
import { machine } from "./support/machine.ts";
import { benchOptions, progress } from "./support/options.ts";
import { ensurePeer } from "./support/peer_package.ts";
import { ROOT, RUNTIMES } from "./support/places.ts";
import { ratios, show, summarize, type Summary } from "./support/stats.ts";
import { table } from "./support/table.ts";

const NAMES = ["peer", "deno", "bun"] as const;
type Name = (typeof NAMES)[number];

const options = await benchOptions(15);
const TOKENS = options.short ? 8 : 128;
const folder = ensurePeer();
const env = { GGML_FFI_LIBRARY_PATH: options.libraries };

function command(name: Name, threads: number, mode: "first" | "rounds"): string[] {
  const rest = [options.model, String(threads), mode];
  if (name === "peer") return ["node", `${ROOT}bench/children/peer.mjs`, folder, ...rest];
  return [...RUNTIMES[name], `${ROOT}bench/children/streamed.ts`, ...rest];
}

/** Measures of each, taken in turn, in an order that goes round. */
async function inTurn(
  what: string,
  measure: (name: Name, round: number) => Promise<number>,
): Promise<Record<Name, number[]>> {
  const taken: Record<Name, number[]> = { peer: [], deno: [], bun: [] };
  for (let round = 0; round < options.pairs; round++) {
    progress(`${what}: round ${round + 1} of ${options.pairs}`);
    for (let turn = 0; turn < NAMES.length; turn++) {
      const name = NAMES[(round + turn) % NAMES.length] ?? "peer";
      taken[name].push(await measure(name, round));
    }
  }
  return taken;
}

async function generation(threads: number): Promise<Record<Name, number[]>> {
  const children = new Map<Name, LineChild>();
  for (const name of NAMES) children.set(name, await LineChild.start(command(name, threads, "rounds"), env));
  const taken = await inTurn(`generation, ${threads} threads`, async (name, round) => {
    const line = JSON.stringify({ prompt: `${round + 1} friends met. Once upon a time`, maxTokens: TOKENS });
    const made = await children.get(name)?.ask<{ tokens: number[]; ms: number }>(line);
    return made === undefined ? NaN : (made.tokens.length - 1) / made.ms * 1000;
  });
  for (const child of children.values()) await child.stop();
  return taken;
}

/** Milliseconds from the start of a process to its first token. */
async function firstToken(name: Name): Promise<number> {
  const [program = "", ...args] = command(name, 1, "first");
  const start = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...env } });
  const first = new Promise<number>((resolve) => child.stdout.once("data", () => resolve(performance.now() - start)));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const ms = await Promise.race([first, ended.then(() => NaN)]);
  await ended;
  return ms;
}

interface Result {
  what: string;
  unit: string;
  measures: Record<Name, Summary>;
  /** Ours by the peer's, round by round. */
  ratio: Record<"deno" | "bun", Summary>;
}

function sumUp(what: string, unit: string, taken: Record<Name, number[]>): Result {
  const { peer, deno, bun } = taken;
  return {
    what,
    unit,
    measures: { peer: summarize(peer), deno: summarize(deno), bun: summarize(bun) },
    ratio: { deno: summarize(ratios(deno, peer)), bun: summarize(ratios(bun, peer)) },
  };
}

const results: Result[] = [];
for (const threads of options.threads) {
  results.push(sumUp(`generation, ${threads} thread${threads > 1 ? "s" : ""}`, "tokens/s", await generation(threads)));
}
results.push(
  sumUp("process start to first token", "ms", await inTurn("first token", firstToken)),
);
const rows = results.flatMap(({ what, unit, measures, ratio }) =>
  NAMES.map((name) => [
    name === "peer" ? what : "",
    name === "peer" ? "node-llama-cpp" : name,
    show(measures[name]),
    unit,
    name === "peer" ? "1" : show(ratio[name], 2),
  ])
);
console.log(
  options.json
    ? JSON.stringify({ bench: "peer", machine: machine(), results }, null, 1)
    : `${
      table([["what", "who", "median", "unit", "by the peer's"], ...rows])
    }Medians of ${options.pairs} rounds, quartiles in brackets.\n`,
);
