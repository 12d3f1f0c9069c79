/**
 * Further attempts at a result that wasn't valid.
 *
 * @module
 */

import type { GenerationResult, PieceSink } from "./generation.ts";
import type { ResultPlan } from "./structured.ts";

/** The number of seeds: `LLAMA_DEFAULT_SEED`, which asks for a random one, is the next. */
const SEEDS = 0xffff_ffff;
/** The golden ratio's part of 2^32: seeds of the same run that are far apart. */
const SEED_STEP = 0x9e37_79b9;

/** Returns the seed of a further attempt: the same for the same first seed. */
export function attemptSeed(first: number, attempt: number): number {
  return (first + attempt * SEED_STEP) % SEEDS;
}

/**
 * Generates until a result is valid, as often as a plan allows, each time with a seed of its own. Above one attempt, pieces are held back until it is known
 * whether they count; those of a result that isn't valid are dropped.
 */
export async function runAttempts<Result extends GenerationResult>(
  plan: ResultPlan<unknown>,
  seed: number,
  sink: PieceSink,
  generate: (seed: number, sink: PieceSink) => Promise<Result>,
): Promise<Result> {
  const { maxAttempts, accepts } = plan;
  if (accepts === undefined || maxAttempts === 1) return await plan.finish(await generate(seed, sink));
  for (let attempt = 0;; attempt++) {
    const held: string[] = [];
    const result = await generate(attemptSeed(seed, attempt), {
      wanted: sink.wanted,
      push: (piece) => void held.push(piece),
    });
    const valid = result.stopReason === "eos" && await accepts(result.text);
    if (!valid && attempt + 1 < maxAttempts) continue;
    if (valid || result.stopReason !== "eos") { for (const piece of held) sink.push(piece); }
    return await plan.finish(result);
  }
}
