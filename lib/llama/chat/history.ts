import { checkArray, refuse } from "../../../base/check.ts";
import { custom, oneOf, options, text } from "../../../base/options.ts";
import { plainData } from "../tools/plain_data.ts";
import type { ChatMessage, ToolCall } from "./message.ts";

const call = options("a tool call", {
  id: text({ required: true }),
  name: text({ required: true }),
  arguments: custom("an object", checkArguments, { required: true }),
});

const message = options("a message", {
  role: oneOf(["system", "user", "assistant", "tool"], { required: true }),
  content: text({ required: true }),
  reasoning: text(),
  toolCalls: custom<ToolCall[], Record<never, never>>(
    "an array of calls",
    (name, calls) => checkArray(name, calls, (place, one) => call.checkAt(place, one)),
  ),
  toolCallId: text(),
  name: text(),
});

/** Checks messages and copies them. Throws InvalidArgumentError, which names the place. */
export function checkHistory(name: string, history: unknown): ChatMessage[] {
  return checkArray(name, history, checkMessage);
}

function checkMessage(place: string, given: unknown): ChatMessage {
  const { role, content, ...rest } = message.checkAt(place, given);
  const present = Object.entries(rest).filter(([, value]) => value !== undefined);
  return { role, content, ...Object.fromEntries(present) };
}

function checkArguments(name: string, value: unknown): Record<string, unknown> {
  const data = plainData(name, value);
  if (typeof data === "object" && data !== null && !Array.isArray(data)) return { ...data };
  return refuse(name, value, "an object");
}
