import { TranscriptionCancelledError } from "../errors.ts";
import type { Segment } from "./segment.ts";
import type { LanguageProbability, SpeechSegment } from "../thread/protocol.ts";
import { definePicture } from "../../../base/inspect.ts";
import { ResultStream } from "../../support/result_stream.ts";

/** Durations of the steps of a transcription. */
export interface TranscriptionTimings {
  /** Milliseconds from the call to the start of the work: reading the audio, and waiting for earlier work. */
  waitMs: number;
  /** Milliseconds of voice activity detection; 0 without it. */
  vadMs: number;
  /** Milliseconds of the transcription itself, up to its end. */
  transcribeMs: number;
  /** Seconds of audio that were transcribed: those of the part that was asked for. */
  audioSeconds: number;
}

/** Result of a transcription. Plain data: it can be written as JSON or sent to another thread. */
export interface TranscriptionResult {
  /** The whole text: that of the segments, one after another. */
  text: string;
  /** The segments. */
  segments: Segment[];
  /** Language of the text as a short code; `undefined` when it was to be detected and nothing was said. */
  language: string | undefined;
  /** Probability of each language, the most probable first; present only where the language was detected. */
  languages?: LanguageProbability[];
  /** Stretches of detected speech; present only with voice activity detection. */
  speech?: SpeechSegment[];
  /** Durations. */
  timings: TranscriptionTimings;
}

/** Does the work of a transcription: calls back with segments as they come and gives the result without them. */
export type TranscriptionWork = (
  signal: AbortSignal,
  onSegments: (segments: Segment[]) => void,
) => Promise<Omit<TranscriptionResult, "text" | "segments">>;

/**
 * Audio that is being transcribed: an async iterable of its segments, and a promise of the whole result, in one. The work starts at once, whether or not
 * anyone listens.
 *
 * The segments can be iterated once; a second iteration throws {@linkcode InvalidArgumentError}. Leaving the loop cancels the transcription; the promise
 * then rejects with {@linkcode TranscriptionCancelledError}, whose `partial` has the segments so far. An abort by signal rejects promise and loop with the
 * signal's reason; {@linkcode Transcription.partial} has the segments.
 *
 * Who only iterates gets errors from the loop; no rejection is left unhandled. `ReadableStream.from(transcription)` makes a web stream of the segments. An
 * `async` function that returns a transcription hands its caller the finished result, as with any promise.
 */
export interface Transcription extends Promise<TranscriptionResult>, AsyncIterable<Segment> {
  /** The segments so far, also after an abort: a copy. */
  readonly partial: Segment[];
  /** Returns the segments as they come, once. */
  [Symbol.asyncIterator](): AsyncGenerator<Segment, void, undefined>;
}

/** Starts some work as a {@linkcode Transcription}. */
export function startTranscription(work: TranscriptionWork, signal: AbortSignal | undefined): Transcription {
  const transcription = new TranscriptionStream("this transcription");
  transcription.begin(work, signal);
  return transcription;
}

class TranscriptionStream extends ResultStream<Segment, TranscriptionResult> implements Transcription {
  static {
    definePicture(
      TranscriptionStream,
      "Transcription",
      ({ state, partial }) => `${state}, ${partial.length} segments`,
    );
  }

  readonly #segments: Segment[] = [];

  get partial(): Segment[] {
    return this.#segments.slice();
  }

  begin(work: TranscriptionWork, signal: AbortSignal | undefined): void {
    this.start(async (inner) => {
      inner.throwIfAborted();
      const rest = await work(inner, (segments) => {
        // Native code that runs on after an abort may still find some.
        if (inner.aborted) return;
        this.#segments.push(...segments);
        this.items.push(...segments);
      });
      const segments = this.partial;
      return { text: segments.map(({ text }) => text).join(""), segments, ...rest };
    }, signal);
  }

  protected override cancelledError(): Error {
    return new TranscriptionCancelledError(
      "the loop over this transcription was left before its end, which cancelled it; the error's partial has the segments so far",
      { partial: this.partial, expected: "a loop to the end" },
    );
  }
}
