/**
 * From probabilities of speech to stretches of speech, as whisper.cpp does it (`whisper_vad_segments_from_probs`), and back from the times of audio whose
 * silence was left out.
 *
 * @module
 */

import type { SpeechSegment } from "../thread/protocol.ts";
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
  /** Where the speech under way began; `undefined` in silence. */
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

/** Audio without its silence, and the way back to its times. */
export class SpeechAudio {
  /** What is left, with a tenth of a second of silence between two stretches. */
  readonly samples: Float32Array<ArrayBuffer>;
  readonly #kept: readonly Kept[];
  /** Pairs of times, in what is left and in the audio, in hundredths of a second. */
  readonly #points: readonly (readonly [number, number])[];

  /** Keeps the stretches of `speech`; `overlap` seconds behind each are kept too. */
  constructor(samples: Float32Array, speech: readonly SpeechSegment[], overlap: number) {
    const last = samples.length - 1;
    const overlapSamples = Math.trunc(overlap * RATE);
    const pieces: Float32Array[] = [];
    const kept: Kept[] = [];
    const points: [number, number][] = [];
    let at = 0;
    for (const [index, one] of speech.entries()) {
      const [start, end] = [Math.round(one.start * 100), Math.round(one.end * 100)];
      const isLast = index === speech.length - 1;
      const from = Math.min(start * RATE / 100, last);
      const own = Math.min(end * RATE / 100, last);
      const to = isLast ? own : Math.min(own + overlapSamples, last);
      if (to <= from) continue;
      const stretch = { start, end, keptStart: centiseconds(at), keptEnd: centiseconds(at + own - from) };
      kept.push(stretch);
      points.push([stretch.keptStart, start], [stretch.keptEnd, end]);
      pieces.push(samples.subarray(from, to));
      at += to - from;
      if (isLast) continue;
      points.push([centiseconds(at), end], [
        centiseconds(at + gap),
        Math.round((speech[index + 1] as SpeechSegment).start * 100),
      ]);
      pieces.push(new Float32Array(gap));
      at += gap;
    }
    this.samples = new Float32Array(at);
    let place = 0;
    for (const piece of pieces) {
      this.samples.set(piece, place);
      place += piece.length;
    }
    this.#kept = kept;
    points.sort((a, b) => a[0] - b[0]);
    this.#points = points.filter(([time], index) => index === 0 || time !== points[index - 1]?.[0]);
  }

  /** The time in the audio of a segment's time, in hundredths of a second. */
  segmentTime(time: number): number {
    const points = this.#points;
    const above = points.findIndex(([kept]) => kept >= time);
    const upper = points[above === -1 ? points.length - 1 : above];
    if (upper === undefined) return time;
    const lower = points[above - 1];
    if (above <= 0 || lower === undefined || upper[0] === time) return upper[1];
    return lower[1] + Math.trunc((time - lower[0]) * (upper[1] - lower[1]) / (upper[0] - lower[0]));
  }

  /** The time in the audio of a token's time, in hundredths of a second: never in silence that was left out. */
  tokenTime(time: number): number {
    const kept = this.#kept;
    const index = kept.findLastIndex(({ keptStart }) => keptStart <= time);
    const one = kept[Math.max(0, index)];
    if (one === undefined) return time;
    if (index < 0) return one.start;
    if (time <= one.keptEnd) {
      const length = one.keptEnd - one.keptStart;
      return length <= 0 ? one.start : one.start + Math.trunc((time - one.keptStart) * (one.end - one.start) / length);
    }
    const next = kept[index + 1];
    return next === undefined || time <= Math.trunc((one.keptEnd + next.keptStart) / 2) ? one.end : next.start;
  }
}
