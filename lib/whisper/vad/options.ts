/**
 * The options of voice activity detection, declared once.
 *
 * @module
 */

import { integer, number, options, type RulesOf, type Settings } from "../../../base/options.ts";

/** Options of voice activity detection. */
export interface VadOptions {
  /** Probability from which a frame is speech, 0 to 1. Default 0.5. C: `threshold`. */
  threshold?: number | undefined;
  /** Minimum length of speech in milliseconds, 0 to 600,000: shorter sounds are ignored. Default 250. C: `min_speech_duration_ms`. */
  minSpeechMs?: number | undefined;
  /** Silence that ends a stretch of speech, in milliseconds: 0 to 600,000. Default 100. C: `min_silence_duration_ms`. */
  minSilenceMs?: number | undefined;
  /** Maximum length of a stretch of speech in seconds, 1 to 100,000. Default any. C: `max_speech_duration_s`. */
  maxSpeechSeconds?: number | undefined;
  /** Padding before and after each stretch of speech in milliseconds, 0 to 10,000. Default 30. C: `speech_pad_ms`. */
  padMs?: number | undefined;
  /** Audio behind each stretch of speech that is transcribed with it, in seconds: 0 to 10. Default 0.1. For transcriptions only. C: `samples_overlap`. */
  overlapSeconds?: number | undefined;
}

/** `FLT_MAX`: any length. */
const ANY_LENGTH = Math.fround(3.4028234663852886e38);

/** {@linkcode VadOptions}, declared. */
export const vadRules = {
  threshold: number({ min: 0, max: 1, default: 0.5 }),
  minSpeechMs: integer({ min: 0, max: 600_000, default: 250 }),
  minSilenceMs: integer({ min: 0, max: 600_000, default: 100 }),
  maxSpeechSeconds: number({ min: 1, max: 100_000, default: ANY_LENGTH }),
  padMs: integer({ min: 0, max: 10_000, default: 30 }),
  overlapSeconds: number({ min: 0, max: 10, default: 0.1 }),
} as const satisfies RulesOf<VadOptions>;

/** The specification of {@linkcode VadOptions}. */
export const vadSpec = options("vad", vadRules);

/** Checked {@linkcode VadOptions}. */
export type VadSettings = Readonly<Settings<typeof vadRules>>;
