import { InvalidArgumentError } from "../../errors.ts";
import { isInstance, show } from "../../../base/check.ts";
import { type AudioSource, readAudio } from "../audio/mod.ts";
import { checkSamples } from "../audio/sample_decoder.ts";
import { Resampler } from "../audio/resampler.ts";
import type { AudioSettings } from "./audio_options.ts";
import type { AudioPart } from "./options.ts";

/** Audio that can be transcribed: a file (a path, a `file:` URL, its bytes, a `Blob`), or samples of one channel. */
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
const MAX_SAMPLES = 24 * 3600 * RATE;
/** Samples that are looked at between two turns of the event loop: some tenths of a millisecond. */
const PIECE = 1 << 17;

/** Finds out what the audio is and reads nothing yet; `read` reads no more than `part`. Throws {@linkcode InvalidArgumentError}. */
export function gatherAudio(
  audio: WhisperAudio,
  settings: AudioSettings,
  part: AudioPart,
): GatheredAudio {
  if (isInstance(audio, Float32Array)) {
    // What is wrong with the first samples is told at once, the rest when it is read.
    checkSamples("the samples", audio.length > 1 ? audio.subarray(0, 1) : audio, settings.sampleRate);
    return { isFile: false, read: (signal) => collect(piecesOf(audio, settings.sampleRate), part, signal) };
  }
  if (typeof audio !== "string" && !fileTypes.some((type) => isInstance(audio, type))) {
    throw new InvalidArgumentError(
      `the audio is ${show(audio)}; give a file (a path, a file: URL, its bytes), or samples as a Float32Array`,
      { value: audio, expected: "a file or a Float32Array" },
    );
  }
  const { channel, ffmpeg, allowTruncated, dataChunks } = settings;
  const options = { channel, ffmpeg, allowTruncated, dataChunks };
  const source: AudioSource = isInstance(audio, ArrayBuffer) ? new Uint8Array(audio) : audio as AudioSource;
  return { isFile: true, read: (signal) => collect(readAudio(source, { ...options, signal }), part, signal) };
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

/** The samples of a part; the pieces end with it. */
async function collect(
  pieces: AsyncIterable<Float32Array>,
  { fromMs, toMs }: AudioPart,
  signal: AbortSignal | undefined,
): Promise<Float32Array<ArrayBuffer>> {
  const [from, to] = [fromMs * RATE / 1000, toMs * RATE / 1000];
  let whole = new Float32Array(1 << 20);
  let length = 0;
  let position = 0;
  for await (const piece of pieces) {
    signal?.throwIfAborted();
    const heard = piece.subarray(Math.max(0, from - position), Math.max(0, to - position));
    position += piece.length;
    if (length + heard.length > MAX_SAMPLES) throw tooLong(length + heard.length);
    if (length + heard.length > whole.length) {
      const larger = new Float32Array(Math.max(whole.length * 2, length + heard.length));
      larger.set(whole.subarray(0, length));
      whole = larger;
    }
    whole.set(heard, length);
    length += heard.length;
    if (position >= to) break;
  }
  return whole.slice(0, length);
}

function tooLong(samples: number): InvalidArgumentError {
  const hours = MAX_SAMPLES / RATE / 3600;
  return new InvalidArgumentError(
    `the audio is longer than ${hours} hours; transcribe it in parts by offset and duration, or as a stream by whisper.live`,
    { value: samples / RATE, expected: `at most ${hours * 3600} seconds` },
  );
}
