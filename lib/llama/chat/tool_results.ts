import { InvalidArgumentError } from "../../errors.ts";
import { checkArray } from "../../../base/check.ts";
import { custom, options, text } from "../../../base/options.ts";
import type { ChatMessage, ToolCall } from "./message.ts";
import { resultText } from "../tools/result_text.ts";

/** The result of a tool that the program ran itself. */
export interface ToolResult {
  /** The call's id. */
  id: string;
  /** The result: text as it is, anything else as JSON. */
  content: unknown;
}

const result = options("a result", {
  id: text({ required: true }),
  content: custom<string, { default: string }>("text or plain data", resultText, { default: "done" }),
});

/** Returns the calls of the last answer that have no result yet. */
export function pendingCalls(messages: readonly ChatMessage[]): ToolCall[] {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const answered = new Set(messages.slice(at + 1).map(({ toolCallId }) => toolCallId));
  return (messages[at]?.toolCalls ?? []).filter(({ id }) => !answered.has(id)).map((call) => structuredClone(call));
}

/** Checks results. Throws {@linkcode InvalidArgumentError}. */
export function checkToolResults(results: unknown): { id: string; content: string }[] {
  return checkArray("results", results, (place, one) => result.checkAt(place, one), { min: 1, max: 100_000 });
}

/** Returns results as messages, in the order of the calls. Throws {@linkcode InvalidArgumentError} when they don't fit to these. */
export function orderResults(
  messages: readonly ChatMessage[],
  results: readonly { id: string; content: string }[],
): ChatMessage[] {
  const waiting = pendingCalls(messages);
  const wrong = results.find(({ id }, index) =>
    !waiting.some((call) => call.id === id) || results.findIndex((other) => other.id === id) !== index
  );
  if (wrong !== undefined || results.length < waiting.length) {
    const ids = waiting.map(({ id, name }) => `${id} (${name})`).join(", ") || "none";
    throw new InvalidArgumentError(`the results don't fit to the calls that wait: ${ids}; give one for each`, {
      value: wrong?.id ?? results.map(({ id }) => id),
      expected: ids,
    });
  }
  return waiting.map(({ id, name }) => ({
    role: "tool",
    content: results.find((result) => result.id === id)?.content ?? "",
    toolCallId: id,
    name,
  }));
}
