import type { ToolCall } from "./message.ts";
import { definePicture } from "../../../base/inspect.ts";
import { type Generation, type GenerationResult, GenerationStream, type PieceSink } from "../generation/generation.ts";

/** A tool call that is malformed or was cut off. */
export interface MalformedToolCall {
  /** The name of the tool. */
  name: string;
  /** The arguments as far as they were written. */
  arguments: string;
}

/** A tool call that ended in an error, which the model received: bad arguments, an unknown tool, or an exception of the handler. */
export interface FailedToolCall {
  /** The call's id. */
  id: string;
  /** The name of the tool. */
  name: string;
  /** The error as the model got it. */
  message: string;
}

/** The result of a turn. Plain data. */
export interface ChatResult extends GenerationResult {
  /** The model's reasoning, without the marks around it. */
  reasoning: string;
  /** The calls of tools without a handler, and those after the last round: answer them by `chat.sendToolResults`. */
  toolCalls: ToolCall[];
  /** The calls of the last answer that can't be used. */
  malformedToolCalls: MalformedToolCall[];
  /** The calls of the turn whose result was an error. */
  failedToolCalls: FailedToolCall[];
  /** The number of times that the model was asked: once, and once more each time handlers had run. */
  rounds: number;
}

/** An event of a turn. */
export type ChatEvent =
  /** Text of the answer. */
  | { readonly type: "text"; readonly text: string }
  /** Text of the model's reasoning. */
  | { readonly type: "reasoning"; readonly text: string }
  /** A call of a tool begins. */
  | { readonly type: "toolCallStart"; readonly id: string; readonly name: string }
  /** More of a call's arguments, as JSON text. */
  | { readonly type: "toolCallArguments"; readonly id: string; readonly text: string }
  /** A call is whole. */
  | { readonly type: "toolCall"; readonly id: string; readonly call: ToolCall }
  /** A call has ended and can't be used. */
  | { readonly type: "toolCallMalformed"; readonly id: string; readonly call: MalformedToolCall }
  /** A handler has run, or a call couldn't be run; `error` is the exception of a handler. */
  | {
    readonly type: "toolResult";
    readonly id: string;
    readonly name: string;
    readonly content: string;
    readonly isError: boolean;
    readonly error?: unknown;
  };

/** Does the work of a turn. */
export type ChatWork<Result extends ChatResult = ChatResult> = (
  signal: AbortSignal,
  sink: PieceSink,
  emit: (event: ChatEvent) => void,
) => Promise<Result>;

/**
 * An answer that is being generated: a {@linkcode Generation} whose text is the model's answer, with further streams of what happens in the turn and of
 * the model's reasoning. Each stream can be iterated once; leaving the loop over any of them cancels the turn.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadModel } from "../model/load_model.ts";
 * import { defaultModelPath } from "../../models/default_model.ts";
 *
 * await using model = await loadModel(await defaultModelPath());
 * const turn = model.chat().send("What is the capital of France?", { temperature: 0, maxTokens: 16 });
 * let text = "";
 * for await (const event of turn.events) if (event.type === "text") text += event.text;
 * assert.equal((await turn).text, text);
 * ```
 */
export interface ChatTurn<Result extends ChatResult = ChatResult> extends Generation<Result> {
  /** The model's reasoning, piece by piece. */
  readonly reasoning: AsyncIterable<string>;
  /** All that happens, in its order. */
  readonly events: AsyncIterable<ChatEvent>;
}

/** A {@linkcode ChatTurn} for the chat that waits for it. */
export interface StartedTurn<Result extends ChatResult = ChatResult> extends ChatTurn<Result> {
  /** Settles, and never rejects, once the turn has ended in whatever way; waiting for it leaves a rejection unhandled. */
  readonly settled: Promise<void>;
}

/** Starts a turn. */
export function startTurn<Result extends ChatResult>(
  work: ChatWork<Result>,
  signal: AbortSignal | undefined,
): StartedTurn<Result> {
  const turn = new ChatTurnStream<Result>("this turn");
  turn.beginTurn(work, signal);
  return turn;
}

class ChatTurnStream<Result extends ChatResult> extends GenerationStream<Result> implements StartedTurn<Result> {
  static {
    definePicture(ChatTurnStream, "ChatTurn", GenerationStream.picture);
  }

  readonly #events = this.queue<ChatEvent>("the property events of this turn");
  readonly #reasoning = this.queue<string>("the property reasoning of this turn");

  get reasoning(): AsyncIterable<string> {
    return { [Symbol.asyncIterator]: () => this.iterate(this.#reasoning) };
  }

  get events(): AsyncIterable<ChatEvent> {
    return { [Symbol.asyncIterator]: () => this.iterate(this.#events) };
  }

  beginTurn(work: ChatWork<Result>, signal: AbortSignal | undefined): void {
    const emit = (event: ChatEvent): void => {
      this.#events.push(event);
      if (event.type === "reasoning") this.#reasoning.push(event.text);
    };
    this.begin((inner, sink) => work(inner, sink, emit), signal);
  }
}
