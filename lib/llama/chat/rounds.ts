import type { Answer, AnswerCall } from "./answer_reader.ts";
import type { ChatMessage, ToolCall } from "./message.ts";
import type { ChatResult, FailedToolCall, MalformedToolCall } from "./turn.ts";
import type { GenerationResult, GenerationTimings } from "../generation/generation.ts";

/** One answer of the model within a turn. */
export interface Round {
  /** Its parts. */
  readonly answer: Answer;
  /** The calls that get a result: none that was cut off. */
  readonly calls: readonly AnswerCall[];
  /** Its message in the history. */
  readonly message: ChatMessage;
  /** Calls that can't be used. */
  readonly malformed: readonly MalformedToolCall[];
  /** The result of its generation. */
  readonly result: GenerationResult;
}

/** Returns the result of a turn's rounds together; `last` is the last of them. */
export function joinRounds(
  rounds: readonly Round[],
  last: Round,
  toolCalls: ToolCall[],
  failed: FailedToolCall[],
): ChatResult {
  const results = rounds.map(({ result }) => result);
  const logprobs = results.flatMap((result) => result.logprobs ?? []);
  return {
    ...last.result,
    text: rounds.map(({ answer }) => answer.text).filter((text) => text !== "").join("\n\n"),
    reasoning: rounds.map(({ answer }) => answer.reasoning).filter((text) => text !== "").join("\n\n"),
    tokens: results.flatMap(({ tokens }) => tokens),
    ...(last.result.logprobs === undefined ? {} : { logprobs }),
    timings: joinTimings(results.map(({ timings }) => timings)),
    toolCalls,
    malformedToolCalls: [...last.malformed],
    failedToolCalls: failed,
    rounds: rounds.length,
  };
}

function joinTimings(timings: readonly GenerationTimings[]): GenerationTimings {
  const sum = (key: "promptMs" | "generationMs" | "promptTokens" | "reusedTokens" | "generatedTokens"): number =>
    timings.reduce((total, one) => total + one[key], 0);
  const rate = (count: number, ms: number): number => ms > 0 ? count * 1000 / ms : 0;
  const [first] = timings;
  return {
    waitMs: first?.waitMs ?? 0,
    firstPieceMs: first?.firstPieceMs,
    promptMs: sum("promptMs"),
    generationMs: sum("generationMs"),
    promptTokens: sum("promptTokens"),
    reusedTokens: sum("reusedTokens"),
    generatedTokens: sum("generatedTokens"),
    promptTokensPerSecond: rate(sum("promptTokens") - sum("reusedTokens"), sum("promptMs")),
    generatedTokensPerSecond: rate(sum("generatedTokens"), sum("generationMs")),
  };
}
