/**
 * The options of audio, and those of what is done to audio without decoding it.
 *
 * @module
 */

import { callback, integer, options, type RulesOf, type Settings, signal } from "../../../base/options.ts";
import { type AudioFileOptions, audioFileRules, sampleRateRule } from "../audio/options.ts";
import { type VadOptions, vadRules } from "../vad/options.ts";

/** Options that every method for audio takes. */
export interface AudioOptions extends AudioFileOptions {
  /** Sample rate of samples in Hz, 1,000 to 768,000; they are resampled to 16,000. Default 16,000. */
  sampleRate?: number | undefined;
  /** Maximum number of compute threads, 1 to 4096; never more than cores. Default that of the model. C: `n_threads`. */
  threads?: number | undefined;
  /** Aborts the work, which then rejects with the signal's reason. C: `abort_callback`. */
  signal?: AbortSignal | undefined;
}

/** Options of `Whisper.detectSpeech`. */
export interface DetectSpeechOptions extends VadOptions, AudioOptions {
  /** Called with the progress, a number from 0 to 1. */
  onProgress?: ((part: number) => void) | undefined;
}

/** A number of compute threads. */
export const threadsRule = integer({ min: 1, max: 4096 });

/** {@linkcode AudioOptions}, declared. */
export const audioRules = {
  ...audioFileRules,
  sampleRate: sampleRateRule,
  threads: threadsRule,
  signal: signal(),
} as const satisfies RulesOf<AudioOptions>;

/** Checked {@linkcode AudioOptions}. */
export type AudioSettings = Readonly<Settings<typeof audioRules>>;

/** The specification of {@linkcode DetectSpeechOptions}. */
export const detectSpeechSpec = options(
  "whisper.detectSpeech",
  {
    ...vadRules,
    ...audioRules,
    onProgress: callback<(part: number) => void>(),
  } satisfies RulesOf<DetectSpeechOptions>,
);

/** The specification of the options of `Whisper.detectLanguage`. */
export const detectLanguageSpec = options("whisper.detectLanguage", audioRules);

/** The settings of audio among others. */
export function audioSettings(
  { channel, ffmpeg, allowTruncated, dataChunks, sampleRate, threads, signal }: AudioSettings,
): AudioSettings {
  return { channel, ffmpeg, allowTruncated, dataChunks, sampleRate, threads, signal };
}

/** Compute threads: never more than cores. */
export function atMostCores(threads: number): number {
  return Math.min(navigator.hardwareConcurrency, threads);
}
