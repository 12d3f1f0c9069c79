import { InvalidArgumentError } from "../../errors.ts";
import { checkText } from "../../support/check.ts";
import { type AnswerCall, AnswerReader, malformed } from "./answer_reader.ts";
import {
  type ChatOptions,
  type ChatSendOptions,
  type ChatSendSettings,
  type ChatSettings,
  checkChat,
  checkSend,
} from "./options.ts";
import { type ChatPrompt, type PromptHost, PromptMaker } from "./prompt.ts";
import { checkToolResults, orderResults, pendingCalls, type ToolResult } from "./tool_results.ts";
import type { ChatMessage } from "./message.ts";
import { type ChatEvent, type ChatResult, type ChatTurn, startTurn } from "./turn.ts";
import type { GenerationResult, PieceSink } from "../generation/generation.ts";
import type { GenerationSettings } from "../generation/options.ts";
import { reasoningLimit } from "./reasoning.ts";
import { checkGbnf } from "../../gbnf/check.ts";
import type { GrammarTriggers } from "../sampling/grammar.ts";
import {
  planResult,
  type ResultSchema,
  type StructuredOptions,
  type StructuredResultOf,
} from "../generation/structured.ts";
import type { AnswerMarks, Prompt } from "../thread/protocol.ts";
import type { Tool } from "../tools/tool.ts";
import { toolShapes } from "../tools/parsers/shapes.ts";
import { toolGrammar } from "../tools/grammar.ts";
import { runCalls } from "../tools/runner.ts";
import { partialTurn } from "./partial_turn.ts";
import { joinRounds, type Round } from "./rounds.ts";
import { abortable } from "../../support/abortable.ts";

export type { ChatOptions, ChatSendOptions } from "./options.ts";

/** What a chat needs of its model. */
export interface ChatHost extends PromptHost {
  /** Generates an answer. */
  generate(
    prompt: Prompt,
    settings: GenerationSettings,
    owner: number,
    signal: AbortSignal,
    sink: PieceSink,
  ): Promise<GenerationResult>;
}

/** What a turn is about. */
interface TurnInput {
  /** The messages that it begins with. */
  messages(): ChatMessage[];
  settings: ChatSendSettings;
  signal: AbortSignal;
  sink: PieceSink;
  emit: (event: ChatEvent) => void;
  finish: Finish;
}

/** What becomes of a turn's result. */
type Finish = (result: ChatResult) => ChatResult | Promise<ChatResult>;

let chats = 0;

/**
 * A conversation: it keeps what was said, and what of it is still in the context's memory isn't computed again. A turn that fails or is cancelled
 * leaves no trace, unless its partial answer is asked for (`keepPartial`). Answers are made one after another.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadModel } from "../model/load_model.ts";
 * import { defaultModelPath } from "../../models/default_model.ts";
 *
 * await using model = await loadModel(await defaultModelPath());
 * const chat = model.chat({ system: "You are a helpful assistant." });
 * const { text } = await chat.send("What is the capital of France?", { temperature: 0, maxTokens: 32 });
 * assert.match(text, /Paris/);
 * assert.equal(chat.history.length, 3);
 * ```
 */
export class Chat {
  readonly #host: ChatHost;
  readonly #id = ++chats;
  readonly #settings: ChatSettings;
  readonly #prompts: PromptMaker;
  readonly #messages: ChatMessage[];
  #turn: Promise<unknown> = Promise.resolve();

  /** Begins a conversation. Chats are made by `model.chat`. */
  constructor(host: ChatHost, options: ChatOptions | undefined) {
    this.#host = host;
    this.#settings = checkChat(options);
    this.#prompts = new PromptMaker(host, this.#settings.template);
    this.#messages = this.#settings.messages;
  }

  /** All messages so far, the system message too: a copy. */
  get history(): ChatMessage[] {
    return structuredClone(this.#messages);
  }

  /**
   * Says something and gets the answer. The text is never read as control tokens.
   *
   * Throws {@linkcode InvalidArgumentError} at once for a bad option. The turn rejects with {@linkcode ChatTemplateError} when there is no template, it
   * refuses the messages or takes more than a template may, with what `model.complete` rejects with, and with {@linkcode InvalidArgumentError} when
   * calls of tools wait for their results.
   */
  send(text: string, options?: ChatSendOptions): ChatTurn;
  /**
   * Says something and gets JSON that is valid against a schema; the result has a `value`. See {@linkcode StructuredOptions}. The model doesn't think
   * before, and calls no tools: set `toolChoice` to `"none"` in a chat that has some.
   */
  send<const S extends ResultSchema>(
    text: string,
    options: ChatSendOptions & StructuredOptions<S>,
  ): ChatTurn<StructuredResultOf<S, ChatResult>>;
  send(text: string, options?: ChatSendOptions): ChatTurn {
    const content = checkText("the message", text);
    const { options: plain, finish } = planResult(options, { reasoning: false });
    const settings = checkSend("chat.send", plain, this.#settings.tools);
    return this.#begin(settings, finish, () => {
      const waiting = pendingCalls(this.#messages);
      if (waiting.length === 0) return [{ role: "user", content }];
      throw new InvalidArgumentError(
        `calls of tools wait for their results (${
          waiting.map(({ name }) => name).join(", ")
        }); give these first, by chat.sendToolResults`,
        { value: waiting, expected: "no call that waits" },
      );
    });
  }

  /**
   * Gives the results of the calls in the last turn's `toolCalls`, and gets the answer to them.
   *
   * Throws {@linkcode InvalidArgumentError} at once for a bad option; the turn rejects with it when the results don't fit to the calls that wait.
   */
  sendToolResults(results: readonly ToolResult[], options?: ChatSendOptions): ChatTurn {
    const checked = checkToolResults(results);
    const settings = checkSend("chat.sendToolResults", options, this.#settings.tools);
    return this.#begin(settings, (result) => result, () => orderResults(this.#messages, checked));
  }

  #begin(settings: ChatSendSettings, finish: Finish, messages: () => ChatMessage[]): ChatTurn {
    const before = this.#turn;
    const turn = startTurn(async (signal, sink, emit) => {
      signal.throwIfAborted();
      await abortable(before, signal);
      return await this.#answer({ messages, settings, signal, sink, emit, finish });
    }, settings.generation.signal);
    // One that is cancelled while it waits ends before its turn: those behind it wait for the turn all the same.
    this.#turn = turn.settled.then(() => before);
    return turn;
  }

  /** Asks the model, runs the handlers of the tools that it calls, and asks it again, until it calls none. */
  async #answer(turn: TurnInput): Promise<ChatResult> {
    const added = turn.messages();
    try {
      const result = await this.#rounds(turn, added);
      this.#messages.push(...added);
      return result;
    } catch (error) {
      if (turn.settings.keepPartial && turn.signal.aborted) this.#messages.push(...partialTurn(added));
      throw error;
    }
  }

  async #rounds(turn: TurnInput, added: ChatMessage[]): Promise<ChatResult> {
    const { settings, signal, emit } = turn;
    const rounds: Round[] = [];
    for (;;) {
      const round = await this.#ask(turn, added, rounds);
      rounds.push(round);
      const { calls } = round;
      added.push(round.message);
      if (calls.length === 0) break;
      const run = rounds.length <= settings.maxToolRounds;
      const results = await abortable(
        runCalls(calls, run ? this.#settings.tools : undefined, signal, emit),
        signal,
      );
      added.push(...results);
      if (results.length < calls.length || left(settings, rounds) <= 0) break;
    }
    return await turn.finish(joinRounds(rounds, pendingCalls([...this.#messages, ...added])));
  }

  /** One answer of the model. */
  async #ask(turn: TurnInput, added: ChatMessage[], rounds: readonly Round[]): Promise<Round> {
    const { settings, signal, emit } = turn;
    const first = rounds.length === 0;
    const tools = this.#toolsFor(settings, first);
    const messages = [...this.#messages, ...added];
    const prefill = first ? settings.prefill : "";
    const variables = { enable_thinking: settings.reasoning.enabled, ...this.#settings.variables };
    const made = await this.#prompts.make({ messages, tools, variables, prefill }, signal);
    signal.throwIfAborted();
    const reader = new AnswerReader(
      made.form,
      toolShapes(tools),
      {
        inReasoning: made.inReasoning,
        calls: tools.length > 0,
        prefix: made.prefix,
        prefill,
        separator: rounds.some(({ answer }) => answer.text !== "") ? "\n\n" : "",
        firstCall: messages.reduce((count, { toolCalls }) => count + (toolCalls?.length ?? 0), 0),
      },
      turn.sink,
      emit,
    );
    const { wanted } = turn.sink;
    const generation = {
      ...settings.generation,
      ...this.#constrained(settings, tools, made, first),
      marks: marksOf(made, settings, tools.length > 0),
      maxTokens: settings.generation.maxTokens === undefined ? undefined : left(settings, rounds),
    };
    const push = (piece: string): void => reader.push(piece);
    const result = await this.#host.generate(made.prompt, generation, this.#id, signal, { wanted, push }).catch(
      (error: unknown) => {
        const { text, reasoning } = reader.finish("");
        if (text !== "") added.push(messageOf(prefill + text, reasoning, []));
        throw error;
      },
    );
    const answer = reader.finish(result.text);
    const whole = result.stopReason === "eos";
    const calls = answer.calls.filter(({ call }) => call !== undefined || whole);
    return {
      answer,
      calls,
      message: messageOf(prefill + answer.text, answer.reasoning, calls),
      malformed: answer.calls.filter(({ call }) => call === undefined).map(({ parsed }) => malformed(parsed)),
      result,
    };
  }

  #toolsFor({ toolChoice }: ChatSendSettings, first: boolean): readonly Tool[] {
    const { tools } = this.#settings;
    if (toolChoice === "none") return [];
    return first && typeof toolChoice === "object" ? tools.filter(({ name }) => name === toolChoice.name) : tools;
  }

  /** The grammar that calls are held to. */
  #constrained(
    { toolChoice, parallel, constrain }: ChatSendSettings,
    tools: readonly Tool[],
    { form, inReasoning }: ChatPrompt,
    first: boolean,
  ): Pick<GenerationSettings, "grammar"> | undefined {
    const required = first && (toolChoice === "required" || typeof toolChoice === "object");
    if (tools.length === 0 || !constrain) return undefined;
    const template = this.#prompts.source;
    const shapes = toolShapes(tools);
    const grammar = toolGrammar({ form, template, tools, shapes, parallel, required, inReasoning });
    if (grammar !== undefined) {
      const { source } = grammar;
      const triggers = required ? undefined : triggersOf(grammar.triggers);
      return { grammar: { ...checkGbnf(source), source, root: "root", triggers } };
    }
    if (!required) return undefined;
    throw new InvalidArgumentError(
      `calls of tools can't be forced with this model's template (${form.family.name}); set toolChoice to auto`,
      { value: toolChoice, expected: '"auto" or "none"' },
    );
  }
}

function triggersOf(triggers: readonly (string | RegExp)[]): GrammarTriggers {
  return {
    words: triggers.filter((one) => typeof one === "string"),
    tokens: [],
    patterns: triggers.filter((one) => typeof one !== "string").map((one) => new RegExp(one.source, "du")),
  };
}

/** The control tokens that the answer's form is made of, and how long the model may think. */
function marksOf(
  { form, inReasoning }: ChatPrompt,
  settings: ChatSendSettings,
  tools: boolean,
): AnswerMarks | undefined {
  const { family, reasoning } = form;
  const budget = reasoningLimit(form, settings.reasoning, inReasoning);
  const shown = [
    ...(reasoning === undefined ? [] : [reasoning.open, reasoning.close]),
    ...(family.dropped ?? []),
    ...(tools ? family.openings(toolShapes([])) : []),
    ...(tools || family.isFramed === true ? family.marks ?? [] : []),
  ];
  return shown.length === 0 && budget === undefined ? undefined : { shown, budget };
}

/** Tokens that are left of the turn's. */
function left({ generation }: ChatSendSettings, rounds: readonly Round[]): number {
  const used = rounds.reduce((sum, { result }) => sum + result.tokens.length, 0);
  return (generation.maxTokens ?? Infinity) - used;
}

function messageOf(content: string, reasoning: string, calls: readonly AnswerCall[]): ChatMessage {
  const toolCalls = calls.map(({ id, parsed, call }) => call ?? { id, name: parsed.name, arguments: {} });
  return {
    role: "assistant",
    content,
    ...(reasoning === "" ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
}
