/**
 * Changing the sample rate of audio.
 *
 * @module
 */

import { checkInteger, isInstance, refuse } from "../../../base/check.ts";
import { InvalidArgumentError } from "../../../base/errors.ts";
import { joined } from "../../../ffi/memory/concat.ts";

/** The sample rate of whisper.cpp's input in Hz. C: `WHISPER_SAMPLE_RATE`. */
export const WHISPER_SAMPLE_RATE = 16_000;

/** The lowest rate that can be changed. */
export const LOWEST_SAMPLE_RATE = 1_000;

/** The highest rate that can be changed. */
export const HIGHEST_SAMPLE_RATE = 768_000;

/** Passband, as a part of the lower of the two rates: 7,200 Hz at 16 kHz. From half the rate on nothing passes. */
const PASS_BAND = 0.45;

/** Stopband attenuation in decibels. */
const STOP_BAND_DECIBELS = 96;

/** More phases than these for each sample of the lower rate are interpolated. */
const MAX_PHASES = 1024;

const rates = { min: LOWEST_SAMPLE_RATE, max: HIGHEST_SAMPLE_RATE };

/**
 * Changes the sample rate of one channel of audio that comes in pieces. A windowed sinc (Kaiser, 96 dB) of linear phase, without delay: sample `k` that comes
 * out stands at `k / to` seconds. Its memory is bounded by the length of the pieces.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { Resampler } from "./resampler.ts";
 *
 * const resampler = new Resampler(48_000, 16_000);
 * const first = resampler.push(new Float32Array(4_800));
 * const rest = resampler.flush();
 * assert.equal(first.length + rest.length, 1_600);
 * ```
 */
export class Resampler {
  /** Sample rate of the input in Hz. */
  readonly from: number;
  /** Sample rate of the output in Hz. */
  readonly to: number;
  readonly #up: number;
  readonly #down: number;
  readonly #table: PhaseTable;
  /** Input that later outputs still need; its first sample is the input's number `#start`. */
  #held = new Float32Array(0);
  #start: number;
  /** The input sample at or before the next output, and how far behind it that output stands, in `1 / #up`. */
  #at = 0;
  #phase = 0;
  #taken = 0;
  #given = 0;

  /** A resampler between two rates, each from 1,000 to 768,000. Throws InvalidArgumentError for others. */
  constructor(from: number, to: number = WHISPER_SAMPLE_RATE) {
    this.from = checkInteger("the sample rate", from, rates);
    this.to = checkInteger("the sample rate to change to", to, rates);
    const divisor = greatestCommonDivisor(from, to);
    this.#up = to / divisor;
    this.#down = from / divisor;
    this.#table = phaseTable(this.from, this.to);
    // Before the audio there is silence.
    this.#start = -this.#table.before;
    this.#held = new Float32Array(this.#table.before);
  }

  /**
   * Takes samples, gives those that are ready: they come later than they go in, by some four milliseconds. Throws InvalidArgumentError for anything but a
   * Float32Array.
   */
  push(samples: Float32Array): Float32Array<ArrayBuffer> {
    if (!isInstance(samples, Float32Array)) return refuse("samples", samples, "a Float32Array");
    this.#taken += samples.length;
    if (this.from === this.to) return samples.slice();
    this.#append(samples);
    const end = this.#start + this.#held.length;
    // The last output whose taps all are there.
    const last = end - 1 - this.#table.after;
    return this.#make(this.#outputsUpTo(last));
  }

  /** Gives the rest once no more samples come, and starts anew. */
  flush(): Float32Array<ArrayBuffer> {
    const wanted = Math.ceil(this.#taken * this.#up / this.#down) - this.#given;
    if (this.from === this.to) {
      this.#reset();
      return new Float32Array(0);
    }
    this.#append(new Float32Array(this.#table.after + 1));
    const rest = this.#make(Math.max(0, wanted));
    this.#reset();
    return rest;
  }

  #reset(): void {
    this.#start = -this.#table.before;
    this.#held = new Float32Array(this.#table.before);
    this.#at =
      this.#phase =
      this.#taken =
      this.#given =
        0;
  }

  #append(samples: Float32Array): void {
    const keepFrom = Math.max(0, Math.min(this.#held.length, this.#at - this.#table.before - this.#start));
    const kept = this.#held.length - keepFrom;
    const held = new Float32Array(kept + samples.length);
    held.set(this.#held.subarray(keepFrom));
    held.set(samples, kept);
    this.#held = held;
    this.#start += keepFrom;
  }

  /** Number of outputs at input sample `last` or before the one after it. */
  #outputsUpTo(last: number): number {
    if (last < this.#at) return 0;
    const room = (last - this.#at + 1) * this.#up - this.#phase;
    return Math.ceil(room / this.#down);
  }

  #make(count: number): Float32Array<ArrayBuffer> {
    const out = new Float32Array(count);
    const { taps, before, rows, coefficients } = this.#table;
    const [held, up, down] = [this.#held, this.#up, this.#down];
    let [at, phase] = [this.#at, this.#phase];
    for (let index = 0; index < count; index++) {
      const first = at - before - this.#start;
      const place = phase * rows / up;
      const row = Math.floor(place);
      const part = place - row;
      let sum = dot(coefficients, row * taps, held, first, taps);
      if (part > 0) sum += part * (dot(coefficients, (row + 1) * taps, held, first, taps) - sum);
      out[index] = sum;
      phase += down;
      const whole = Math.floor(phase / up);
      at += whole;
      phase -= whole * up;
    }
    [this.#at, this.#phase] = [at, phase];
    this.#given += count;
    return out;
  }
}

/**
 * Changes the sample rate of a whole recording of one channel. Throws InvalidArgumentError for a rate that isn't from 1,000 to 768,000.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { resample } from "./resampler.ts";
 *
 * assert.equal(resample(new Float32Array(44_100), 44_100, 16_000).length, 16_000);
 * ```
 */
export function resample(samples: Float32Array, from: number, to: number = WHISPER_SAMPLE_RATE): Float32Array {
  if (!isInstance(samples, Float32Array)) {
    throw new InvalidArgumentError(
      "the samples to resample aren't a Float32Array; give one, a number from -1 to 1 each",
      {
        value: samples,
        expected: "a Float32Array",
      },
    );
  }
  const resampler = new Resampler(from, to);
  return joined(Float32Array, [resampler.push(samples), resampler.flush()]);
}

/** A filter's coefficients for each place that an output can have between two inputs. */
interface PhaseTable {
  /** Inputs that an output is made of. */
  readonly taps: number;
  /** Number of taps before the input at or before the output. */
  readonly before: number;
  /** Number of taps after it. */
  readonly after: number;
  /** Places between two inputs; one more row than these is in the table, so that each place has a next one. */
  readonly rows: number;
  readonly coefficients: Float32Array;
}

function phaseTable(from: number, to: number): PhaseTable {
  const lower = Math.min(from, to);
  const stop = lower / 2;
  const pass = lower * PASS_BAND;
  const beta = 0.1102 * (STOP_BAND_DECIBELS - 8.7);
  // Kaiser's formula for the length, in seconds.
  const seconds = (STOP_BAND_DECIBELS - 7.95) / (14.36 * (stop - pass));
  const half = Math.ceil(seconds / 2 * from);
  const rows = Math.min(Math.ceil(MAX_PHASES * lower / from), to / greatestCommonDivisor(from, to));
  const taps = 2 * half;
  const coefficients = new Float32Array((rows + 1) * taps);
  const cutoff = (pass + stop) / from;
  const row = new Float64Array(taps);
  for (let phase = 0; phase <= rows; phase++) {
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) {
      const distance = phase / rows + half - 1 - tap;
      const value = sinc(cutoff * distance) * kaiser(distance / half, beta);
      row[tap] = value;
      sum += value;
    }
    // Each place lets a constant through unchanged.
    for (let tap = 0; tap < taps; tap++) coefficients[phase * taps + tap] = (row[tap] ?? 0) / sum;
  }
  return { taps, before: half - 1, after: half, rows, coefficients };
}

function dot(a: Float32Array, aFrom: number, b: Float32Array, bFrom: number, count: number): number {
  let [first, second] = [0, 0];
  // Even: taps come in pairs. Two sums, so that one addition needn't wait for the other.
  for (let index = 0; index < count; index += 2) {
    first += (a[aFrom + index] as number) * (b[bFrom + index] as number);
    second += (a[aFrom + index + 1] as number) * (b[bFrom + index + 1] as number);
  }
  return first + second;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function kaiser(x: number, beta: number): number {
  return x <= -1 || x >= 1 ? 0 : bessel(beta * Math.sqrt(1 - x * x)) / bessel(beta);
}

/** The modified Bessel function of order zero. */
function bessel(x: number): number {
  let [sum, term] = [1, 1];
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
