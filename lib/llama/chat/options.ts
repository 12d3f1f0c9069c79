import { InvalidArgumentError } from "../../errors.ts";
import { checkOneOf, refuse } from "../../../base/check.ts";
import { boolean, custom, integer, oneOf, options, type RulesOf, text } from "../../../base/options.ts";
import type { SchemaMode } from "../../json_schema/mod.ts";
import {
  type GenerationOptions,
  generationRules,
  type GenerationSettings,
  generationSettings,
} from "../generation/options.ts";
import { checkTools, type Tool } from "../tools/check_tools.ts";
import { plainData } from "../tools/plain_data.ts";
import type { ToolErrors } from "../tools/runner.ts";
import type { ChatTools } from "../tools/tool.ts";
import { checkHistory } from "./history.ts";
import type { ChatMessage } from "./message.ts";
import { checkReasoning, type ReasoningOptions, type ReasoningSettings } from "./reasoning.ts";

/** Options of `model.chat`. */
export interface ChatOptions {
  /**
   * Instructions to the model: a system message before all others, in the place of one that `history` begins with. Where the chat template has no place for
   * it, it stands before the first question. Default none; `""` is none.
   */
  system?: string | undefined;
  /** The chat template, in Jinja. Default the model's own. C: `tokenizer.chat_template` in the file. */
  template?: string | undefined;
  /** Variables of the template beside those that every template gets: plain data. Default none. */
  templateVariables?: Readonly<Record<string, unknown>> | undefined;
  /** Earlier messages, such as the `history` of another chat. A later system message goes to the template where it stands. Default none. */
  history?: readonly ChatMessage[] | undefined;
  /** The tools that the model may call, by their names. Default none. */
  tools?: ChatTools | undefined;
  /**
   * Whether a tool is refused whose schema has parts that no grammar can express (`"strict"`), or whether a grammar is made of the other parts and these are
   * only validated (`"validate"`). Arguments are validated against the whole schema in both modes. Default `"validate"`.
   */
  schemaMode?: SchemaMode | undefined;
}

/** The tools that the model may call: any it likes, at least one, none, or the one of this name. */
export type ToolChoice = "auto" | "required" | "none" | { readonly name: string };

/** Options of `chat.send` and `chat.sendToolResults`. */
export interface ChatSendOptions extends GenerationOptions {
  /** Whether the model calls tools. Once it has, it is free to answer. Default `"auto"`. */
  toolChoice?: ToolChoice | undefined;
  /** Whether the model may call several tools at once. Default true. */
  parallelToolCalls?: boolean | undefined;
  /** The number of times in one turn that handlers may run and the model be asked again. 0 to 1000, default 8. */
  maxToolRounds?: number | undefined;
  /** Whether a grammar made of the tools' schemas constrains calls: from the mark that begins a call, or from the start when one is required. Default true. */
  constrainToolCalls?: boolean | undefined;
  /**
   * The number of times that an answer is generated until all its calls are valid, each with a seed derived from the first. Above 1, nothing of an attempt is
   * streamed before it is known to be valid. When none is, the last one counts, and the model gets the errors of its calls. 1 to 100, default 1.
   */
  maxAttempts?: number | undefined;
  /**
   * Handling of a handler's exception: its message goes to the model as the result of the call (`"model"`), or the turn rejects with
   * ToolHandlerError (`"throw"`). The event `toolResult` and `result.failedToolCalls` have it in either case. Default `"model"`.
   */
  toolErrors?: ToolErrors | undefined;
  /** Whether the model may reason before it answers, and for how many tokens. Default true, without a limit. */
  reasoning?: boolean | ReasoningOptions | undefined;
  /** The beginning of the answer, which the model continues. It isn't in the result's text, but in the history. Default none. */
  prefill?: string | undefined;
  /**
   * Whether a turn that is cancelled, by its signal or by leaving a loop, stays in the history with the answer's text so far. Calls of tools that have no
   * results are left out, and a turn without any text leaves no trace. Default false.
   */
  keepPartial?: boolean | undefined;
}

/** {@linkcode ChatOptions}, declared. */
const chatSpec = options(
  "model.chat",
  {
    system: text(),
    template: text(),
    templateVariables: custom("an object", checkVariables, { default: {} }),
    history: custom("an array of messages", checkHistory, { default: () => [] }),
    tools: custom<unknown, Record<never, never>>("an object of tools", (_, value) => value),
    schemaMode: oneOf(["strict", "validate"], { default: "validate" }),
  } satisfies RulesOf<ChatOptions>,
);

/** {@linkcode ChatSendOptions}, declared. */
const sendSpec = options(
  "chat.send",
  {
    ...generationRules,
    toolChoice: custom<unknown, { default: "auto" }>("a choice of tools", (_, value) => value, { default: "auto" }),
    parallelToolCalls: boolean({ default: true }),
    maxToolRounds: integer({ min: 0, max: 1000, default: 8 }),
    constrainToolCalls: boolean({ default: true }),
    maxAttempts: integer({ min: 1, max: 100, default: 1 }),
    toolErrors: oneOf(["model", "throw"], { default: "model" }),
    reasoning: custom<ReasoningSettings, Record<never, never>>(
      "true, false or { budget }",
      (_, value) => checkReasoning(value),
    ),
    prefill: text({ default: "" }),
    keepPartial: boolean({ default: false }),
  } satisfies RulesOf<ChatSendOptions>,
);

/** Checked options of a chat. */
export interface ChatSettings {
  /** The template; `undefined` for the model's own. */
  template: string | undefined;
  /** The variables of the template. */
  variables: Readonly<Record<string, unknown>>;
  /** The messages that it begins with. */
  messages: ChatMessage[];
  /** The tools. */
  tools: readonly Tool[];
}

/** Checked options of an answer. */
export interface ChatSendSettings {
  /** Those of the generation. */
  generation: GenerationSettings;
  /** See {@linkcode ChatSendOptions.toolChoice}. */
  toolChoice: ToolChoice;
  /** See {@linkcode ChatSendOptions.parallelToolCalls}. */
  parallel: boolean;
  /** See {@linkcode ChatSendOptions.maxToolRounds}. */
  maxToolRounds: number;
  /** See {@linkcode ChatSendOptions.constrainToolCalls}. */
  constrain: boolean;
  /** See {@linkcode ChatSendOptions.maxAttempts}. */
  maxAttempts: number;
  /** See {@linkcode ChatSendOptions.toolErrors}. */
  toolErrors: ToolErrors;
  /** See {@linkcode ChatSendOptions.reasoning}. */
  reasoning: ReasoningSettings;
  /** See {@linkcode ChatSendOptions.prefill}. */
  prefill: string;
  /** See {@linkcode ChatSendOptions.keepPartial}. */
  keepPartial: boolean;
}

/** Checks the options of `model.chat`. Throws {@linkcode InvalidArgumentError}, and what {@linkcode checkTools} throws. */
export function checkChat(given: ChatOptions | undefined): ChatSettings {
  const { system, template, templateVariables, history, tools, schemaMode } = chatSpec.check(given);
  return {
    template,
    variables: templateVariables,
    messages: withSystem(history, system),
    tools: checkTools(tools, schemaMode),
  };
}

/** The messages with the system message before them, in the place of one that they begin with. An empty one is none. */
function withSystem(history: readonly ChatMessage[], system = ""): ChatMessage[] {
  if (system === "") return [...history];
  return [{ role: "system", content: system }, ...history.slice(history[0]?.role === "system" ? 1 : 0)];
}

/** Checks the options of `chat.send`. Throws {@linkcode InvalidArgumentError}. */
export function checkSend(
  where: string,
  given: ChatSendOptions | undefined,
  tools: readonly Tool[],
): ChatSendSettings {
  const { parallelToolCalls, constrainToolCalls, ...checked } = sendSpec.check(given, where);
  const { maxToolRounds, maxAttempts, toolErrors, prefill, keepPartial, ...others } = checked;
  const { toolChoice: choice, reasoning = checkReasoning(true), ...sampling } = others;
  const generation = generationSettings(sampling, given);
  const toolChoice = checkChoice(choice, tools);
  const forced = toolChoice !== "auto" && toolChoice !== "none";
  if (forced && prefill !== "") conflict("prefill", "a toolChoice that makes the model call a tool");
  const hasGrammar = generation.grammar !== undefined || generation.lateGrammar !== undefined;
  if (hasGrammar && tools.length > 0 && toolChoice !== "none" && constrainToolCalls) {
    conflict("a grammar", "tools; set toolChoice to none, or constrainToolCalls to false");
  }
  return {
    generation,
    toolChoice,
    reasoning,
    prefill,
    maxToolRounds,
    maxAttempts,
    toolErrors,
    keepPartial,
    parallel: parallelToolCalls,
    constrain: constrainToolCalls,
  };
}

function conflict(one: string, other: string): never {
  throw new InvalidArgumentError(`${one} doesn't go with ${other}`, { value: one, expected: `no ${one} here` });
}

const nameSpec = options("toolChoice", { name: text({ required: true }) });

function checkChoice(choice: unknown, tools: readonly Tool[]): ToolChoice {
  if (typeof choice === "object" && choice !== null) {
    const { name } = nameSpec.checkAt("toolChoice", choice);
    return { name: checkOneOf("toolChoice.name", name, tools.map((one) => one.name)) };
  }
  const checked = checkOneOf("toolChoice", choice, ["auto", "required", "none"]);
  if (checked !== "required" || tools.length > 0) return checked;
  throw new InvalidArgumentError("toolChoice is required, but the chat has no tools; give some by model.chat", {
    value: checked,
    expected: "a chat with tools",
  });
}

/** It goes to another thread: plain data alone does. */
function checkVariables(name: string, variables: unknown): Readonly<Record<string, unknown>> {
  const data = plainData(name, variables);
  return typeof data === "object" && data !== null && !Array.isArray(data)
    ? { ...data }
    : refuse(name, variables, "an object");
}
