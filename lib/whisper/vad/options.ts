/**
 * What counts as speech.
 *
 * @module
 */

import { checkInteger, checkNumber, checkOptions } from "../../support/check.ts";

/** What counts as speech. */
export interface VadOptions {
  /** How probable speech must be, 0 to 1. Default 0.5. C: `threshold`. */
  threshold?: number | undefined;
  /** Speech that is shorter is none, in milliseconds: 0 to 600,000. Default 250. C: `min_speech_duration_ms`. */
  minSpeechMs?: number | undefined;
  /** Silence that is shorter ends no segment, in milliseconds: 0 to 600,000. Default 100. C: `min_silence_duration_ms`. */
  minSilenceMs?: number | undefined;
  /** Segments are no longer, in seconds: 1 to 100,000. Default any length. C: `max_speech_duration_s`. */
  maxSpeechSeconds?: number | undefined;
  /** What is added before and after a segment, in milliseconds: 0 to 10,000. Default 30. C: `speech_pad_ms`. */
  padMs?: number | undefined;
  /** How much of the audio behind a segment is heard with it, in seconds: 0 to 10. Default 0.1. For transcriptions alone. C: `samples_overlap`. */
  overlap?: number | undefined;
}

/** Checked options. */
export interface VadSettings {
  threshold: number;
  minSpeechMs: number;
  minSilenceMs: number;
  maxSpeechSeconds: number;
  padMs: number;
  overlap: number;
}

/** The names of the options. */
export const vadNames = ["threshold", "minSpeechMs", "minSilenceMs", "maxSpeechSeconds", "padMs", "overlap"] as const;

/** `FLT_MAX`: any length. */
const anyLength = Math.fround(3.4028234663852886e38);

/** Checks what counts as speech. Throws InvalidArgumentError. */
export function checkVad(where: string, options: VadOptions | undefined): VadSettings {
  const given: VadOptions = checkOptions(where, options, vadNames);
  const { threshold = 0.5, minSpeechMs = 250, minSilenceMs = 100, maxSpeechSeconds, padMs = 30, overlap = 0.1 } = given;
  return {
    threshold: checkNumber("threshold", threshold, { min: 0, max: 1 }),
    minSpeechMs: checkInteger("minSpeechMs", minSpeechMs, { min: 0, max: 600_000 }),
    minSilenceMs: checkInteger("minSilenceMs", minSilenceMs, { min: 0, max: 600_000 }),
    maxSpeechSeconds: maxSpeechSeconds === undefined
      ? anyLength
      : checkNumber("maxSpeechSeconds", maxSpeechSeconds, { min: 1, max: 100_000 }),
    padMs: checkInteger("padMs", padMs, { min: 0, max: 10_000 }),
    overlap: checkNumber("overlap", overlap, { min: 0, max: 10 }),
  };
}
