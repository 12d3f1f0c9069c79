import { InvalidArgumentError } from "../../errors.ts";
import type { ToolCall } from "./message.ts";
import { Generation, type GenerationResult, type PieceSink } from "../generation/generation.ts";
import { onReturn } from "../../support/on_return.ts";

/** A call of a tool that isn't written as it should be, or was cut off. */
export interface MalformedToolCall {
  /** The name of the tool. */
  name: string;
  /** The arguments as far as they were written. */
  arguments: string;
}

/** What a turn of a chat gives in the end. Plain data. */
export interface ChatResult extends GenerationResult {
  /** What the model thought, without the marks around it. */
  reasoning: string;
  /** The calls of tools that have no handler, or come after the last round: answer them by `chat.sendToolResults`. */
  toolCalls: ToolCall[];
  /** The calls of the last answer that can't be used. */
  malformedToolCalls: MalformedToolCall[];
  /** How often the model was asked: once, and once more each time handlers had run. */
  rounds: number;
}

/** What happens in a turn. */
export type ChatEvent =
  /** Text of the answer. */
  | { readonly type: "text"; readonly text: string }
  /** What the model thinks. */
  | { readonly type: "reasoning"; readonly text: string }
  /** A call of a tool begins. */
  | { readonly type: "toolCallStart"; readonly id: string; readonly name: string }
  /** More of a call's arguments, as JSON text. */
  | { readonly type: "toolCallArguments"; readonly id: string; readonly text: string }
  /** A call is whole. */
  | { readonly type: "toolCall"; readonly id: string; readonly call: ToolCall }
  /** A call has ended and can't be used. */
  | { readonly type: "toolCallMalformed"; readonly id: string; readonly call: MalformedToolCall }
  /** A handler has run, or there was none to run. */
  | {
    readonly type: "toolResult";
    readonly id: string;
    readonly name: string;
    readonly content: string;
    readonly isError: boolean;
  };

/** Does the work of a turn. */
export type ChatWork<Result extends ChatResult = ChatResult> = (
  signal: AbortSignal,
  sink: PieceSink,
  emit: (event: ChatEvent) => void,
) => Promise<Result>;

/**
 * An answer that is being generated: a {@linkcode Generation} whose text is what the model says, with what it thinks and what it calls in streams beside.
 * Leaving the loop over any of them cancels the turn.
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
export class ChatTurn<Result extends ChatResult = ChatResult> extends Generation<Result> {
  readonly #events: Queue<ChatEvent>;
  readonly #thoughts: Queue<string>;

  /** Starts the work. Turns are made by `chat.send`. */
  constructor(work: ChatWork<Result>, signal: AbortSignal | undefined) {
    const events = new Queue<ChatEvent>();
    const thoughts = new Queue<string>();
    super(async (inner, sink) => {
      try {
        const result = await work(inner, sink, (event) => {
          events.push(event);
          if (event.type === "reasoning") thoughts.push(event.text);
        });
        for (const queue of [events, thoughts]) queue.end();
        return result;
      } catch (error) {
        for (const queue of [events, thoughts]) queue.fail(error);
        throw error;
      }
    }, signal);
    this.#events = events;
    this.#thoughts = thoughts;
  }

  /** What the model thinks, piece by piece. Can be taken once. */
  get reasoning(): AsyncIterable<string> {
    return this.#stream(this.#thoughts, "reasoning");
  }

  /** All that happens, in its order. Can be taken once. */
  get events(): AsyncIterable<ChatEvent> {
    return this.#stream(this.#events, "events");
  }

  #stream<T>(queue: Queue<T>, name: string): AsyncIterable<T> {
    return {
      [Symbol.asyncIterator]: () => {
        queue.take(name);
        this.want();
        return onReturn(queue.iterate(() => this.leave()), () => this.leave());
      },
    };
  }
}

/** Items for one reader. */
class Queue<T> {
  #items: T[] = [];
  #wake: (() => void) | undefined;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #taken = false;

  push(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }

  take(name: string): void {
    if (this.#taken) {
      throw new InvalidArgumentError(`${name} of this turn was looped over before; keep what it gave`, {
        value: "a second loop",
        expected: "one loop over a stream",
      });
    }
    this.#taken = true;
  }

  async *iterate(leave: () => Promise<void>): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        const items = this.#items;
        this.#items = [];
        yield* items;
        if (this.#items.length > 0) continue;
        if (this.#ended) break;
        await new Promise<void>((resolve) => this.#wake = resolve);
      }
      if (this.#failure !== undefined) throw this.#failure.error;
    } finally {
      await leave();
    }
  }
}
