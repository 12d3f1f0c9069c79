/**
 * Audio of any format as samples at 16 kHz.
 *
 * @module
 */

import { setImmediate } from "node:timers/promises";
import { InvalidArgumentError } from "../../../base/errors.ts";
import { boolean, options as declare, type RulesOf, type Settings } from "../../../base/options.ts";
import { type AudioSource, ByteReader } from "./byte_reader.ts";
import { AudioEmptyError, AudioFormatError } from "./errors.ts";
import { decodeByFfmpeg } from "./ffmpeg.ts";
import { type ReadAudioOptions, readAudioSpec } from "./options.ts";
import { Resampler } from "./resampler.ts";
import { SampleDecoder } from "./sample_decoder.ts";
import {
  cutData,
  type DataChunks,
  nextDataChunk,
  type PcmFormat,
  readWavHeader,
  sampleBytes,
  UnknownCodecError,
  type WavHeader,
} from "./wav_header.ts";
import { joined } from "../../../ffi/memory/concat.ts";

/** Format and length of a WAV file. */
export interface AudioInfo extends PcmFormat {
  /** Number of frames; `undefined` where the header doesn't say. */
  readonly frames: number | undefined;
  /** Duration in seconds; `undefined` where the header doesn't say. */
  readonly duration: number | undefined;
}

type Checked = Settings<typeof readAudioSpec>;

/** Bytes that are decoded at once. */
const PIECE_BYTES = 1 << 15;

/** Milliseconds after which the event loop gets a turn. */
const TURN_MS = 4;

/**
 * Reads audio piece by piece, as samples of one channel at 16 kHz, so that hours of it take no more memory than minutes. WAV is read by us (8 to 32-bit whole
 * numbers, 32 and 64-bit floats, A-law, mu-law, WAVE_FORMAT_EXTENSIBLE, RF64, any rate, up to 64 channels), all else through ffmpeg, where that is installed.
 * Leaving the loop closes what was opened.
 *
 * Throws InvalidArgumentError at once for options that are wrong. The loop throws AudioNotFoundError, AudioAccessError, {@linkcode AudioFormatError},
 * AudioTruncatedError, {@linkcode AudioEmptyError}, {@linkcode AudioSampleError}, FfmpegError.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { encodeWav } from "./wav_writer.ts";
 * import { readAudio } from "./read.ts";
 *
 * let samples = 0;
 * for await (const piece of readAudio(encodeWav(new Float32Array(44_100), { sampleRate: 44_100 }))) samples += piece.length;
 * assert.equal(samples, 16_000);
 * ```
 */
export function readAudio(source: AudioSource, options?: ReadAudioOptions): AsyncGenerator<Float32Array<ArrayBuffer>> {
  const checked = readAudioSpec.check(options);
  return abortable(pieces(source, checked), checked.signal);
}

/**
 * Reads audio as a whole: samples of one channel at 16 kHz. For hours of it take {@linkcode readAudio}.
 *
 * Throws what {@linkcode readAudio} throws.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { encodeWav } from "./wav_writer.ts";
 * import { decodeAudio } from "./read.ts";
 *
 * const samples = await decodeAudio(encodeWav(new Float32Array(8_000), { sampleRate: 8_000 }));
 * assert.equal(samples.length, 16_000);
 * ```
 */
export async function decodeAudio(source: AudioSource, options?: ReadAudioOptions): Promise<Float32Array<ArrayBuffer>> {
  const parts: Float32Array[] = [];
  for await (const piece of readAudio(source, options)) parts.push(piece);
  return joined(Float32Array, parts);
}

/** Options of {@linkcode readWavInfo}. */
export interface ReadWavInfoOptions {
  /** Accepts a WAV file that is cut off, and counts the frames that are there. Default `false`. */
  allowTruncated?: boolean | undefined;
}

const readWavInfoSpec = declare(
  "readWavInfo",
  { allowTruncated: boolean({ default: false }) } satisfies RulesOf<ReadWavInfoOptions>,
);

/**
 * Reads the header of a WAV file. `frames` and `duration` are those of the first `data` chunk.
 *
 * Throws AudioNotFoundError, AudioAccessError, {@linkcode AudioFormatError}, AudioTruncatedError, {@linkcode AudioEmptyError}.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { encodeWav } from "./wav_writer.ts";
 * import { readWavInfo } from "./read.ts";
 *
 * const { duration, channels } = await readWavInfo(encodeWav(new Float32Array(4_000), { sampleRate: 8_000 }));
 * assert.deepEqual([duration, channels], [0.5, 1]);
 * ```
 */
export async function readWavInfo(source: AudioSource, options?: ReadWavInfoOptions): Promise<AudioInfo> {
  const { allowTruncated } = readWavInfoSpec.check(options);
  await using reader = await ByteReader.open(source);
  const { dataBytes, ...format } = await readWavHeader(reader, allowTruncated).catch((error: unknown) => {
    if (error instanceof UnknownCodecError) throw needsWav(error);
    throw error;
  });
  const bytes = dataBytes ?? (reader.size === undefined ? undefined : reader.size - reader.position);
  if (bytes === undefined) return { ...format, frames: undefined, duration: undefined };
  const frames = Math.floor(bytes / (sampleBytes[format.encoding] * format.channels));
  return { ...format, frames, duration: frames / format.sampleRate };
}

async function* pieces(source: AudioSource, options: Checked): AsyncGenerator<Float32Array<ArrayBuffer>> {
  const { signal } = options;
  await using reader = await ByteReader.open(source, { signal });
  if (options.raw !== undefined) return yield* samples(reader, { ...options.raw, dataBytes: undefined }, options);
  if (reader.path === undefined) reader.record();
  let unknown: unknown;
  try {
    const header = await readWavHeader(reader, options.allowTruncated);
    reader.forget();
    return yield* samples(reader, header, options);
  } catch (error) {
    if (!(error instanceof UnknownCodecError)) throw error;
    unknown = error;
  }
  yield* throughFfmpeg(reader, unknown as UnknownCodecError, options);
}

async function* throughFfmpeg(
  reader: ByteReader,
  unknown: UnknownCodecError,
  options: Checked,
): AsyncGenerator<Float32Array<ArrayBuffer>> {
  const { ffmpeg, signal } = options;
  if (ffmpeg === false) throw needsWav(unknown);
  if (reader.path === undefined && !reader.rewind()) {
    throw new AudioFormatError(`${unknown.message}; give the path of the file, so that ffmpeg can read it`, {
      value: unknown.value,
      expected: "WAV, or a file that ffmpeg reads",
      cause: unknown,
    });
  }
  await using decoded = await ByteReader.open(decodeByFfmpeg(ffmpeg, reader, unknown.message, signal), {
    name: reader.name,
    signal,
  });
  try {
    yield* samples(decoded, await readWavHeader(decoded, true), options);
  } catch (error) {
    if (!(error instanceof AudioEmptyError)) throw error;
    const advice = reader.size === undefined ? "; if it is a file, give its path" : "";
    throw new AudioEmptyError(`ffmpeg found no audio in ${reader.name}${advice}`, {
      value: 0,
      expected: "audio",
      cause: error,
    });
  }
  // To its end: only then it is known whether ffmpeg failed.
  while ((await decoded.skip(PIECE_BYTES)) > 0);
}

function needsWav(unknown: UnknownCodecError): AudioFormatError {
  return new AudioFormatError(`${unknown.message}; give WAV of whole numbers, floats, A-law or mu-law`, {
    value: unknown.value,
    expected: unknown.expected ?? "WAV",
    cause: unknown,
  });
}

async function* samples(
  reader: ByteReader,
  header: WavHeader,
  options: Checked,
): AsyncGenerator<Float32Array<ArrayBuffer>> {
  const { channel, sampleRate, allowTruncated, dataChunks } = options;
  if (channel !== "mix" && channel >= header.channels) {
    throw new InvalidArgumentError(
      `channel is ${channel}, but ${reader.name} has ${header.channels}; give a number from 0 to ${
        header.channels - 1
      }, or "mix"`,
      { value: channel, expected: `0 to ${header.channels - 1}` },
    );
  }
  const decoder = new SampleDecoder(header, channel, reader.name);
  const resampler = new Resampler(header.sampleRate, sampleRate);
  let since = performance.now();
  for await (const bytes of dataBytesOf(reader, header.dataBytes, dataChunks, allowTruncated)) {
    const out = resampler.push(decoder.push(bytes));
    if (out.length > 0) yield out;
    // Bytes in memory come without waiting: let others have a turn.
    if (performance.now() - since < TURN_MS) continue;
    await setImmediate();
    since = performance.now();
  }
  if (decoder.frames === 0) {
    throw new AudioEmptyError(`${reader.name} has no samples in it; give audio`, { value: 0, expected: "samples" });
  }
  const out = resampler.flush();
  if (out.length > 0) yield out;
}

/** The bytes of the `data` chunks, from the first one's first byte on; `first` is that one's length, `undefined` for all that follows. */
async function* dataBytesOf(
  reader: ByteReader,
  first: number | undefined,
  chunks: DataChunks,
  allowTruncated: boolean,
): AsyncGenerator<Uint8Array> {
  let length = first;
  while (true) {
    let left = length ?? Infinity;
    while (left > 0) {
      const bytes = await reader.take(Math.min(left, PIECE_BYTES));
      if (bytes.length === 0) break;
      left -= bytes.length;
      yield bytes;
    }
    if (length === undefined) return;
    if (left > 0 && !allowTruncated) throw cutData(reader.name, length, length - left);
    const next = chunks === "all" ? await nextDataChunk(reader, length, allowTruncated) : undefined;
    if (next === undefined) return;
    length = next.dataBytes;
  }
}

/** Ends a loop over audio when the signal is aborted, also while a stream is waited for. */
async function* abortable<T>(inner: AsyncGenerator<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  if (signal === undefined) return yield* inner;
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  const listener = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", listener, { once: true });
  try {
    while (true) {
      signal.throwIfAborted();
      const next = await Promise.race([inner.next(), aborted.promise]);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", listener);
    const left = inner.return(undefined);
    // What waits for a stream can't be left before that answers.
    if (signal.aborted) left.catch(() => undefined);
    else await left;
  }
}
