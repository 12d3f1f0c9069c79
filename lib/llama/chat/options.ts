import { InvalidArgumentError } from "../../errors.ts";
import { checkBoolean, checkInteger, checkOneOf, checkOptions, checkText, show } from "../../support/check.ts";
import type { ChatMessage, ToolCall } from "./message.ts";
import {
  checkGeneration,
  generationNames,
  type GenerationOptions,
  type GenerationSettings,
} from "../generation/options.ts";
import { checkReasoning, type ReasoningOptions, type ReasoningSettings } from "./reasoning.ts";
import { type ChatTools, checkTools, type Tool } from "../tools/tool.ts";

/** How a conversation begins. */
export interface ChatOptions {
  /** What the model is told about how to answer: a system message before all others. Default none. */
  system?: string | undefined;
  /** The chat template, in Jinja. Default the model's own. C: `tokenizer.chat_template` in the file. */
  template?: string | undefined;
  /** Variables for the template beside those that every template gets. Default none. */
  templateVariables?: Readonly<Record<string, unknown>> | undefined;
  /** Messages that were exchanged before, such as the `history` of another chat. Default none. */
  history?: readonly ChatMessage[] | undefined;
  /** The tools that the model may call, by their names. Default none. */
  tools?: ChatTools | undefined;
}

/** Whether the model calls tools: as it likes, at least one, none, or one of this name. */
export type ToolChoice = "auto" | "required" | "none" | { readonly name: string };

/** How an answer is generated. */
export interface ChatSendOptions extends GenerationOptions {
  /** Whether the model calls tools. Once it has, it is free to answer. Default `"auto"`. */
  toolChoice?: ToolChoice | undefined;
  /** Whether it may call several at once. Default true. */
  parallelToolCalls?: boolean | undefined;
  /** How often the handlers of tools may run and the model be asked again in one turn. 0 to 1000, default 8. */
  maxToolRounds?: number | undefined;
  /** Whether calls are held to a grammar made of the tools' schemas: from the mark that begins a call, or from the start when one is required. Default true. */
  constrainToolCalls?: boolean | undefined;
  /** Whether the model may think before it answers, and how long. Default true, without a limit. */
  reasoning?: boolean | ReasoningOptions | undefined;
  /** What the answer begins with; the model goes on from there. It isn't in the result's text, but in the history. Default none. */
  prefill?: string | undefined;
  /**
   * Whether a turn that is cancelled, by its signal or by leaving a loop, stays in the history with the answer's text so far. Calls of tools that have no
   * results are left out, and a turn without any text leaves no trace. Default false.
   */
  keepPartial?: boolean | undefined;
}

/** Checked options of a chat. */
export interface ChatSettings {
  /** See {@linkcode ChatOptions.template}. */
  template: string | undefined;
  /** See {@linkcode ChatOptions.templateVariables}. */
  variables: Readonly<Record<string, unknown>>;
  /** The messages that it begins with. */
  messages: ChatMessage[];
  /** The tools. */
  tools: readonly Tool[];
}

/** Checked options of an answer. */
export interface ChatSendSettings {
  /** How tokens are generated. */
  generation: GenerationSettings;
  /** See {@linkcode ChatSendOptions.toolChoice}. */
  toolChoice: ToolChoice;
  /** See {@linkcode ChatSendOptions.parallelToolCalls}. */
  parallel: boolean;
  /** See {@linkcode ChatSendOptions.maxToolRounds}. */
  maxToolRounds: number;
  /** See {@linkcode ChatSendOptions.constrainToolCalls}. */
  constrain: boolean;
  /** See {@linkcode ChatSendOptions.reasoning}. */
  reasoning: ReasoningSettings;
  /** See {@linkcode ChatSendOptions.prefill}. */
  prefill: string;
  /** See {@linkcode ChatSendOptions.keepPartial}. */
  keepPartial: boolean;
}

const sendNames = [
  "toolChoice",
  "parallelToolCalls",
  "maxToolRounds",
  "constrainToolCalls",
  "reasoning",
  "prefill",
  "keepPartial",
] as const;

/** Checks the options of `model.chat`. Throws {@linkcode InvalidArgumentError}. */
export function checkChat(options: ChatOptions | undefined): ChatSettings {
  const { system, template, templateVariables, history, tools } = checkOptions("model.chat", options, [
    "system",
    "template",
    "templateVariables",
    "history",
    "tools",
  ]);
  const messages = checkHistory(history);
  if (system !== undefined) messages.unshift({ role: "system", content: checkText("system", system) });
  return {
    template: template === undefined ? undefined : checkText("template", template),
    variables: checkVariables(templateVariables),
    messages,
    tools: checkTools(tools),
  };
}

/** Checks the options of `chat.send`. Throws {@linkcode InvalidArgumentError}. */
export function checkSend(
  where: string,
  options: ChatSendOptions | undefined,
  tools: readonly Tool[],
): ChatSendSettings {
  const known = checkOptions(where, options, [...generationNames, ...sendNames]);
  const generationOptions = Object.fromEntries(
    Object.entries(known).filter(([name]) => !(sendNames as readonly string[]).includes(name)),
  );
  const { parallelToolCalls = true, maxToolRounds = 8, constrainToolCalls = true, prefill = "", keepPartial = false } =
    known;
  const generation = checkGeneration(where, generationOptions);
  const toolChoice = checkChoice(known.toolChoice, tools);
  const settings = {
    generation,
    toolChoice,
    parallel: checkBoolean("parallelToolCalls", parallelToolCalls),
    maxToolRounds: checkInteger("maxToolRounds", maxToolRounds, { min: 0, max: 1000 }),
    constrain: checkBoolean("constrainToolCalls", constrainToolCalls),
    reasoning: checkReasoning(known.reasoning),
    prefill: checkText("prefill", prefill),
    keepPartial: checkBoolean("keepPartial", keepPartial),
  };
  const forced = toolChoice !== "auto" && toolChoice !== "none";
  if (forced && settings.prefill !== "") conflict("prefill", "a toolChoice that makes the model call a tool");
  if (generation.grammar !== undefined && tools.length > 0 && toolChoice !== "none" && settings.constrain) {
    conflict("a grammar", "tools; set toolChoice to none, or constrainToolCalls to false");
  }
  return settings;
}

function conflict(one: string, other: string): never {
  throw new InvalidArgumentError(`${one} doesn't go with ${other}`, { value: one, expected: `no ${one} here` });
}

function checkChoice(choice: unknown, tools: readonly Tool[]): ToolChoice {
  if (choice === undefined) return "auto";
  if (typeof choice === "object" && choice !== null) {
    const { name } = checkOptions("toolChoice", choice as { name?: unknown }, ["name"]);
    const tool = checkOneOf("toolChoice.name", name, tools.map((one) => one.name));
    return { name: tool };
  }
  const checked = checkOneOf("toolChoice", choice, ["auto", "required", "none"]);
  if (checked !== "required" || tools.length > 0) return checked;
  throw new InvalidArgumentError("toolChoice is required, but the chat has no tools; give some by model.chat", {
    value: checked,
    expected: "a chat with tools",
  });
}

function checkVariables(variables: unknown): Readonly<Record<string, unknown>> {
  if (variables === undefined) return {};
  if (typeof variables !== "object" || variables === null || Array.isArray(variables)) {
    throw new InvalidArgumentError(`templateVariables is ${show(variables)}; give an object`, {
      value: variables,
      expected: "an object",
    });
  }
  try {
    // It goes to another thread: plain data alone does.
    return structuredClone(variables) as Record<string, unknown>;
  } catch (cause) {
    throw new InvalidArgumentError(
      "templateVariables holds what is no plain data; give text, numbers, lists and objects",
      {
        value: variables,
        expected: "plain data",
        cause,
      },
    );
  }
}

function checkHistory(history: unknown): ChatMessage[] {
  if (history === undefined) return [];
  if (!Array.isArray(history)) {
    throw new InvalidArgumentError(`history is ${show(history)}; give an array of messages`, {
      value: history,
      expected: "an array of messages",
    });
  }
  return history.map((message: unknown, index) => checkMessage(`history[${index}]`, message as ChatMessage));
}

function checkMessage(where: string, message: ChatMessage): ChatMessage {
  const { role, content, reasoning, toolCalls, toolCallId, name } = checkOptions(where, message, [
    "role",
    "content",
    "reasoning",
    "toolCalls",
    "toolCallId",
    "name",
  ]);
  const optional = { reasoning, toolCallId, name };
  const texts = Object.entries(optional).filter(([, value]) => value !== undefined);
  return {
    role: checkOneOf(`${where}.role`, role, ["system", "user", "assistant", "tool"]),
    content: checkText(`${where}.content`, content),
    ...Object.fromEntries(texts.map(([key, value]) => [key, checkText(`${where}.${key}`, value)])),
    ...(toolCalls === undefined ? {} : { toolCalls: checkCalls(`${where}.toolCalls`, toolCalls) }),
  };
}

function checkCalls(where: string, calls: unknown): ToolCall[] {
  if (!Array.isArray(calls)) {
    throw new InvalidArgumentError(`${where} is ${show(calls)}; give an array of calls`, {
      value: calls,
      expected: "an array of calls",
    });
  }
  return calls.map((call: unknown, index) => {
    const one = `${where}[${index}]`;
    const { id, name, arguments: args } = checkOptions(one, call as ToolCall, ["id", "name", "arguments"]);
    if (typeof args !== "object" || args === null || Array.isArray(args)) {
      throw new InvalidArgumentError(`${one}.arguments is ${show(args)}; give an object`, {
        value: args,
        expected: "an object",
      });
    }
    return { id: checkText(`${one}.id`, id), name: checkText(`${one}.name`, name), arguments: structuredClone(args) };
  });
}
