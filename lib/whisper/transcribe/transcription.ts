import { InvalidArgumentError } from "../../errors.ts";
import { TranscriptionCancelledError } from "../errors.ts";
import type { Segment } from "./segment.ts";
import type { LanguageProbability, SpeechSegment } from "../thread/protocol.ts";
import { onReturn } from "../../support/on_return.ts";

/** How long the parts of a transcription took. */
export interface TranscriptionTimings {
  /** Milliseconds from the call to the start of the work: reading the audio, and waiting for earlier work. */
  waitMs: number;
  /** Milliseconds spent on finding speech; 0 where it wasn't looked for. */
  vadMs: number;
  /** Milliseconds from there to the end. */
  transcribeMs: number;
  /** Seconds of audio. */
  audioSeconds: number;
}

/** What a transcription gives in the end. Plain data: it can be written as JSON or sent to another thread. */
export interface TranscriptionResult {
  /** The whole text: that of the segments, one after another. */
  text: string;
  /** The segments. */
  segments: Segment[];
  /** The language of the text as a short code; `undefined` when it was to be heard and nothing was said. */
  language: string | undefined;
  /** How probable each language is, the most probable first, where it was heard. */
  languages?: LanguageProbability[];
  /** Where speech was found, where it was looked for. */
  speech?: SpeechSegment[];
  /** How long it took. */
  timings: TranscriptionTimings;
}

/** Does the work of a transcription: calls back with segments as they come and gives the result without them. */
export type TranscriptionWork = (
  signal: AbortSignal,
  onSegments: (segments: Segment[]) => void,
) => Promise<Omit<TranscriptionResult, "text" | "segments">>;

/**
 * Audio that is being transcribed: an async iterable of its segments, and a promise of the whole result, in one. The work starts at once, whether or not
 * anyone listens. Leaving a loop over the segments cancels it; the promise then rejects with {@linkcode TranscriptionCancelledError}. An abort by signal
 * rejects both with the signal's reason.
 */
export class Transcription implements AsyncIterable<Segment>, PromiseLike<TranscriptionResult> {
  readonly #controller = new AbortController();
  readonly #result: Promise<TranscriptionResult>;
  readonly #segments: Segment[] = [];
  #next = 0;
  #wake: (() => void) | undefined;
  #settled = false;
  #iterated = false;

  /** Starts the work. Transcriptions are made by `whisper.transcribe`. */
  constructor(work: TranscriptionWork, signal: AbortSignal | undefined) {
    const abort = () => this.#controller.abort(signal?.reason);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    this.#result = this.#run(work).finally(() => {
      signal?.removeEventListener("abort", abort);
      this.#settled = true;
      this.#wake?.();
    });
    this.#result.catch(() => {});
  }

  /** Waits for the result. */
  then<A = TranscriptionResult, B = never>(
    onFulfilled?: ((result: TranscriptionResult) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#result.then(onFulfilled, onRejected);
  }

  /** The segments as they come. Can be taken once. */
  [Symbol.asyncIterator](): AsyncGenerator<Segment, void, undefined> {
    if (this.#iterated) {
      throw new InvalidArgumentError(
        "this transcription was looped over before; keep its segments, or await it for all of them",
        { value: "a second loop", expected: "one loop over a transcription" },
      );
    }
    this.#iterated = true;
    return onReturn(this.#iterate(), () => this.#leave());
  }

  async #run(work: TranscriptionWork): Promise<TranscriptionResult> {
    this.#controller.signal.throwIfAborted();
    const rest = await work(this.#controller.signal, (segments) => {
      this.#segments.push(...segments);
      this.#wake?.();
    });
    const segments = this.#segments.slice();
    return { text: segments.map(({ text }) => text).join(""), segments, ...rest };
  }

  async *#iterate(): AsyncGenerator<Segment, void, undefined> {
    try {
      for (;;) {
        const segment = this.#segments[this.#next];
        if (segment !== undefined) {
          this.#next++;
          yield segment;
        } else if (this.#settled) break;
        else await new Promise<void>((resolve) => this.#wake = resolve);
      }
      await this.#result;
    } finally {
      await this.#leave();
    }
  }

  /** Cancels what isn't done yet, and waits until the native thread has really stopped. */
  async #leave(): Promise<void> {
    if (this.#settled) return;
    this.#controller.abort(
      new TranscriptionCancelledError("the loop over this transcription was left before its end, which cancelled it"),
    );
    await this.#result.catch(() => {});
  }
}
