import type { GenerationResult } from "./generation.ts";
import type { GenerateOutput } from "../thread/protocol.ts";

/** Returns the result of a generation from the output of the native thread. `totalMs` counts from the call. */
export function generationResult(output: GenerateOutput, seed: number, totalMs: number): GenerationResult {
  const { text, stopReason, stop, logprobs, promptTokens, reusedTokens, promptMs, generationMs } = output;
  const tokens = Array.from(output.tokens);
  const waitMs = Math.max(0, totalMs - promptMs - generationMs);
  return {
    text,
    tokens,
    stopReason,
    ...(stop === undefined ? {} : { stop }),
    ...(logprobs === undefined ? {} : { logprobs }),
    seed,
    timings: {
      waitMs,
      firstPieceMs: output.firstPieceMs === undefined ? undefined : waitMs + output.firstPieceMs,
      promptMs,
      generationMs,
      promptTokens,
      reusedTokens,
      generatedTokens: tokens.length,
      promptTokensPerSecond: rate(promptTokens - reusedTokens, promptMs),
      generatedTokensPerSecond: rate(tokens.length, generationMs),
    },
  };
}

function rate(count: number, ms: number): number {
  return ms > 0 ? count * 1000 / ms : 0;
}
