import type { Generation, GenerationTimings } from "../../mod.ts";
import type { Given } from "../flags/parse.ts";
import { OutputClosedError } from "../errors.ts";
import { print, say } from "../terminal/output.ts";
import { jsonLine } from "./json.ts";

/** Style of an answer. */
export interface AnswerStyle {
  /** As one JSON object, once it is there. */
  json: boolean;
  /** Say on standard error how long it took. */
  verbose: boolean;
}

/** Returns the style that the flags ask for. */
export function answerStyle(given: Given): AnswerStyle {
  return { json: given.has("json"), verbose: given.has("verbose") };
}

/** Writes an answer as it comes, and a line end after it, also where it is interrupted. */
export async function writeAnswer(generation: Generation, { json, verbose }: AnswerStyle): Promise<void> {
  if (json) await print(jsonLine(await generation));
  else await writePieces(generation);
  if (verbose) sayTimings((await generation).timings);
}

async function writePieces(generation: Generation): Promise<void> {
  let last = "";
  try {
    for await (const piece of generation) {
      await print(piece);
      last = piece;
    }
  } catch (error) {
    if (last !== "" && !last.endsWith("\n") && !(error instanceof OutputClosedError)) await print("\n");
    throw error;
  }
  if (!last.endsWith("\n")) await print("\n");
}

function sayTimings(timings: GenerationTimings): void {
  const { promptTokens, reusedTokens, promptMs, generatedTokens, generationMs } = timings;
  const rate = (tokens: number, ms: number) =>
    `${tokens} tokens in ${ms.toFixed(0)} ms, ${(tokens * 1000 / ms).toFixed(1)} a second`;
  const reused = reusedTokens > 0 ? ` (${reusedTokens} more were cached)` : "";
  say(`prompt: ${rate(promptTokens - reusedTokens, promptMs)}${reused}`);
  say(`answer: ${rate(generatedTokens, generationMs)}`);
}
