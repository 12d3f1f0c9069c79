/**
 * Live transcription: audio that comes as it is spoken.
 *
 * @module
 */

import { InvalidArgumentError } from "../../errors.ts";
import { isAsyncIterable, isInstance, show } from "../../../base/check.ts";
import { boolean, number, options, type RulesOf } from "../../../base/options.ts";
import { checkSamples } from "../audio/sample_decoder.ts";
import { readAudio } from "../audio/mod.ts";
import { rawRules } from "../audio/options.ts";
import { Resampler } from "../audio/resampler.ts";
import type { PcmFormat } from "../audio/mod.ts";
import { FRAME_SIZE, type LiveWindow, loudness, WindowGate, type WindowSettings } from "./windows.ts";
import type { Segment } from "../transcribe/segment.ts";
import { type AudioOptions, audioRules, detectLanguageSpec } from "../transcribe/audio_options.ts";
import {
  type DecodingOptions,
  decodingRules,
  decodingSettings,
  type TranscribeSettings,
  vadRule,
  WHOLE,
} from "../transcribe/options.ts";
import { type VadOptions, vadSpec } from "../vad/options.ts";

/** Audio as it comes: samples, or the bytes of a WAV file or of raw samples (`raw`). */
export type LiveAudio = ReadableStream<Float32Array | Uint8Array> | AsyncIterable<Float32Array | Uint8Array>;

/** A piece of the transcript of live audio. */
export interface LiveText {
  /** `"stable"` text is never changed; `"provisional"` text is a guess at what has been said since, replaced by whatever comes next. */
  kind: "stable" | "provisional";
  /** The text. */
  text: string;
  /** Its segments; times are from the start of the audio. */
  segments: Segment[];
}

/** Options of `Whisper.live`. */
export interface LiveOptions extends DecodingOptions, Pick<AudioOptions, "sampleRate" | "threads" | "signal"> {
  /** Options of speech detection; `false` detects it by loudness only. Default `"auto"`: by the `vadModel`, if there is one. */
  vad?: "auto" | boolean | VadOptions | undefined;
  /** Format of raw bytes. */
  raw?: PcmFormat | undefined;
  /** Longest time that text stays provisional, in seconds of audio: windows are cut then, where speech is least probable. 2 to 29, default 15. */
  maxWindowSeconds?: number | undefined;
  /** Silence that ends a window, in seconds: 0.1 to 10, default 0.6. */
  pauseSeconds?: number | undefined;
  /** Overlap of two windows that were cut in speech, in seconds: 0 to 2, default 0.5. */
  overlapSeconds?: number | undefined;
  /** Gives provisional text. Default true. */
  provisional?: boolean | undefined;
  /** Minimum time between two provisional texts, in seconds: 0.1 to 30, default 1. */
  provisionalIntervalSeconds?: number | undefined;
}

const { sampleRate, threads, signal } = audioRules;

/** The specification of {@linkcode LiveOptions}. */
export const liveSpec = options(
  "whisper.live",
  {
    ...decodingRules,
    sampleRate,
    threads,
    signal,
    vad: vadRule,
    raw: rawRules,
    maxWindowSeconds: number({ min: 2, max: 29, default: 15 }),
    pauseSeconds: number({ min: 0.1, max: 10, default: 0.6 }),
    overlapSeconds: number({ min: 0, max: 2, default: 0.5 }),
    provisional: boolean({ default: true }),
    provisionalIntervalSeconds: number({ min: 0.1, max: 30, default: 1 }),
  } satisfies RulesOf<LiveOptions>,
);

/** Checked options. Lengths are in samples at 16 kHz. */
export interface LiveSettings {
  transcribe: TranscribeSettings;
  raw: PcmFormat | undefined;
  longest: number;
  pause: number;
  overlap: number;
  provisional: boolean;
  interval: number;
}

/** The model's functions for live audio. */
export interface LiveWork {
  /** Opens the model for voice activity: gives the probabilities of frames that follow each other. `undefined` where there is none. */
  processVad: ((samples: Float32Array<ArrayBuffer>) => Promise<Float32Array>) | undefined;
  /** Transcribes a window. */
  transcribe(samples: Float32Array<ArrayBuffer>, language: string): Promise<{ segments: Segment[]; language: string }>;
}

const RATE = 16_000;
/** RMS of a quiet room, above which any sound counts as speech. */
const QUIET = 0.003;
/** Frames that are heard at once: a quarter of a second. */
const BLOCK_FRAMES = 8;
/** Audio before the first speech that belongs to a window, in seconds. */
const LEAD = 0.3;

/** Checks the options of live transcription. Throws {@linkcode InvalidArgumentError}. */
export function checkLive(given: LiveOptions | undefined): LiveSettings {
  const checked = liveSpec.check(given);
  const { sampleRate, threads, signal, vad, raw, provisional } = checked;
  return {
    transcribe: {
      decoding: { ...decodingSettings(checked), wordTimestamps: true },
      audio: { ...detectLanguageSpec.check(undefined), sampleRate, threads, signal },
      part: WHOLE,
      vad,
      onProgress: undefined,
    },
    raw,
    longest: Math.round(checked.maxWindowSeconds * RATE),
    pause: Math.round(checked.pauseSeconds * RATE),
    overlap: Math.round(checked.overlapSeconds * RATE),
    provisional,
    interval: checked.provisionalIntervalSeconds,
  };
}

/** Throws {@linkcode InvalidArgumentError} for what gives no audio piece by piece. */
export function checkLiveAudio(audio: unknown): void {
  if (isAsyncIterable(audio)) return;
  throw new InvalidArgumentError(
    `the live audio is ${
      show(audio)
    }; give a ReadableStream or another async iterable, or a file to whisper.transcribe`,
    { value: audio, expected: "a ReadableStream of Float32Array or Uint8Array" },
  );
}

/** Transcribes live audio. It reads no further than it has transcribed: memory is bounded by the longest window. */
export async function* transcribeLive(
  audio: LiveAudio,
  settings: LiveSettings,
  work: LiveWork,
): AsyncGenerator<LiveText, void, undefined> {
  const session = new LiveSession(settings, work);
  const { signal } = settings.transcribe.audio;
  for await (const block of blocks(samplesOf(audio, settings), signal)) {
    for (const text of await session.push(block)) yield text;
    const guess = await session.guess();
    if (guess !== undefined) yield guess;
  }
  const last = await session.end();
  if (last !== undefined) yield last;
}

class LiveSession {
  readonly #settings: LiveSettings;
  readonly #work: LiveWork;
  readonly #gate: WindowGate;
  #language: string;
  #guessedAt = 0;
  #guessed = 0;
  #guess = "";

  constructor(settings: LiveSettings, work: LiveWork) {
    this.#settings = settings;
    this.#work = work;
    this.#language = settings.transcribe.decoding.language;
    this.#gate = new WindowGate(windowSettings(settings, work.processVad !== undefined));
  }

  /** Takes whole frames; gives the texts that have become stable. */
  async push(block: Float32Array<ArrayBuffer>): Promise<LiveText[]> {
    const frames = Array.from(
      { length: block.length / FRAME_SIZE },
      (_, index) => block.slice(index * FRAME_SIZE, (index + 1) * FRAME_SIZE),
    );
    const probabilities = await this.#work.processVad?.(block) ?? frames.map(loudness);
    const texts: LiveText[] = [];
    for (const [index, frame] of frames.entries()) {
      const window = this.#gate.push(frame, probabilities[index] ?? 0);
      if (window !== undefined) texts.push(...await this.#stable(window));
    }
    return texts;
  }

  /** The provisional text, if it is due. */
  async guess(): Promise<LiveText | undefined> {
    const { provisional, interval } = this.#settings;
    if (!provisional || performance.now() - this.#guessedAt < interval * 1000) return undefined;
    const window = this.#gate.current();
    if (window === undefined || window.to - this.#guessed < interval * RATE) return undefined;
    const segments = await this.#transcribe(window);
    this.#guessedAt = performance.now();
    this.#guessed = window.to;
    const text = textOf(segments);
    if (text === this.#guess) return undefined;
    this.#guess = text;
    return { kind: "provisional", text, segments };
  }

  /** The last text. */
  async end(): Promise<LiveText | undefined> {
    const window = this.#gate.end();
    return window === undefined ? undefined : (await this.#stable(window))[0];
  }

  async #stable(window: LiveWindow): Promise<LiveText[]> {
    const segments = await this.#transcribe(window);
    const guess = this.#guess;
    this.#guess = "";
    this.#guessed = window.to;
    if (segments.length === 0 && guess === "") return [];
    return [{ kind: "stable", text: textOf(segments), segments }];
  }

  /** The segments of a window, without the words that belong to the windows beside it. */
  async #transcribe(window: LiveWindow): Promise<Segment[]> {
    const { segments, language } = await this.#work.transcribe(window.samples, this.#language);
    if (this.#language === "auto" && language !== "") this.#language = language;
    const [from, to] = [window.from / RATE, window.to / RATE];
    const isCut = window.start + window.samples.length > window.to;
    return segments.map((segment) => shifted(segment, window.start / RATE)).flatMap((segment) =>
      trimmed(segment, from > window.start / RATE ? from : -Infinity, isCut ? to : Infinity)
    );
  }
}

function windowSettings(settings: LiveSettings, hears: boolean): WindowSettings {
  const wanted = settings.transcribe.vad;
  const vad = typeof wanted === "object" ? wanted : vadSpec.check(undefined);
  return {
    threshold: hears ? vad.threshold : QUIET,
    minSpeech: vad.minSpeechMs * RATE / 1000,
    minSilence: settings.pause,
    longest: settings.longest,
    lead: LEAD * RATE,
    overlap: settings.overlap,
  };
}

function textOf(segments: readonly Segment[]): string {
  return segments.map(({ text }) => text).join("");
}

function shifted(segment: Segment, by: number): Segment {
  const move = <T extends { start?: number; end?: number }>(one: T): T => ({
    ...one,
    ...(one.start === undefined ? {} : { start: hundredths(one.start + by) }),
    ...(one.end === undefined ? {} : { end: hundredths(one.end + by) }),
  });
  const { words, tokens } = segment;
  return { ...move(segment), tokens: tokens.map(move), ...(words === undefined ? {} : { words: words.map(move) }) };
}

/** whisper.cpp's times are hundredths of a second: sums of them shall be, too. */
function hundredths(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}

/** The part of a segment between two times, by the middles of its words. */
function trimmed(segment: Segment, from: number, to: number): Segment[] {
  const { words = [] } = segment;
  const inside = ({ start = 0, end = 0 }: { start?: number; end?: number }): boolean => {
    const middle = (start + end) / 2;
    return middle >= from && middle < to;
  };
  const kept = words.filter(inside);
  if (kept.length === words.length) return [segment];
  const [first, last] = [kept[0], kept.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [{
    ...segment,
    text: kept.map(({ text }) => text).join(""),
    start: Math.max(segment.start, first.start),
    end: Math.min(segment.end, last.end),
    tokens: segment.tokens.filter(inside),
    words: kept,
  }];
}

/** Samples at 16 kHz out of whatever comes. */
async function* samplesOf(audio: LiveAudio, settings: LiveSettings): AsyncGenerator<Float32Array> {
  const iterator = (audio as AsyncIterable<Float32Array | Uint8Array>)[Symbol.asyncIterator]();
  try {
    const first = await iterator.next();
    if (first.done === true) return;
    const all = rest(first.value, iterator);
    if (isInstance(first.value, Uint8Array)) {
      yield* readAudio(all as AsyncIterable<Uint8Array>, {
        ffmpeg: false,
        // A recording that still runs has no length yet.
        allowTruncated: true,
        ...(settings.raw === undefined ? {} : { raw: settings.raw }),
      });
      return;
    }
    const { sampleRate } = settings.transcribe.audio;
    const resampler = sampleRate === RATE ? undefined : new Resampler(sampleRate, RATE);
    for await (const part of all) {
      if (!isInstance(part, Float32Array)) return refuse(part);
      if (part.length === 0) continue;
      const samples = checkSamples("the samples", part, sampleRate);
      yield resampler === undefined ? samples : resampler.push(samples);
    }
    if (resampler !== undefined) yield resampler.flush();
  } finally {
    await iterator.return?.();
  }
}

function refuse(part: unknown): never {
  throw new InvalidArgumentError(
    `the live audio gave ${show(part)}; give samples as Float32Array, or bytes as Uint8Array`,
    {
      value: part,
      expected: "Float32Array or Uint8Array",
    },
  );
}

async function* rest<T>(first: T, iterator: AsyncIterator<T>): AsyncGenerator<T> {
  yield first;
  for (;;) {
    const next = await iterator.next();
    if (next.done === true) return;
    yield next.value;
  }
}

/** Whole frames, a quarter of a second at a time; the last is filled up with silence. An abort ends the waiting for more. */
async function* blocks(
  samples: AsyncGenerator<Float32Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Float32Array<ArrayBuffer>> {
  const size = BLOCK_FRAMES * FRAME_SIZE;
  let block = new Float32Array(size);
  let length = 0;
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  const stop = (): void => stopped.reject(signal?.reason);
  if (signal?.aborted === true) stop();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const next = await Promise.race([samples.next(), stopped.promise]);
      if (next.done === true) break;
      for (let at = 0; at < next.value.length;) {
        const taken = next.value.subarray(at, at + size - length);
        block.set(taken, length);
        length += taken.length;
        at += taken.length;
        if (length < size) continue;
        yield block;
        block = new Float32Array(size);
        length = 0;
      }
    }
    if (length > 0) yield block.slice(0, Math.ceil(length / FRAME_SIZE) * FRAME_SIZE);
  } finally {
    signal?.removeEventListener("abort", stop);
    // Not awaited: the source may never answer.
    samples.return(undefined).catch(() => {});
  }
}
