import { GenerationCancelledError } from "../../errors.ts";
import { show } from "../../../base/check.ts";
import { definePicture } from "../../../base/inspect.ts";
import { ResultStream } from "../../support/result_stream.ts";
import type { StopReason, TokenLogprobs } from "../thread/protocol.ts";

/** Durations and token counts of a generation. */
export interface GenerationTimings {
  /** Milliseconds in the queue: from the call to the start of the work. */
  waitMs: number;
  /** Milliseconds from the call to the first piece of text; `undefined` when there was none. */
  firstPieceMs: number | undefined;
  /** Milliseconds spent on the prompt. */
  promptMs: number;
  /** Milliseconds from the end of the prompt to the end of the generation. */
  generationMs: number;
  /** Number of prompt tokens. */
  promptTokens: number;
  /** Number of prompt tokens that were reused from the context's memory. */
  reusedTokens: number;
  /** Number of generated tokens. */
  generatedTokens: number;
  /** Prompt tokens computed per second. */
  promptTokensPerSecond: number;
  /** Generated tokens per second. */
  generatedTokensPerSecond: number;
}

/** The result of a generation. Plain data: it can be written as JSON or sent to another thread. */
export interface GenerationResult {
  /** The text, without the stop string. */
  text: string;
  /** The generated tokens, including those of a stop string, without the end token. */
  tokens: number[];
  /** The reason of the end: the model's end token, a stop string, `maxTokens`, or a full context. */
  stopReason: StopReason;
  /** The stop string that was found. */
  stop?: string;
  /** The log-probability of each of {@linkcode GenerationResult.tokens} with its likeliest alternatives; present if the option `logprobs` was given. */
  logprobs?: TokenLogprobs[];
  /** The seed that was used: the same seed and options give the same text. */
  seed: number;
  /** Durations and token counts. */
  timings: GenerationTimings;
}

/** The receiver of the pieces of a text. */
export interface PieceSink {
  /**
   * Memory that is shared with the native thread; its only element is 1 once somebody iterates. Until then the pieces stay on that thread, since each costs
   * a message.
   */
  readonly wanted: Int32Array<SharedArrayBuffer>;
  /** Takes a piece. */
  push(piece: string): void;
}

/** The work of a generation: sends pieces to the sink once they are wanted, the first with all text so far, and returns the result. */
export type GenerationWork<Result extends GenerationResult = GenerationResult> = (
  signal: AbortSignal,
  sink: PieceSink,
) => Promise<Result>;

/**
 * Text that is being generated: an async iterable of its pieces, and a promise of the whole result, in one. The work starts at once, whether or not
 * anyone listens.
 *
 * Each piece is of whole characters; the first one holds all the text that there is already. The pieces can be iterated once; a second iteration throws
 * {@linkcode InvalidArgumentError}. Leaving the loop cancels the generation; the promise then rejects with {@linkcode GenerationCancelledError}, whose
 * `partial` has the text so far. An abort by signal rejects promise and loop with the signal's reason; {@linkcode Generation.partial} has the text.
 *
 * Who only iterates gets errors from the loop; no rejection is left unhandled. `ReadableStream.from(generation)` makes a web stream of the pieces, and
 * canceling that stream cancels the generation.
 *
 * An `async` function that returns a generation hands its caller the finished result, as with any promise: return it from a plain function, or in an
 * object, to have it iterated.
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
export interface Generation<Result extends GenerationResult = GenerationResult>
  extends Promise<Result>, AsyncIterable<string> {
  /**
   * The text so far. It grows while somebody iterates; otherwise the text stays on the native thread until the generation has ended, also if it was aborted
   * or left.
   */
  readonly partial: string;
  /** Returns the pieces of text as they come, once. */
  [Symbol.asyncIterator](): AsyncGenerator<string, void, undefined>;
}

/** Starts some work as a {@linkcode Generation}. */
export function startGeneration<Result extends GenerationResult>(
  work: GenerationWork<Result>,
  signal: AbortSignal | undefined,
): Generation<Result> {
  const generation = new GenerationStream<Result>("this generation");
  generation.begin(work, signal);
  return generation;
}

/** The stream behind a {@linkcode Generation}. */
export class GenerationStream<Result extends GenerationResult> extends ResultStream<string, Result>
  implements Generation<Result> {
  static {
    definePicture(GenerationStream, "Generation", GenerationStream.picture);
  }

  readonly #wanted = new Int32Array(new SharedArrayBuffer(4));
  #text = "";

  /** Returns the picture of a stream of text: its state, and the text so far. */
  protected static picture({ state, partial }: { readonly state: string; readonly partial: string }): string {
    return partial === "" ? state : `${state}, ${show(partial)}`;
  }

  /** See {@linkcode Generation.partial}. */
  get partial(): string {
    return this.#text;
  }

  /** Starts the work. */
  begin(work: GenerationWork<Result>, signal: AbortSignal | undefined): void {
    const push = (piece: string): void => {
      this.#text += piece;
      this.items.push(piece);
    };
    this.start(async (inner) => {
      const result = await work(inner, { wanted: this.#wanted, push });
      // What nobody wanted in pieces.
      if (this.#text.length < result.text.length) push(result.text.slice(this.#text.length));
      return result;
    }, signal);
  }

  /** Has the pieces sent from now on. */
  protected override onIterate(): void {
    Atomics.store(this.#wanted, 0, 1);
  }

  /** Returns an error that has the text so far. */
  protected override cancelledError(): Error {
    return new GenerationCancelledError(
      "the loop over this generation was left before its end, which cancelled it; the error's partial has the text so far",
      { partial: this.#text, expected: "a loop to the end" },
    );
  }
}
