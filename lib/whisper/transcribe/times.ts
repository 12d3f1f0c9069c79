/**
 * Maps the times that whisper.cpp gives to times of the audio.
 *
 * @module
 */

/** A start and an end. */
export interface Span {
  /** Start. */
  readonly start: number;
  /** End: not before its start. */
  readonly end: number;
}

/** Maps times of whisper.cpp's input to times of the part that is transcribed, both in hundredths of a second. */
export interface TimeMap {
  /** The start and the end of a segment. */
  segment(from: number, to: number): Span;
  /** The start and the end of a word or a token. */
  word(from: number, to: number): Span;
  /** A single time. */
  point(time: number): number;
}

/** For audio that is transcribed as a whole. */
const identity: TimeMap = {
  segment: (start, end) => ({ start, end }),
  word: (start, end) => ({ start, end }),
  point: (time) => time,
};

/** Times of a part of the audio, in seconds from the start of the whole audio. Nothing lies outside of the part. */
export class PartTimes implements TimeMap {
  readonly #map: TimeMap;
  readonly #fromMs: number;
  readonly #toMs: number;

  /** @param fromMs where the part starts, in milliseconds. @param lengthMs how long it is. @param map the way back to its times, where silence was left out. */
  constructor(fromMs: number, lengthMs: number, map: TimeMap = identity) {
    this.#map = map;
    this.#fromMs = fromMs;
    this.#toMs = fromMs + lengthMs;
  }

  segment(from: number, to: number): Span {
    return this.#span(this.#map.segment(from, to));
  }

  word(from: number, to: number): Span {
    return this.#span(this.#map.word(from, to));
  }

  point(time: number): number {
    return this.#seconds(this.#map.point(time));
  }

  #span({ start, end }: Span): Span {
    const first = this.#seconds(start);
    return { start: first, end: Math.max(first, this.#seconds(end)) };
  }

  #seconds(hundredths: number): number {
    return Math.min(this.#toMs, Math.max(this.#fromMs, this.#fromMs + hundredths * 10)) / 1000;
  }
}
