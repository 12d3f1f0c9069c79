import { messageOf } from "../../../base/error.ts";
import { ToolHandlerError } from "../../errors.ts";
import type { AnswerCall } from "../chat/answer_reader.ts";
import type { ChatMessage } from "../chat/message.ts";
import type { ChatEvent } from "../chat/turn.ts";
import type { JsonValue } from "../../json_schema/json.ts";
import type { Tool } from "./check_tools.ts";
import { resultText } from "./result_text.ts";
import { ToolArgumentsError } from "./schema.ts";

/** Handling of a handler's exception: its message goes to the model, or it rejects the turn. */
export type ToolErrors = "model" | "throw";

/** How calls are run. */
export interface RunSettings {
  /** The tools; `undefined` when no more handlers may run, so that all calls that can be used wait. */
  readonly tools: readonly Tool[] | undefined;
  /** Handling of a handler's exception. */
  readonly errors: ToolErrors;
  /** Ends the wait for handlers. */
  readonly signal: AbortSignal;
}

interface Outcome {
  readonly content: string;
  readonly isError: boolean;
  /** The exception of the handler. */
  readonly error?: unknown;
}

/**
 * Runs the handlers of calls, all at once, and returns their results as messages, in the order of the calls. A call that can't be used gives an error for
 * the model, since the model made it. A tool without a handler gives no message: its call waits.
 *
 * Throws {@linkcode ToolHandlerError} for what is an error of the program: a handler whose result JSON can't express, a validator that throws, and, if
 * `errors` is `"throw"`, an exception of a handler.
 */
export async function runCalls(
  calls: readonly AnswerCall[],
  settings: RunSettings,
  emit: (event: ChatEvent) => void,
): Promise<ChatMessage[]> {
  const outcomes = await Promise.all(calls.map((call) => runCall(call, settings)));
  return outcomes.flatMap((outcome, index) => {
    const { id, parsed: { name } } = calls[index] as AnswerCall;
    if (outcome === undefined) return [];
    emit({ type: "toolResult", id, name, ...outcome });
    return [{ role: "tool", content: outcome.content, toolCallId: id, name }];
  });
}

async function runCall(call: AnswerCall, settings: RunSettings): Promise<Outcome | undefined> {
  const { tools } = settings;
  if (tools === undefined) return call.call === undefined ? failed(malformedMessage(call)) : undefined;
  const tool = tools.find(({ name }) => name === call.parsed.name);
  const args = await argumentsFor(call, tool, tools);
  if ("problem" in args) return failed(args.problem);
  return tool?.handler === undefined ? undefined : await runHandler(call.id, tool, args.value, settings);
}

/** Returns what is wrong with a call, for the model; `undefined` for one that can be used. Throws as {@linkcode runCalls} does. */
export async function problemOf(call: AnswerCall, tools: readonly Tool[]): Promise<string | undefined> {
  const args = await argumentsFor(call, tools.find(({ name }) => name === call.parsed.name), tools);
  return "problem" in args ? args.problem : undefined;
}

async function argumentsFor(
  call: AnswerCall,
  tool: Tool | undefined,
  tools: readonly Tool[],
): Promise<{ value: unknown } | { problem: string }> {
  const { name } = call.parsed;
  if (tool === undefined) {
    return { problem: `there is no tool ${name}; the tools are ${tools.map((one) => one.name).join(", ")}` };
  }
  if (call.call === undefined) return { problem: malformedMessage(call) };
  try {
    return { value: await tool.check(call.call.arguments as JsonValue) };
  } catch (error) {
    if (error instanceof ToolArgumentsError) return { problem: error.message };
    throw failureOf(`the validator of the tool ${name} failed`, name, error);
  }
}

async function runHandler(
  id: string,
  { name, handler }: Tool,
  args: unknown,
  { errors, signal }: RunSettings,
): Promise<Outcome> {
  let value: unknown;
  try {
    value = await handler?.(args, { id, name, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (errors === "throw") throw failureOf(`the handler of the tool ${name} failed`, name, error);
    return { ...failed(messageOf(error)), error };
  }
  try {
    return { content: resultText(`the result of the tool ${name}`, value), isError: false };
  } catch (error) {
    throw failureOf(`the handler of the tool ${name} returned what JSON can't express`, name, error);
  }
}

function failureOf(what: string, name: string, cause: unknown): ToolHandlerError {
  return new ToolHandlerError(`${what}: ${messageOf(cause)}`, {
    value: name,
    expected: "a handler that returns text or plain data",
    cause,
  });
}

function malformedMessage({ parsed }: AnswerCall): string {
  return `the arguments aren't a whole JSON object: ${parsed.arguments.slice(0, 500)}`;
}

function failed(message: string): Outcome {
  return { content: `Error: ${message}`.toWellFormed(), isError: true };
}
