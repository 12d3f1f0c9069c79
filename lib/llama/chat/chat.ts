import { InvalidArgumentError, PromptTooLongError } from "../../errors.ts";
import { abortable } from "../../support/abortable.ts";
import { checkText } from "../../../base/check.ts";
import { definePicture } from "../../../base/inspect.ts";
import {
  planResult,
  type ResultSchema,
  type StructuredOptions,
  type StructuredResultOf,
} from "../generation/structured.ts";
import type { PieceSink } from "../generation/generation.ts";
import { runCalls } from "../tools/runner.ts";
import { Answers, tokensLeft } from "./answers.ts";
import type { ChatHost } from "./host.ts";
import type { ChatMessage } from "./message.ts";
import {
  type ChatOptions,
  type ChatSendOptions,
  type ChatSendSettings,
  type ChatSettings,
  checkChat,
  checkSend,
} from "./options.ts";
import { partialTurn } from "./partial_turn.ts";
import { joinRounds, type Round } from "./rounds.ts";
import { checkToolResults, orderResults, pendingCalls, type ToolResult } from "./tool_results.ts";
import { type ChatEvent, type ChatResult, type ChatTurn, type FailedToolCall, startTurn } from "./turn.ts";

export type { ChatHost } from "./host.ts";
export type { ChatOptions, ChatSendOptions } from "./options.ts";

/**
 * A conversation, made by `model.chat`. It keeps the messages; those that are still in the context's memory aren't computed again. A turn that fails or is
 * cancelled leaves no trace, unless its partial answer is asked for (`keepPartial`), so that the chat can be used further. Turns run one after another.
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
export interface Chat {
  /** All messages so far, the system message too: a copy. */
  readonly history: ChatMessage[];

  /**
   * Sends a message of the user and gets the answer. The text is never read as control tokens.
   *
   * Throws {@linkcode InvalidArgumentError} at once for a bad option. The turn rejects with {@linkcode ChatTemplateError} when there is no template, it
   * refuses the messages or takes more than a template may; with {@linkcode PromptTooLongError} when the conversation no longer fits into the context;
   * with {@linkcode ToolHandlerError} when a tool of the program fails (see `toolErrors`); with what `model.complete` rejects with; and with
   * {@linkcode InvalidArgumentError} when calls of tools wait for their results.
   */
  send(text: string, options?: ChatSendOptions): ChatTurn;
  /**
   * Sends a message of the user and gets JSON that is valid against a schema; the result has a `value`. See {@linkcode StructuredOptions}. The model
   * doesn't reason before, and calls no tools: set `toolChoice` to `"none"` in a chat that has some.
   */
  send<const S extends ResultSchema>(
    text: string,
    options: ChatSendOptions & StructuredOptions<S>,
  ): ChatTurn<StructuredResultOf<S, ChatResult>>;

  /**
   * Gives the results of the calls in the last turn's `toolCalls`, and gets the answer to them.
   *
   * Throws {@linkcode InvalidArgumentError} at once for a bad option or a result that JSON can't express; the turn rejects with it when the results
   * don't fit to the calls that wait.
   */
  sendToolResults(results: readonly ToolResult[], options?: ChatSendOptions): ChatTurn;
}

/** Begins a conversation. Throws as `model.chat` does. */
export function startChat(host: ChatHost, options: ChatOptions | undefined): Chat {
  return new ChatSession(host, options);
}

/** One turn, while it runs. */
interface TurnInput {
  /** Returns the messages that it begins with. */
  messages(): ChatMessage[];
  readonly settings: ChatSendSettings;
  readonly signal: AbortSignal;
  readonly sink: PieceSink;
  readonly emit: (event: ChatEvent) => void;
  readonly finish: Finish;
  /** Returns whether a whole text is valid; `undefined` where any text is. */
  readonly accepts: ((text: string) => Promise<boolean>) | undefined;
}

/** Makes the result of a turn from the plain one. */
type Finish = (result: ChatResult) => ChatResult | Promise<ChatResult>;

class ChatSession implements Chat {
  readonly #host: ChatHost;
  readonly #settings: ChatSettings;
  readonly #answers: Answers;
  readonly #messages: ChatMessage[];
  #turn: Promise<unknown> = Promise.resolve();

  static {
    definePicture(ChatSession, "Chat", (chat) => {
      const { length } = chat.#messages;
      const tools = chat.#settings.tools.map(({ name }) => name);
      return `${length} message${length === 1 ? "" : "s"}${tools.length === 0 ? "" : `, tools: ${tools.join(", ")}`}`;
    });
  }

  constructor(host: ChatHost, options: ChatOptions | undefined) {
    this.#host = host;
    this.#settings = checkChat(options);
    this.#answers = new Answers(host, this.#settings);
    this.#messages = this.#settings.messages;
  }

  get history(): ChatMessage[] {
    return structuredClone(this.#messages);
  }

  send<const S extends ResultSchema>(
    text: string,
    options: ChatSendOptions & StructuredOptions<S>,
  ): ChatTurn<StructuredResultOf<S, ChatResult>>;
  send(text: string, options?: ChatSendOptions): ChatTurn;
  send(text: string, options?: ChatSendOptions): ChatTurn {
    const content = checkText("the message", text);
    const plan = planResult(options, { reasoning: false });
    const given = plan.accepts === undefined ? plan.options : { ...plan.options, maxAttempts: plan.maxAttempts };
    const checked = checkSend("chat.send", given, this.#settings.tools);
    const settings = { ...checked, generation: plan.constrain(checked.generation) };
    return this.#begin(settings, plan, () => {
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

  sendToolResults(results: readonly ToolResult[], options?: ChatSendOptions): ChatTurn {
    const checked = checkToolResults(results);
    const settings = checkSend("chat.sendToolResults", options, this.#settings.tools);
    return this.#begin(
      settings,
      { finish: (result) => result, accepts: undefined },
      () => orderResults(this.#messages, checked),
    );
  }

  #begin(
    settings: ChatSendSettings,
    { finish, accepts }: Pick<TurnInput, "finish" | "accepts">,
    messages: () => ChatMessage[],
  ): ChatTurn {
    const before = this.#turn;
    const turn = startTurn((signal, sink, emit) =>
      this.#host.during(async () => {
        signal.throwIfAborted();
        await abortable(before, signal);
        return await this.#answer({ messages, settings, signal, sink, emit, finish, accepts });
      }), settings.generation.signal);
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
      throw error instanceof PromptTooLongError ? this.#tooLong(error) : error;
    }
  }

  async #rounds(turn: TurnInput, added: ChatMessage[]): Promise<ChatResult> {
    const { settings, signal, sink } = turn;
    const rounds: Round[] = [];
    const failed: FailedToolCall[] = [];
    const emit = (event: ChatEvent): void => {
      if (event.type === "toolResult" && event.isError) {
        failed.push({ id: event.id, name: event.name, message: event.content });
      }
      turn.emit(event);
    };
    for (;;) {
      const round = await this.#answers.answer({
        settings,
        messages: [...this.#messages, ...added],
        rounds,
        signal,
        sink,
        emit,
        accepts: turn.accepts,
        onPartial: (message) => void added.push(message),
      });
      rounds.push(round);
      const { calls } = round;
      added.push(round.message);
      const tools = rounds.length <= settings.maxToolRounds ? this.#settings.tools : undefined;
      const run = runCalls(calls, { tools, errors: settings.toolErrors, signal }, emit);
      const results = await abortable(run, signal);
      added.push(...results);
      if (calls.length > 0 && results.length === calls.length && tokensLeft(settings, rounds) > 0) continue;
      return await turn.finish(joinRounds(rounds, round, pendingCalls([...this.#messages, ...added]), failed));
    }
  }

  /** A conversation that no longer fits: what to do is another thing than for a prompt. */
  #tooLong({ value, expected, cause, message }: PromptTooLongError): PromptTooLongError {
    return new PromptTooLongError(
      `the conversation doesn't fit into the context (${message}); the chat is as it was before: send a shorter message, begin another chat with a part of its messages (model.chat({ history: chat.history.slice(-4) })), or load the model with a larger contextSize`,
      { value, ...(expected === undefined ? {} : { expected }), cause },
    );
  }
}
