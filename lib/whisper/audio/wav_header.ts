/**
 * The header of a WAV file.
 *
 * @module
 */

import type { ByteReader } from "./byte_reader.ts";
import { AudioEmptyError, AudioFormatError, AudioTruncatedError } from "./errors.ts";
import { HIGHEST_SAMPLE_RATE, LOWEST_SAMPLE_RATE } from "./resampler.ts";
import { containerName } from "./sniff.ts";

/** Sample formats. */
export type SampleEncoding = "u8" | "s16" | "s24" | "s32" | "f32" | "f64" | "alaw" | "mulaw";

/** Format of raw samples. */
export interface PcmFormat {
  /** Sample format, little-endian. */
  readonly encoding: SampleEncoding;
  /** Frames a second: from 1,000 to 768,000. */
  readonly sampleRate: number;
  /** Samples in a frame: from 1 to 64. */
  readonly channels: number;
}

/** Content of a WAV header. */
export interface WavHeader extends PcmFormat {
  /** Bytes of samples; `undefined` when a program that couldn't go back to the header wrote it: then all that follows is samples. */
  readonly dataBytes: number | undefined;
}

/** The `data` chunks of a WAV file that are read: all of them, one after another, or the first alone. */
export type DataChunks = "all" | "first";

/** A header that can't be read by us, for a reason that another program may not mind. */
export class UnknownCodecError extends AudioFormatError {}

/** The most channels that are taken. */
export const MAX_CHANNELS = 64;

/** Bytes of a sample. */
export const sampleBytes: Readonly<Record<SampleEncoding, number>> = {
  u8: 1,
  s16: 2,
  s24: 3,
  s32: 4,
  f32: 4,
  f64: 8,
  alaw: 1,
  mulaw: 1,
};

/** Sizes that stand for an unknown one. */
const unknownSizes: readonly number[] = [0xffffffff, 0x7fffffff, 0x7ffff000, 0x80000000, 0x7fffffff - 36];

/** More bytes of other chunks than these come before no samples. */
const MAX_HEADER_BYTES = 256 * 1024 * 1024;

/** Names of codecs that a WAV file may hold and we don't read. */
const codecs: Readonly<Record<number, string>> = {
  0x0000: "unknown",
  0x0002: "Microsoft ADPCM",
  0x0011: "IMA ADPCM",
  0x0031: "GSM 6.10",
  0x0050: "MPEG",
  0x0055: "MP3",
  0x00ff: "AAC",
  0x0160: "Windows Media Audio",
  0x0161: "Windows Media Audio",
  0x674f: "Vorbis",
  0xf1ac: "FLAC",
};

/** The end of the GUID that stands for a number of the old kind. */
const GUID_TAIL = "000000001000800000aa00389b71";

/**
 * Reads a WAV header (RIFF, RF64 or BW64) up to the first byte of its samples.
 *
 * Throws {@linkcode AudioFormatError}, {@linkcode AudioTruncatedError}, {@linkcode AudioEmptyError}; UnknownCodecError for samples that need a decoder.
 */
export async function readWavHeader(reader: ByteReader, allowTruncated = false): Promise<WavHeader> {
  const { name } = reader;
  const first = (await reader.take(12)).slice();
  if (first.length === 0) {
    throw new AudioEmptyError(`${name} is empty; expected audio`, { value: 0, expected: "a WAV file" });
  }
  const kind = tag(first, 0);
  if (first.length < 12 && "RIFF".startsWith(kind.slice(0, first.length))) throw cutHeader(reader);
  if (!["RIFF", "RF64", "BW64"].includes(kind) || tag(first, 8) !== "WAVE") {
    throw new UnknownCodecError(`${name} is no WAV file: it is ${containerName(first)}`, {
      value: kind,
      expected: "RIFF … WAVE",
    });
  }
  let format: PcmFormat | undefined;
  let longSize: number | undefined;
  while (true) {
    const head = (await reader.take(8)).slice();
    if (head.length < 8) throw noData(reader, head.length, format !== undefined);
    const id = tag(head, 0);
    const size = new DataView(head.buffer).getUint32(4, true);
    if (id === "data") {
      if (format === undefined) {
        throw new AudioFormatError(`${name} has samples before the fmt chunk that says what they are; write it again`, {
          value: "data",
          expected: "fmt before data",
        });
      }
      return { ...format, dataBytes: dataSize(reader, size, longSize, allowTruncated) };
    }
    if (id === "fmt ") format = parseFormat(await chunk(reader, id, size, 16, 4096), name);
    else if (id === "ds64") longSize = parseLongSize(await chunk(reader, id, size, 24, 1 << 20), name);
    else await skipChunk(reader, id, size);
  }
}

async function chunk(reader: ByteReader, id: string, size: number, least: number, most: number): Promise<DataView> {
  if (size < least || size > most) {
    throw new AudioFormatError(
      `${reader.name} has a chunk "${id.trim()}" of ${size} bytes, where from ${least} to ${most} are right; write it again`,
      { value: size, expected: `${least} to ${most}` },
    );
  }
  const bytes = (await reader.take(size)).slice();
  if (bytes.length < size) throw cutHeader(reader);
  await reader.skip(size % 2);
  return new DataView(bytes.buffer);
}

async function skipChunk(reader: ByteReader, id: string, size: number): Promise<void> {
  const wanted = size + size % 2;
  if (reader.position + wanted > MAX_HEADER_BYTES && reader.size === undefined) {
    throw new AudioFormatError(
      `${reader.name} has ${size} bytes of ${JSON.stringify(id)} before its samples; write it again`,
      {
        value: size,
        expected: `at most ${MAX_HEADER_BYTES} bytes before the samples`,
      },
    );
  }
  if (reader.size !== undefined && reader.position + size > reader.size) throw noData(reader, 0, true, id, size);
  await reader.skip(wanted);
}

/** Number of bytes of samples, checked against the size of the file. */
function dataSize(
  reader: ByteReader,
  size: number,
  longSize: number | undefined,
  allowTruncated: boolean,
): number | undefined {
  const there = reader.size === undefined ? undefined : reader.size - reader.position;
  const said = size === 0xffffffff && longSize !== undefined ? longSize : size;
  if (said === size && unknownSizes.includes(size) && (there === undefined || there < size)) return undefined;
  // A recorder that was cut off, or that still runs, leaves 0.
  if (said === 0 && there !== 0) return undefined;
  if (there === undefined || said <= there) return said;
  if (!allowTruncated) throw cutData(reader.name, said, there);
  return undefined;
}

/**
 * Finds the `data` chunk that follows one whose `dataBytes` were read; returns its length, or `undefined` where there is none. Other chunks are skipped, and
 * what isn't a chunk ends the file.
 */
export async function nextDataChunk(
  reader: ByteReader,
  dataBytes: number,
  allowTruncated: boolean,
): Promise<{ dataBytes: number | undefined } | undefined> {
  await reader.skip(dataBytes % 2);
  while (true) {
    const head = (await reader.peek(8)).slice();
    if (head.length < 8 || !/^[ -~]{4}$/.test(tag(head, 0))) return undefined;
    const size = new DataView(head.buffer).getUint32(4, true);
    if (tag(head, 0) === "data") {
      await reader.skip(8);
      return { dataBytes: dataSize(reader, size, undefined, allowTruncated) };
    }
    if (await reader.skip(8 + size + size % 2) < 8 + size) return undefined;
  }
}

/** An error for samples that end too early. */
export function cutData(name: string, said: number, there: number): AudioTruncatedError {
  return new AudioTruncatedError(
    `${name} is cut off: its header announces ${said} bytes of samples, ${there} are there; ` +
      "fetch it again, or read what is there by allowTruncated: true",
    { value: there, expected: `${said} bytes of samples` },
  );
}

function parseLongSize(view: DataView, name: string): number {
  const size = view.getBigUint64(8, true);
  if (size > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new AudioFormatError(`${name} announces ${size} bytes of samples; write it again`, {
      value: size,
      expected: `at most ${Number.MAX_SAFE_INTEGER}`,
    });
  }
  return Number(size);
}

function parseFormat(view: DataView, name: string): PcmFormat {
  const outer = view.getUint16(0, true);
  const channels = view.getUint16(2, true);
  const sampleRate = view.getUint32(4, true);
  const blockAlign = view.getUint16(12, true);
  const bits = view.getUint16(14, true);
  const codec = outer === 0xfffe ? innerCodec(view, name) : outer;
  if (channels < 1 || channels > MAX_CHANNELS) {
    throw new AudioFormatError(`${name} has ${channels} channels; give audio with 1 to ${MAX_CHANNELS}`, {
      value: channels,
      expected: `1 to ${MAX_CHANNELS}`,
    });
  }
  if (sampleRate < LOWEST_SAMPLE_RATE || sampleRate > HIGHEST_SAMPLE_RATE) {
    throw new AudioFormatError(
      `${name} has a sample rate of ${sampleRate} Hz; give audio with ${LOWEST_SAMPLE_RATE} to ${HIGHEST_SAMPLE_RATE} Hz`,
      { value: sampleRate, expected: `${LOWEST_SAMPLE_RATE} to ${HIGHEST_SAMPLE_RATE}` },
    );
  }
  const encoding = encodingOf(codec, bits, name);
  if (blockAlign !== sampleBytes[encoding] * channels) {
    throw new AudioFormatError(
      `${name} has ${blockAlign} bytes a frame, but ${channels} channels of ${bits} bits take ${
        sampleBytes[encoding] * channels
      }; write it again`,
      { value: blockAlign, expected: String(sampleBytes[encoding] * channels) },
    );
  }
  return { encoding, sampleRate, channels };
}

function innerCodec(view: DataView, name: string): number {
  const tail = view.byteLength >= 40 ? new Uint8Array(view.buffer, view.byteOffset + 26, 14).toHex() : "";
  if (tail === GUID_TAIL) return view.getUint16(24, true);
  throw new UnknownCodecError(`${name} holds samples of a kind that isn't known (WAVE_FORMAT_EXTENSIBLE)`, {
    value: tail,
    expected: "PCM, float, A-law or mu-law",
  });
}

function encodingOf(codec: number, bits: number, name: string): SampleEncoding {
  // Fewer bits stand in the upper ones of whole bytes.
  const bytes = Math.ceil(bits / 8);
  if (codec === 1 && bytes >= 1 && bytes <= 4) {
    return (["u8", "s16", "s24", "s32"] as const)[bytes - 1] as SampleEncoding;
  }
  if (codec === 3 && (bits === 32 || bits === 64)) return bits === 32 ? "f32" : "f64";
  if ((codec === 6 || codec === 7) && bits === 8) return codec === 6 ? "alaw" : "mulaw";
  const called = { 1: "PCM", 3: "float", 6: "A-law", 7: "mu-law" }[codec] ?? codecs[codec] ??
    "a codec that isn't known";
  throw new UnknownCodecError(`${name} holds samples as ${called} (0x${codec.toString(16)}) of ${bits} bits`, {
    value: codec,
    expected: "PCM of 8 to 32 bits, float of 32 or 64 bits, A-law or mu-law of 8 bits",
  });
}

function cutHeader(reader: ByteReader): AudioTruncatedError {
  return new AudioTruncatedError(`${reader.name} is cut off inside its header; fetch it again`, {
    value: reader.position,
    expected: "a whole WAV header",
  });
}

function noData(reader: ByteReader, left: number, hasFormat: boolean, id?: string, size?: number): Error {
  const chunkCut = id === undefined ? "" : `; its chunk ${JSON.stringify(id)} announces ${size} bytes`;
  if (left > 0 || !hasFormat || id !== undefined) {
    return new AudioTruncatedError(`${reader.name} ends before its samples${chunkCut}; fetch it again`, {
      value: reader.position,
      expected: "a data chunk",
    });
  }
  return new AudioEmptyError(`${reader.name} has no samples (no data chunk); give audio`, {
    value: 0,
    expected: "a data chunk",
  });
}

function tag(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
