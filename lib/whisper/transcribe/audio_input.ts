import { InvalidArgumentError } from "../../errors.ts";
import { isInstance, show } from "../../support/check.ts";
import { type AudioSource, readAudio } from "../audio/mod.ts";
import { checkSamples } from "../audio/sample_decoder.ts";
import { Resampler } from "../audio/resampler.ts";
import type { TranscribeSettings } from "./options.ts";

/** What can be transcribed: a file (a path, a `file:` URL, its bytes, a `Blob`), or samples of one channel. */
export type WhisperAudio = string | URL | Uint8Array | ArrayBuffer | Blob | Float32Array;

/** Audio that is to be read. */
export interface GatheredAudio {
  /** Whether it is a file, not samples. */
  readonly isFile: boolean;
  /** Reads all of it, as samples at 16 kHz. */
  read(signal: AbortSignal | undefined): Promise<Float32Array<ArrayBuffer>>;
}

const RATE = 16_000;
const fileTypes: readonly (abstract new (...args: never[]) => unknown)[] = [URL, Uint8Array, ArrayBuffer, Blob];
/** whisper.cpp counts samples in 32 bits: a day fits. */
const MAX_SECONDS = 24 * 3600;
/** Samples that are looked at between two turns of the event loop: some tenths of a millisecond. */
const PIECE = 1 << 17;

/** Finds out what the audio is. Reads nothing yet. Throws {@linkcode InvalidArgumentError}. `seconds` is how much of it is needed at the most. */
export function gatherAudio(
  audio: WhisperAudio,
  settings: TranscribeSettings,
  seconds: number = MAX_SECONDS,
): GatheredAudio {
  const cut = seconds < MAX_SECONDS;
  const most = seconds * RATE;
  if (isInstance(audio, Float32Array)) {
    // What is wrong with the first samples is told at once, the rest when it is read.
    checkSamples("the samples", audio.length > 1 ? audio.subarray(0, 1) : audio, settings.sampleRate);
    return { isFile: false, read: (signal) => collect(piecesOf(audio, settings.sampleRate), most, cut, signal) };
  }
  if (typeof audio !== "string" && !fileTypes.some((type) => isInstance(audio, type))) {
    throw new InvalidArgumentError(
      `the audio is ${show(audio)}; give a file (a path, a file: URL, its bytes), or samples as a Float32Array`,
      { value: audio, expected: "a file or a Float32Array" },
    );
  }
  const { channel, ffmpeg } = settings;
  const source: AudioSource = isInstance(audio, ArrayBuffer) ? new Uint8Array(audio) : audio as AudioSource;
  return {
    isFile: true,
    read: (signal) =>
      collect(
        readAudio(source, {
          ...(channel === undefined ? {} : { channel }),
          ...(ffmpeg === undefined ? {} : { ffmpeg }),
          ...(signal === undefined ? {} : { signal }),
        }),
        most,
        cut,
        signal,
      ),
  };
}

/** Samples in pieces, checked and resampled; the event loop runs in between. */
async function* piecesOf(samples: Float32Array, sampleRate: number): AsyncGenerator<Float32Array> {
  const resampler = sampleRate === RATE ? undefined : new Resampler(sampleRate, RATE);
  for (let at = 0; at < samples.length; at += PIECE) {
    // A copy is checked: the caller might change the samples meanwhile.
    const part = checkSamples("the samples", samples.slice(at, at + PIECE), sampleRate);
    yield resampler === undefined ? part : resampler.push(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (resampler !== undefined) yield resampler.flush();
}

async function collect(
  pieces: AsyncIterable<Float32Array>,
  most: number,
  cut: boolean,
  signal: AbortSignal | undefined,
): Promise<Float32Array<ArrayBuffer>> {
  let whole = new Float32Array(1 << 20);
  let length = 0;
  for await (const part of pieces) {
    signal?.throwIfAborted();
    if (length + part.length > whole.length) {
      const larger = new Float32Array(Math.max(whole.length * 2, length + part.length));
      larger.set(whole.subarray(0, length));
      whole = larger;
    }
    whole.set(part, length);
    length += part.length;
    if (length >= most) break;
  }
  if (length > most && !cut) {
    throw new InvalidArgumentError(
      `the audio is longer than ${most / RATE / 3600} hours; give it in parts, or as a stream to whisper.live`,
      { value: length / RATE, expected: `at most ${most / RATE} seconds` },
    );
  }
  return whole.slice(0, Math.min(length, most));
}
