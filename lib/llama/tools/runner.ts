import type { AnswerCall } from "../chat/answer_reader.ts";
import type { ChatMessage } from "../chat/message.ts";
import type { ChatEvent } from "../chat/turn.ts";
import { resultText, type Tool } from "./tool.ts";
import { ToolArgumentsError } from "./schema.ts";

interface Outcome {
  readonly content: string;
  readonly isError: boolean;
}

/**
 * Runs the handlers of calls, all at once, and gives what they gave as messages, in the order of the calls. A call that can't be used, or whose handler
 * throws, gives an error for the model. A tool without a handler gives no message: its call waits. Without tools all calls that can be used wait.
 */
export async function runCalls(
  calls: readonly AnswerCall[],
  tools: readonly Tool[] | undefined,
  signal: AbortSignal,
  emit: (event: ChatEvent) => void,
): Promise<ChatMessage[]> {
  const outcomes = await Promise.all(calls.map((call) => runCall(call, tools, signal)));
  return outcomes.flatMap((outcome, index) => {
    const { id, parsed: { name } } = calls[index] as AnswerCall;
    if (outcome === undefined) return [];
    emit({ type: "toolResult", id, name, ...outcome });
    return [{ role: "tool", content: outcome.content, toolCallId: id, name }];
  });
}

async function runCall(
  { id, parsed, call }: AnswerCall,
  tools: readonly Tool[] | undefined,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { name } = parsed;
  if (tools === undefined) return call === undefined ? failed(malformedWords(parsed.arguments)) : undefined;
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) {
    return failed(`there is no tool ${name}; the tools are ${tools.map((one) => one.name).join(", ")}`);
  }
  if (call === undefined) return failed(malformedWords(parsed.arguments));
  if (tool.handler === undefined) return undefined;
  try {
    const args = await tool.check(parsed.arguments);
    return { content: resultText(await tool.handler(args, { id, name, signal })), isError: false };
  } catch (error) {
    signal.throwIfAborted();
    return failed(words(error));
  }
}

function malformedWords(args: string): string {
  return `the arguments aren't a whole JSON object: ${args.slice(0, 500)}`;
}

function failed(words: string): Outcome {
  return { content: `Error: ${words}`.toWellFormed(), isError: true };
}

function words(error: unknown): string {
  if (error instanceof ToolArgumentsError) return error.message;
  return error instanceof Error ? error.message || error.name : String(error);
}
