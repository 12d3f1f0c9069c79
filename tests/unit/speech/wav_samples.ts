import assert from "node:assert/strict";
import type { GgmlError } from "../../../lib/errors.ts";
import { type AudioSource, decodeAudio, type ReadAudioOptions } from "../../../lib/whisper/audio/mod.ts";
import { buildWav, type WavPlan } from "./wav_builder.ts";

/** Samples as an encoding holds them: what is read must be exactly this. */
export const values = [0, 0.5, -0.5, 0.25, -1, 0.9921875, 0.0078125, -0.0078125];

type Writer = (view: DataView, at: number, value: number) => void;

/** The encodings by name: the codec, the bits of a sample, and how one is written. */
export const encodings: Readonly<Record<string, { codec: number; bits: number; write: Writer }>> = {
  u8: { codec: 1, bits: 8, write: (view, at, value) => view.setUint8(at, value * 128 + 128) },
  s16: { codec: 1, bits: 16, write: (view, at, value) => view.setInt16(at, value * 0x8000, true) },
  s24: {
    codec: 1,
    bits: 24,
    write: (view, at, value) => {
      const whole = value * 0x800000;
      view.setUint8(at, whole & 0xff);
      view.setInt16(at + 1, whole >> 8, true);
    },
  },
  s32: { codec: 1, bits: 32, write: (view, at, value) => view.setInt32(at, value * 0x80000000, true) },
  f32: { codec: 3, bits: 32, write: (view, at, value) => view.setFloat32(at, value, true) },
  f64: { codec: 3, bits: 64, write: (view, at, value) => view.setFloat64(at, value, true) },
};

/** A WAV file of samples in an encoding. */
export function wav(name: string, samples: readonly number[], plan: WavPlan = {}): Uint8Array<ArrayBuffer> {
  const { codec, bits, write } = encodings[name] as (typeof encodings)[string];
  const view = new DataView(new ArrayBuffer(samples.length * bits / 8));
  samples.forEach((value, index) => write(view, index * bits / 8, value));
  return buildWav({ codec, bits, data: new Uint8Array(view.buffer), ...plan });
}

/** Asserts that audio is refused with an error of a class. */
export async function refused(
  source: AudioSource,
  type: typeof GgmlError,
  message: RegExp,
  options: ReadAudioOptions = { ffmpeg: false },
): Promise<void> {
  await assert.rejects(decodeAudio(source, options), (error) => {
    assert.ok(error instanceof type, String(error));
    assert.match(error.message, message);
    return true;
  });
}
