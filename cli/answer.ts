import type { Generation, GenerationTimings } from "../mod.ts";
import type { Given } from "./flags.ts";
import { print, say } from "./terminal.ts";

/** How an answer is written. */
export interface AnswerStyle {
  /** As one JSON object, once it is there. */
  json: boolean;
  /** Say on standard error how long it took. */
  verbose: boolean;
}

/** How the flags want an answer. */
export function answerStyle(given: Given): AnswerStyle {
  return { json: given.has("json"), verbose: given.has("verbose") };
}

/** Writes an answer as it comes, and a line end after it. */
export async function writeAnswer(generation: Generation, { json, verbose }: AnswerStyle): Promise<void> {
  if (json) await print(`${JSON.stringify(await generation)}\n`);
  else await writePieces(generation);
  if (verbose) sayTimings((await generation).timings);
}

async function writePieces(generation: Generation): Promise<void> {
  let last = "";
  for await (const piece of generation) {
    await print(piece);
    last = piece;
  }
  if (!last.endsWith("\n")) await print("\n");
}

function sayTimings(timings: GenerationTimings): void {
  const { promptTokens, reusedTokens, promptMs, generatedTokens, generationMs } = timings;
  const rate = (tokens: number, ms: number) =>
    `${tokens} tokens in ${ms.toFixed(0)} ms, ${(tokens * 1000 / ms).toFixed(1)} a second`;
  say(
    `prompt: ${rate(promptTokens - reusedTokens, promptMs)}${
      reusedTokens > 0 ? ` (${reusedTokens} more were still known)` : ""
    }`,
  );
  say(`answer: ${rate(generatedTokens, generationMs)}`);
}
