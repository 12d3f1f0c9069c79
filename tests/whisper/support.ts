/** What the speech tests share. */

import { readFileSync } from "node:fs";
import { encodeWav } from "../../lib/whisper/mod.ts";
import { randomNumbers } from "../support/random.ts";
import { jfkPath } from "./files.ts";

/** The recording's samples. */
export function jfkSamples(): Float32Array<ArrayBuffer> {
  const bytes = readFileSync(jfkPath);
  const data = bytes.indexOf("data") + 8;
  const view = new DataView(bytes.buffer, bytes.byteOffset + data);
  const count = Math.floor((bytes.length - data) / 2);
  return Float32Array.from({ length: count }, (_, index) => view.getInt16(index * 2, true) / 32768);
}

/** So many seconds of nothing. */
export function silence(seconds: number): Float32Array<ArrayBuffer> {
  return new Float32Array(seconds * 16_000);
}

/** White noise, from a seed. */
export function noise(seconds: number, loudness: number, seed: number): Float32Array<ArrayBuffer> {
  const next = randomNumbers(seed);
  return Float32Array.from({ length: seconds * 16_000 }, () => (next() * 2 - 1) * loudness);
}

/** A tune of plucked strings. */
export function music(seconds: number): Float32Array<ArrayBuffer> {
  const notes = [261.63, 329.63, 392, 523.25, 440, 349.23, 293.66, 392];
  return Float32Array.from({ length: seconds * 16_000 }, (_, index) => {
    const time = index / 16_000;
    const frequency = notes[Math.floor(time * 2) % notes.length] as number;
    const since = time * 2 % 1;
    const tone = [1, 2, 3, 4].reduce((sum, part) => sum + Math.sin(2 * Math.PI * frequency * part * time) / part, 0);
    return 0.2 * tone * Math.exp(-3 * since);
  });
}

/** Samples as a WAV file. */
export function wav(samples: Float32Array): Uint8Array {
  return encodeWav(samples);
}

/** What whisper-cli prints: `[00:00:00.000 --> 00:00:08.000]  text`. */
export function parseLines(text: string): { start: number; end: number; text: string }[] {
  const time = (part: string): number => part.split(":").reduce((sum, value) => sum * 60 + Number(value), 0);
  return [...text.matchAll(/^\[([\d:.]+) --> ([\d:.]+)\] {2}(.*)$/gm)].map(([, from = "", to = "", line = ""]) => ({
    start: time(from),
    end: time(to),
    text: line,
  }));
}
