import type { ChatMessage } from "./message.ts";

/**
 * Returns what a history keeps of a cancelled turn: its messages up to the last answer that has text. Calls of tools in that answer, which have no
 * results, are dropped. Empty when the model had said nothing.
 */
export function partialTurn(messages: readonly ChatMessage[]): ChatMessage[] {
  const last = messages.findLastIndex(({ role, content }) => role === "assistant" && content !== "");
  return messages.slice(0, last + 1).map((message, index) => {
    if (index < last) return message;
    const { toolCalls: _, ...answer } = message;
    return answer;
  });
}
