import { GenerationCancelledError, InvalidArgumentError } from "../../errors.ts";
import type { StopReason, TokenLogprobs } from "../thread/protocol.ts";
import { onReturn } from "../../support/on_return.ts";

/** How long the parts of a generation took. */
export interface GenerationTimings {
  /** Milliseconds from the call to the start of the work: how long it was queued. */
  waitMs: number;
  /** Milliseconds from the call to the first piece of text; `undefined` when there was none. */
  firstPieceMs: number | undefined;
  /** Milliseconds spent on the prompt. */
  promptMs: number;
  /** Milliseconds from the end of the prompt to the end of the generation. */
  generationMs: number;
  /** Tokens of the prompt. */
  promptTokens: number;
  /** Tokens of the prompt that were still in the context's memory and cost nothing. */
  reusedTokens: number;
  /** Tokens generated. */
  generatedTokens: number;
  /** Tokens of the prompt computed in a second. */
  promptTokensPerSecond: number;
  /** Tokens generated in a second. */
  generatedTokensPerSecond: number;
}

/** What a generation gives in the end. Plain data: it can be written as JSON or sent to another thread. */
export interface GenerationResult {
  /** The text, without the stop string. */
  text: string;
  /** The tokens that were generated, those of a stop string too, without the one that ends the text. */
  tokens: number[];
  /** Why it ended: the model's end token, a stop string, `maxTokens`, or a full context. */
  stopReason: StopReason;
  /** The stop string that was found. */
  stop?: string;
  /** How likely each of {@linkcode GenerationResult.tokens} was, and what might have come in its place; there when `logprobs` was asked for. */
  logprobs?: TokenLogprobs[];
  /** The seed that was used: with it and the same options comes the same text. */
  seed: number;
  /** How long it took. */
  timings: GenerationTimings;
}

/** Where the pieces of a text go. */
export interface PieceSink {
  /**
   * Memory that is shared with the thread of the work; its only element is 1 once somebody takes the pieces. Until then they stay where they are made,
   * since each costs a message: who only awaits the result doesn't pay for them.
   */
  readonly wanted: Int32Array<SharedArrayBuffer>;
  /** Takes a piece. */
  push(piece: string): void;
}

/** Does the work of a generation: gives its pieces to the sink from when they are wanted, what came before at once, and gives the result. */
export type GenerationWork<Result extends GenerationResult = GenerationResult> = (
  signal: AbortSignal,
  sink: PieceSink,
) => Promise<Result>;

/**
 * Text that is being generated: an async iterable of its pieces, and a promise of the whole result, in one. The work starts at once, whether or not
 * anyone listens. Leaving a loop over the pieces cancels it; the promise then rejects with {@linkcode GenerationCancelledError}. An abort by signal
 * rejects both with the signal's reason.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadModel } from "../model/load_model.ts";
 * import { defaultModelPath } from "../../models/default_model.ts";
 *
 * await using model = await loadModel(await defaultModelPath());
 * const generation = model.complete("Once upon a time", { maxTokens: 8, temperature: 0 });
 * let text = "";
 * for await (const piece of generation) text += piece;
 * const result = await generation;
 * assert.equal(result.text, text);
 * assert.equal(result.stopReason, "maxTokens");
 * ```
 */
export class Generation<Result extends GenerationResult = GenerationResult>
  implements AsyncIterable<string>, PromiseLike<Result> {
  readonly #controller = new AbortController();
  readonly #result: Promise<Result>;
  readonly #wanted = new Int32Array(new SharedArrayBuffer(4));
  readonly #pieces: string[] = [];
  #taken = 0;
  #wake: (() => void) | undefined;
  #settled = false;
  #iterated = false;

  /** Starts the work. Generations are made by `model.complete` and `chat.send`. */
  constructor(work: GenerationWork<Result>, signal: AbortSignal | undefined) {
    const abort = () => this.#controller.abort(signal?.reason);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    const push = (piece: string): void => {
      this.#taken += piece.length;
      this.#pieces.push(piece);
      this.#wake?.();
    };
    this.#result = work(this.#controller.signal, { wanted: this.#wanted, push }).finally(() => {
      signal?.removeEventListener("abort", abort);
      this.#settled = true;
      this.#wake?.();
    });
    this.#result.catch(() => {});
  }

  /** Waits for the result. */
  then<A = Result, B = never>(
    onFulfilled?: ((result: Result) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#result.then(onFulfilled, onRejected);
  }

  /** The pieces of text, each of whole characters, as they come; the first holds all that was there already. Can be taken once. */
  [Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    if (this.#iterated) {
      throw new InvalidArgumentError(
        "this generation was looped over before; keep its pieces, or await it for the whole text",
        {
          value: "a second loop",
          expected: "one loop over a generation",
        },
      );
    }
    this.#iterated = true;
    this.want();
    return onReturn(this.#iterate(), () => this.leave());
  }

  async *#iterate(): AsyncGenerator<string, void, undefined> {
    try {
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece !== undefined) yield piece;
        else if (this.#settled) break;
        else await new Promise<void>((resolve) => this.#wake = resolve);
      }
      const { text } = await this.#result;
      if (this.#taken < text.length) yield text.slice(this.#taken);
    } finally {
      await this.leave();
    }
  }

  /** Has the pieces sent from now on. */
  protected want(): void {
    Atomics.store(this.#wanted, 0, 1);
  }

  /** Cancels what isn't done yet, and waits until the native thread has really stopped. */
  protected async leave(): Promise<void> {
    if (this.#settled) return;
    this.#controller.abort(
      new GenerationCancelledError("the loop over this generation was left before its end, which cancelled it"),
    );
    await this.#result.catch(() => {});
  }
}
