/**
 * From probabilities of speech to stretches of speech, as whisper.cpp does it (`whisper_vad_segments_from_probs`), and back from the times of audio whose
 * silence was left out.
 *
 * @module
 */

import type { SpeechSegment } from "../thread/protocol.ts";
import { joined } from "../../../ffi/memory/concat.ts";
import type { Span, TimeMap } from "../transcribe/times.ts";
import type { VadSettings } from "./options.ts";

const RATE = 16_000;
/** Stretches that are closer are one, in samples. */
const mergeGap = RATE * 200 / 1000;
/** Silence that is longer is a place to split speech that is too long, in samples. */
const splitSilence = RATE * 98 / 1000;
/** Speech longer than this is never split. */
const ANY_LENGTH = 100_000;

/** A stretch in samples. */
interface Stretch {
  start: number;
  end: number;
}

/** The stretches of speech. `window` is the number of samples of each probability. */
export function speechOf(probabilities: Float32Array, settings: VadSettings, window: number): SpeechSegment[] {
  const length = probabilities.length * window;
  const least = Math.trunc(RATE * settings.minSpeechMs / 1000);
  const found = merge(new Finder(settings, window, least).find(probabilities)).filter(({ start, end }) =>
    end - start >= least
  );
  pad(found, Math.trunc(RATE * settings.padMs / 1000), length);
  return found.map(({ start, end }) => ({ start: centiseconds(start) / 100, end: centiseconds(end) / 100 }));
}

/** Upstream's times are whole hundredths of a second. */
export function centiseconds(samples: number): number {
  return Math.trunc(samples / RATE * 100 + 0.5);
}

/** Goes through the probabilities once. */
class Finder {
  readonly #threshold: number;
  readonly #lower: number;
  readonly #window: number;
  readonly #least: number;
  readonly #silence: number;
  readonly #longest: number;
  readonly #found: Stretch[] = [];
  /** Start of the current speech; `undefined` in silence. */
  #start: number | undefined;
  #silenceAt = 0;
  #previousEnd = 0;
  #nextStart = 0;

  constructor(settings: VadSettings, window: number, least: number) {
    this.#threshold = Math.fround(settings.threshold);
    this.#lower = Math.max(Math.fround(this.#threshold - Math.fround(0.15)), Math.fround(0.01));
    this.#window = window;
    this.#least = least;
    this.#silence = Math.trunc(RATE * settings.minSilenceMs / 1000);
    this.#longest = longest(settings, window);
  }

  find(probabilities: Float32Array): Stretch[] {
    for (const [index, probability] of probabilities.entries()) this.#look(probability, index * this.#window);
    const end = probabilities.length * this.#window;
    if (this.#start !== undefined && end - this.#start > this.#least) this.#found.push({ start: this.#start, end });
    return this.#found;
  }

  #look(probability: number, at: number): void {
    const isSpeech = probability >= this.#threshold;
    if (isSpeech && this.#silenceAt !== 0) {
      this.#silenceAt = 0;
      if (this.#nextStart < this.#previousEnd) this.#nextStart = at;
    }
    if (this.#start === undefined) {
      if (isSpeech) this.#start = at;
      return;
    }
    if (at - this.#start > this.#longest && this.#split(this.#start, at)) return;
    if (probability < this.#lower && this.#start !== undefined) this.#hearSilence(this.#start, at);
  }

  /** Ends speech that is too long; whether nothing more is to be looked at here. */
  #split(start: number, at: number): boolean {
    const atSilence = this.#previousEnd !== 0;
    this.#found.push({ start, end: atSilence ? this.#previousEnd : at });
    this.#start = atSilence && this.#nextStart >= this.#previousEnd ? this.#nextStart : undefined;
    this.#forget();
    return !atSilence;
  }

  #hearSilence(start: number, at: number): void {
    if (this.#silenceAt === 0) this.#silenceAt = at;
    if (at - this.#silenceAt > splitSilence) this.#previousEnd = this.#silenceAt;
    if (at - this.#silenceAt < this.#silence) return;
    if (this.#silenceAt - start > this.#least) this.#found.push({ start, end: this.#silenceAt });
    this.#start = undefined;
    this.#forget();
  }

  #forget(): void {
    this.#previousEnd = this.#nextStart = this.#silenceAt = 0;
  }
}

/** The most samples of a stretch before it is split. */
function longest({ maxSpeechSeconds, padMs }: VadSettings, window: number): number {
  const never = 0x3fff_ffff;
  if (maxSpeechSeconds > ANY_LENGTH) return never;
  const samples = RATE * Math.trunc(maxSpeechSeconds) - window - 2 * Math.trunc(RATE * padMs / 1000);
  return samples < 0 ? never : samples;
}

function merge(found: readonly Stretch[]): Stretch[] {
  const merged: Stretch[] = [];
  for (const one of found) {
    const last = merged.at(-1);
    if (last !== undefined && one.start - last.end < mergeGap) last.end = one.end;
    else merged.push({ ...one });
  }
  return merged;
}

/** Adds to both ends of each stretch; two that are close share what is between them. */
function pad(found: readonly Stretch[], samples: number, length: number): void {
  for (const [index, one] of found.entries()) {
    if (index === 0) one.start = Math.max(0, one.start - samples);
    const next = found[index + 1];
    const between = next === undefined ? Infinity : next.start - one.end;
    if (next !== undefined && between < 2 * samples) {
      one.end += Math.trunc(between / 2);
      next.start = Math.max(0, next.start - Math.trunc(between / 2));
    } else {
      one.end = Math.min(length, one.end + samples);
      if (next !== undefined) next.start = Math.max(0, next.start - samples);
    }
  }
}

/** A stretch of speech where it is in the audio and where it is in what is left of it, in hundredths of a second. */
interface Kept {
  readonly start: number;
  readonly end: number;
  readonly keptStart: number;
  readonly keptEnd: number;
}

/** Silence that is put between two stretches, in samples. */
const gap = RATE / 10;
/** Less of a stretch than this is no part of a segment that goes on in another one, in hundredths of a second: whisper.cpp's times are no more exact. */
const SLACK = 20;
/** A segment lasts as long as this where its stretch does, in hundredths of a second. */
const SHORTEST_SEGMENT = 10;

/** Audio without its silence, and the way back to its times. Times are hundredths of a second. */
export class SpeechAudio implements TimeMap {
  /** The speech, with a tenth of a second of silence between two stretches. */
  readonly samples: Float32Array<ArrayBuffer>;
  readonly #kept: readonly Kept[];

  /** Keeps the stretches of `speech`; `overlap` seconds behind each are kept too. */
  constructor(samples: Float32Array, speech: readonly SpeechSegment[], overlap: number) {
    const last = samples.length - 1;
    const overlapSamples = Math.trunc(overlap * RATE);
    const pieces: Float32Array[] = [];
    const kept: Kept[] = [];
    let at = 0;
    for (const [index, one] of speech.entries()) {
      const [start, end] = [Math.round(one.start * 100), Math.round(one.end * 100)];
      const isLast = index === speech.length - 1;
      const from = Math.min(start * RATE / 100, last);
      const own = Math.min(end * RATE / 100, last);
      const to = isLast ? own : Math.min(own + overlapSamples, last);
      if (to <= from) continue;
      kept.push({ start, end, keptStart: centiseconds(at), keptEnd: centiseconds(at + own - from) });
      pieces.push(samples.subarray(from, to));
      at += to - from;
      if (isLast) continue;
      pieces.push(new Float32Array(gap));
      at += gap;
    }
    this.samples = joined(Float32Array, pieces);
    this.#kept = kept;
  }

  /** A segment starts and ends in stretches of which it covers more than whisper.cpp's times may be off: never in silence. */
  segment(from: number, to: number): Span {
    const covered = this.#kept.filter((one) => overlapOf(one, from, to) > SLACK);
    const [first, last] = [covered[0], covered.at(-1)];
    if (first === undefined || last === undefined) {
      return this.#within(this.#nearest(from, to), from, to, SHORTEST_SEGMENT);
    }
    const start = placeIn(first, from);
    if (first !== last) return { start, end: placeIn(last, to) };
    return this.#within(first, from, to, SHORTEST_SEGMENT);
  }

  /** A word belongs to the stretch that most of it lies in. */
  word(from: number, to: number): Span {
    return this.#within(this.#nearest(from, to), from, to, 1);
  }

  /** A point in silence is the end of the stretch before, or the start of the next one, whichever is nearer. */
  point(time: number): number {
    const one = this.#nearest(time, time);
    return one === undefined ? time : placeIn(one, time);
  }

  /** Both ends in one stretch, `shortest` apart where that is long enough. */
  #within(one: Kept | undefined, from: number, to: number, shortest: number): Span {
    if (one === undefined) return { start: from, end: Math.max(from, to) };
    const start = placeIn(one, from);
    const end = Math.min(one.end, Math.max(placeIn(one, to), start + shortest));
    return { start: Math.max(one.start, Math.min(start, end - shortest)), end };
  }

  /** The stretch that most of a span lies in; for one in silence the nearer of the two beside it. */
  #nearest(from: number, to: number): Kept | undefined {
    let best = this.#kept[0];
    for (const one of this.#kept) {
      if (best !== undefined && overlapOf(one, from, to) > overlapOf(best, from, to)) best = one;
    }
    return best;
  }
}

/** Length of the overlap of a stretch and a span; negative, their distance, where there is none. */
function overlapOf({ keptStart, keptEnd }: Kept, from: number, to: number): number {
  return Math.min(keptEnd, to) - Math.max(keptStart, from);
}

function placeIn({ start, end, keptStart }: Kept, time: number): number {
  return Math.min(end, Math.max(start, start + time - keptStart));
}
