/**
 * Bytes of samples as numbers of one channel.
 *
 * @module
 */

import { InvalidArgumentError } from "../../../base/errors.ts";
import { isInstance, show } from "../../../base/check.ts";
import { AudioEmptyError, AudioSampleError } from "./errors.ts";
import { type PcmFormat, sampleBytes, type SampleEncoding } from "./wav_header.ts";

/** The channel that is used: its number from 0, or the mean of all. */
export type ChannelChoice = number | "mix";

/** No recording has a larger sample, whatever its scale; the squares of larger ones overflow. */
const LARGEST_SAMPLE = 2 ** 32;

type Decode = (bytes: Uint8Array, into: Float32Array) => void;

/** Turns bytes that come in pieces into samples of one channel, -1 to 1 for whole numbers; floats stay as they are. */
export class SampleDecoder {
  readonly #format: PcmFormat;
  readonly #channel: ChannelChoice;
  readonly #name: string;
  readonly #frameBytes: number;
  #left = new Uint8Array(0);
  #frames = 0;

  /** A decoder of samples of this format; `name` is what messages call the audio. */
  constructor(format: PcmFormat, channel: ChannelChoice, name: string) {
    this.#format = format;
    this.#channel = channel;
    this.#name = name;
    this.#frameBytes = sampleBytes[format.encoding] * format.channels;
  }

  /** Frames decoded so far. */
  get frames(): number {
    return this.#frames;
  }

  /** Takes bytes, gives the samples that they complete. Throws {@linkcode AudioSampleError}. */
  push(piece: Uint8Array): Float32Array<ArrayBuffer> {
    const { encoding, channels } = this.#format;
    const frames = Math.floor((this.#left.length + piece.length) / this.#frameBytes);
    // A copy: the numbers must stand at even places.
    const whole = new Uint8Array(frames * this.#frameBytes);
    const fromLeft = Math.min(this.#left.length, whole.length);
    whole.set(this.#left.subarray(0, fromLeft));
    const fromPiece = whole.length - fromLeft;
    whole.set(piece.subarray(0, fromPiece), fromLeft);
    this.#left = concat(this.#left.subarray(fromLeft), piece.subarray(fromPiece));
    const samples = new Float32Array(frames * channels);
    decoders[encoding](whole, samples);
    if (encoding === "f32" || encoding === "f64") {
      checkFinite(this.#name, samples, this.#frames * channels, channels, this.#format.sampleRate);
    }
    this.#frames += frames;
    return channels === 1 ? samples : this.#choose(samples, frames, channels);
  }

  #choose(samples: Float32Array<ArrayBuffer>, frames: number, channels: number): Float32Array<ArrayBuffer> {
    const out = new Float32Array(frames);
    const channel = this.#channel;
    for (let frame = 0; frame < frames; frame++) {
      const at = frame * channels;
      if (channel !== "mix") {
        out[frame] = samples[at + channel] as number;
        continue;
      }
      let sum = 0;
      for (let index = 0; index < channels; index++) sum += samples[at + index] as number;
      out[frame] = sum / channels;
    }
    return out;
  }
}

/**
 * Checks samples that whisper shall hear: a `Float32Array` of at least one, each a finite number.
 *
 * Throws InvalidArgumentError, {@linkcode AudioEmptyError}, {@linkcode AudioSampleError}.
 */
export function checkSamples(name: string, samples: unknown, sampleRate: number): Float32Array {
  if (!isInstance(samples, Float32Array)) {
    throw new InvalidArgumentError(
      `${name} are ${show(samples)}; give a Float32Array of one channel, -1 to 1, ${sampleRate} samples a second`,
      { value: samples, expected: "a Float32Array" },
    );
  }
  if (samples.buffer instanceof ArrayBuffer && samples.buffer.detached) {
    throw new InvalidArgumentError(`${name} were transferred to another thread; give a copy: samples.slice()`, {
      value: samples,
      expected: "a Float32Array with its memory",
    });
  }
  if (samples.length === 0) {
    throw new AudioEmptyError(`${name} are empty; give at least one sample`, { value: 0, expected: "samples" });
  }
  checkFinite(name, samples, 0, 1, sampleRate);
  return samples;
}

function checkFinite(name: string, samples: Float32Array, offset: number, channels: number, sampleRate: number): void {
  for (let index = 0; index < samples.length; index++) {
    const value = samples[index] as number;
    // NaN is neither.
    if (value >= -LARGEST_SAMPLE && value <= LARGEST_SAMPLE) continue;
    const frame = Math.floor((offset + index) / channels);
    throw new AudioSampleError(
      `${name}: sample ${frame} (at ${(frame / sampleRate).toFixed(3)} s) is ${value}; give finite numbers, -1 to 1`,
      { value, expected: "a finite number, -1 to 1" },
    );
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

const decoders: Readonly<Record<SampleEncoding, Decode>> = {
  u8: (bytes, into) => {
    for (let index = 0; index < into.length; index++) into[index] = ((bytes[index] as number) - 128) / 128;
  },
  s16: (bytes, into) => {
    const numbers = new Int16Array(bytes.buffer, bytes.byteOffset, into.length);
    for (let index = 0; index < into.length; index++) into[index] = (numbers[index] as number) / 0x8000;
  },
  s24: (bytes, into) => {
    for (let index = 0, at = 0; index < into.length; index++, at += 3) {
      const [low, middle, high] = [bytes[at] as number, bytes[at + 1] as number, bytes[at + 2] as number];
      into[index] = ((low << 8 | middle << 16 | high << 24) >> 8) / 0x800000;
    }
  },
  s32: (bytes, into) => {
    const numbers = new Int32Array(bytes.buffer, bytes.byteOffset, into.length);
    for (let index = 0; index < into.length; index++) into[index] = (numbers[index] as number) / 0x80000000;
  },
  f32: (bytes, into) => into.set(new Float32Array(bytes.buffer, bytes.byteOffset, into.length)),
  f64: (bytes, into) => into.set(new Float64Array(bytes.buffer, bytes.byteOffset, into.length)),
  alaw: (bytes, into) => companded(bytes, into, alawTable),
  mulaw: (bytes, into) => companded(bytes, into, mulawTable),
};

function companded(bytes: Uint8Array, into: Float32Array, table: Float32Array): void {
  for (let index = 0; index < into.length; index++) into[index] = table[bytes[index] as number] as number;
}

/** ITU-T G.711, A-law, to sixteen bits. */
const alawTable: Float32Array = Float32Array.from({ length: 256 }, (_, byte) => {
  const code = byte ^ 0x55;
  const exponent = (code & 0x70) >> 4;
  const mantissa = (code & 0x0f) << 4;
  const size = exponent === 0 ? mantissa + 8 : (mantissa + 0x108) << (exponent - 1);
  return ((code & 0x80) !== 0 ? size : -size) / 0x8000;
});

/** ITU-T G.711, mu-law, to sixteen bits. */
const mulawTable: Float32Array = Float32Array.from({ length: 256 }, (_, byte) => {
  const code = ~byte & 0xff;
  const size = ((((code & 0x0f) << 3) + 0x84) << ((code & 0x70) >> 4)) - 0x84;
  return ((code & 0x80) !== 0 ? -size : size) / 0x8000;
});
