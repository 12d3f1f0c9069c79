/**
 * The options of reading audio, declared once.
 *
 * @module
 */

import { checkInteger, refuse } from "../../../base/check.ts";
import { boolean, custom, integer, nested, oneOf, options, type RulesOf, signal } from "../../../base/options.ts";
import { HIGHEST_SAMPLE_RATE, LOWEST_SAMPLE_RATE, WHISPER_SAMPLE_RATE } from "./resampler.ts";
import type { ChannelChoice } from "./sample_decoder.ts";
import { type DataChunks, MAX_CHANNELS, type PcmFormat, sampleBytes, type SampleEncoding } from "./wav_header.ts";

/** Options of audio files. */
export interface AudioFileOptions {
  /** The channel that is used: its number from 0 to 63, or `"mix"`, the mean of all. Default `"mix"`. */
  channel?: ChannelChoice | undefined;
  /** The program that decodes what isn't WAV, its name or path; `false` for none. Default `"ffmpeg"`, where it is installed. */
  ffmpeg?: string | false | undefined;
  /** Uses what is there of a WAV file that is cut off, instead of throwing AudioTruncatedError. Default `false`. */
  allowTruncated?: boolean | undefined;
  /** The `data` chunks of a WAV file that are read: `"all"`, one after another, or the `"first"` alone. Default `"all"`. */
  dataChunks?: DataChunks | undefined;
}

/** Options of `readAudio` and `decodeAudio`. */
export interface ReadAudioOptions extends AudioFileOptions {
  /** Sample rate of the result in Hz, 1,000 to 768,000. Default 16,000, the rate of Whisper models. */
  sampleRate?: number | undefined;
  /** The format of audio without a header. */
  raw?: PcmFormat | undefined;
  /** Aborts the reading, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

const CHANNEL_WORDS = `an integer from 0 to ${MAX_CHANNELS - 1}, or "mix"`;
const FFMPEG_WORDS = "the name or the path of a program, or false";

/** {@linkcode AudioFileOptions}, declared. */
export const audioFileRules = {
  channel: custom<ChannelChoice, { default: "mix" }>(
    CHANNEL_WORDS,
    (name, value) =>
      value === "mix"
        ? value
        : typeof value === "number"
        ? checkInteger(name, value, { min: 0, max: MAX_CHANNELS - 1 })
        : refuse(name, value, CHANNEL_WORDS),
    { default: "mix" },
  ),
  ffmpeg: custom<string | false, { default: "ffmpeg" }>(FFMPEG_WORDS, (name, value) => {
    if (value === false) return value;
    return typeof value === "string" && value !== "" && !value.includes("\0")
      ? value
      : refuse(name, value, FFMPEG_WORDS);
  }, { default: "ffmpeg" }),
  allowTruncated: boolean({ default: false }),
  dataChunks: oneOf<DataChunks, { default: "all" }>(["all", "first"], { default: "all" }),
} as const satisfies RulesOf<AudioFileOptions>;

const rate = { min: LOWEST_SAMPLE_RATE, max: HIGHEST_SAMPLE_RATE };

/** A sample rate in Hz. */
export const sampleRateRule = integer({ ...rate, default: WHISPER_SAMPLE_RATE });

/** {@linkcode PcmFormat}, declared. */
export const rawRules = nested(options(
  "raw",
  {
    encoding: oneOf(Object.keys(sampleBytes) as SampleEncoding[], { required: true }),
    sampleRate: integer({ ...rate, required: true }),
    channels: integer({ min: 1, max: MAX_CHANNELS, required: true }),
  } satisfies RulesOf<PcmFormat>,
));

/** The specification of {@linkcode ReadAudioOptions}. */
export const readAudioSpec = options(
  "readAudio",
  {
    ...audioFileRules,
    sampleRate: sampleRateRule,
    raw: rawRules,
    signal: signal(),
  } satisfies RulesOf<ReadAudioOptions>,
);
