/**
 * Writing WAV files.
 *
 * @module
 */

import { InvalidArgumentError } from "../../../base/errors.ts";
import { isInstance, show } from "../../../base/check.ts";
import { integer, oneOf, options as declare, type RulesOf } from "../../../base/options.ts";
import { sampleRateRule } from "./options.ts";
import { MAX_CHANNELS } from "./wav_header.ts";

/** Options of {@linkcode encodeWav}. */
export interface EncodeWavOptions {
  /** Sample rate in Hz, 1,000 to 768,000. Default 16,000. */
  sampleRate?: number | undefined;
  /** Channels, 1 to 64; the samples of a frame are interleaved. Default 1. */
  channels?: number | undefined;
  /** `"s16"`, 16-bit integers that clip at -1 and 1, or `"f32"`, 32-bit floats. Default `"s16"`. */
  encoding?: "s16" | "f32" | undefined;
}

const encodeWavSpec = declare(
  "encodeWav",
  {
    sampleRate: sampleRateRule,
    channels: integer({ min: 1, max: MAX_CHANNELS, default: 1 }),
    encoding: oneOf(["s16", "f32"], { default: "s16" }),
  } satisfies RulesOf<EncodeWavOptions>,
);

/** The most bytes that a WAV file of the plain kind can announce. */
const MAX_BYTES = 0xffffffff - 36;

/**
 * Encodes samples, -1 to 1, as a WAV file, and returns its bytes.
 *
 * Throws InvalidArgumentError for wrong options, a part of a frame, and more samples than a WAV file can hold.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { decodeAudio } from "./read.ts";
 * import { encodeWav } from "./wav_writer.ts";
 *
 * const file = encodeWav(Float32Array.of(0, 0.5, -1));
 * assert.deepEqual([...await decodeAudio(file)], [0, 0.5, -1]);
 * ```
 */
export function encodeWav(samples: Float32Array, options?: EncodeWavOptions): Uint8Array<ArrayBuffer> {
  const { sampleRate, channels, encoding } = encodeWavSpec.check(options);
  const bytes = encoding === "s16" ? 2 : 4;
  if (!isInstance(samples, Float32Array) || samples.length % channels !== 0 || samples.length * bytes > MAX_BYTES) {
    throw new InvalidArgumentError(
      `the samples are ${
        show(samples)
      }; expected a Float32Array of whole frames, at most ${MAX_BYTES} bytes in the file`,
      { value: samples, expected: "a Float32Array" },
    );
  }
  const file = new Uint8Array(44 + samples.length * bytes);
  const view = new DataView(file.buffer);
  const text = (at: number, value: string) => file.set(new TextEncoder().encode(value), at);
  text(0, "RIFF");
  view.setUint32(4, file.length - 8, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, encoding === "s16" ? 1 : 3, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * channels * bytes, true);
  view.setUint16(32, channels * bytes, true);
  view.setUint16(34, bytes * 8, true);
  text(36, "data");
  view.setUint32(40, samples.length * bytes, true);
  for (const [index, sample] of samples.entries()) {
    if (encoding === "f32") view.setFloat32(44 + index * 4, sample, true);
    else view.setInt16(44 + index * 2, Math.max(-0x8000, Math.min(0x7fff, Math.round(sample * 0x8000))), true);
  }
  return file;
}
