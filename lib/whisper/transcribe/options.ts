/**
 * The options of a transcription, declared once.
 *
 * @module
 */

import { checkInteger, checkText, isInstance, refuse, show } from "../../../base/check.ts";
import { InvalidArgumentError } from "../../errors.ts";
import {
  arrayOf,
  boolean,
  callback,
  custom,
  integer,
  number,
  options,
  type RulesOf,
  type Settings,
  text,
} from "../../../base/options.ts";
import { type AudioOptions, audioRules, type AudioSettings, audioSettings } from "./audio_options.ts";
import { checkGrammar, type SpeechGrammar } from "./grammar.ts";
import { type VadOptions, type VadSettings, vadSpec } from "../vad/options.ts";

/** Options of decoding. */
export interface DecodingOptions {
  /** Spoken language, a code such as `"de"` or a name such as `"german"`; `"auto"` detects it. Default `"auto"`. C: `language`. */
  language?: string | undefined;
  /** Translates to English. Default false; for multilingual models only. C: `translate`. */
  translate?: boolean | undefined;
  /** Text that precedes the audio: sets the spelling of names and terms. C: `initial_prompt`. */
  prompt?: string | undefined;
  /** Gives `prompt` before each window instead of the first one only. Default false. C: `carry_initial_prompt`. */
  carryPrompt?: boolean | undefined;
  /** Tokens of preceding text that each window is conditioned on, 0 to 16,384. Default 16,384: as many as the model takes. C: `n_max_text_ctx`. */
  contextTokens?: number | undefined;
  /** Beams of the beam search, 1 to 8; 1 decodes greedily. Default 1. C: `beam_search.beam_size`, `strategy`. */
  beamSize?: number | undefined;
  /** Candidates that are sampled at temperatures above 0, 1 to 8. Default 5. C: `greedy.best_of`. */
  bestOf?: number | undefined;
  /** Sampling temperature, 0 to 1. Default 0: greedy. C: `temperature`. */
  temperature?: number | undefined;
  /** Temperature that is added when a decoding fails its thresholds, 0.01 to 1, or 0 to never retry. Default 0.2. C: `temperature_inc`. */
  temperatureIncrement?: number | undefined;
  /** Entropy threshold: below it, decoding is retried at a higher temperature. 0 to 10, default 2.4. C: `entropy_thold`. */
  entropyThreshold?: number | undefined;
  /** Mean log-probability below which decoding is retried at a higher temperature. -100 to 0, default -1. C: `logprob_thold`. */
  logprobThreshold?: number | undefined;
  /** Probability of silence above which a window whose decoding failed gives no text. 0 to 1, default 0.6. C: `no_speech_thold`. */
  noSpeechThreshold?: number | undefined;
  /** Length penalty of candidates, 0 to 10. Default: mean log-probability. C: `length_penalty`. */
  lengthPenalty?: number | undefined;
  /** Latest start of the first segment of a window, in seconds: 0 to 30, 0 for any. Default 1. C: `max_initial_ts`. */
  maxInitialTimestamp?: number | undefined;
  /** Suppresses blanks at the start. Default true. C: `suppress_blank`. */
  suppressBlank?: boolean | undefined;
  /** Suppresses non-speech tokens, such as brackets and notes. Default false. C: `suppress_nst`. */
  suppressNonSpeech?: boolean | undefined;
  /**
   * Ids of tokens that are never generated. Candidates are then evaluated one by one: with more than one thread `bestOf` is 1, and `beamSize` must be.
   * C: `logits_filter_callback`.
   */
  suppressTokens?: readonly number[] | undefined;
  /** Tokens whose whole text matches are never generated, such as `/[ 0-9]+/`; otherwise as {@linkcode DecodingOptions.suppressTokens}. C: `suppress_regex`. */
  suppressRegex?: RegExp | undefined;
  /** Grammar in GBNF as llama.cpp reads it: text that it doesn't allow is penalized by `grammarPenalty`. C: `grammar_rules`. */
  grammar?: string | undefined;
  /** Start rule of the grammar. Default `"root"`. C: `i_start_rule`. */
  grammarRoot?: string | undefined;
  /** Logit penalty of tokens that the grammar doesn't allow, 0 to 1000. Default 100. C: `grammar_penalty`. */
  grammarPenalty?: number | undefined;
  /** Splits the text into segments by timestamp tokens. Default true. C: `no_timestamps`. */
  timestamps?: boolean | undefined;
  /** Computes the times of words: segments get `words`, tokens get `start` and `end`. Default false. C: `token_timestamps`. */
  wordTimestamps?: boolean | undefined;
  /** Maximum length of a segment in characters, 0 to 10,000; 0 for any. Default 0. C: `max_len`. */
  maxLength?: number | undefined;
  /** Splits segments by `maxLength` before words (true), or at any token. Default true. C: `split_on_word`. */
  splitOnWord?: boolean | undefined;
  /** Maximum number of tokens of a segment, 0 to 448; 0 for any. Default 0. C: `max_tokens`. */
  maxTokens?: number | undefined;
  /** Makes one segment of each window. Default false. C: `single_segment`. */
  singleSegment?: boolean | undefined;
  /** Detects where the speaker changes: for models trained for it only (tdrz). Default false. C: `tdrz_enable`. */
  speakerTurns?: boolean | undefined;
  /** Encoder context length in frames, 0 to 1500: shorter is faster and less exact. Default 0: all. C: `audio_ctx`. */
  audioContext?: number | undefined;
}

/** Options of `Whisper.transcribe`. */
export interface TranscribeOptions extends DecodingOptions, AudioOptions {
  /** Start of the part that is transcribed, in seconds: 0 to 2,000,000. Default 0. Audio before it is ignored; times stay those of the whole audio. */
  offset?: number | undefined;
  /** Length of the part that is transcribed, in seconds: 0 to 2,000,000. Default all that follows `offset`. Audio behind it is ignored. */
  duration?: number | undefined;
  /**
   * Transcribes detected speech only, so that no text is invented for silence: `true`, `false`, or how speech is detected. Default `"auto"`: `true` for files
   * where the model was loaded with a `vadModel` or the default one is in the cache, `false` for samples.
   */
  vad?: "auto" | boolean | VadOptions | undefined;
  /** Called with the progress, a number from 0 to 1. C: `progress_callback`. */
  onProgress?: ((part: number) => void) | undefined;
}

const MAX_DECODERS = 8;
/** Upstream's way to say: by the mean. */
const BY_MEAN = -1;
const off = boolean({ default: false });
const on = boolean({ default: true });

/** {@linkcode DecodingOptions}, declared. */
export const decodingRules = {
  language: custom<string, { default: "auto" }>('a language such as "en", or "auto"', checkLanguage, {
    default: "auto",
  }),
  translate: off,
  prompt: custom<string, object>("a string without NUL", checkNoNul),
  carryPrompt: off,
  contextTokens: integer({ min: 0, max: 16_384, default: 16_384 }),
  beamSize: integer({ min: 1, max: MAX_DECODERS, default: 1 }),
  bestOf: integer({ min: 1, max: MAX_DECODERS }),
  temperature: number({ min: 0, max: 1, default: 0 }),
  // Upstream makes a list of all temperatures up to 1.
  temperatureIncrement: custom<number, { default: 0.2 }>("0, or a number from 0.01 to 1", checkIncrement, {
    default: 0.2,
  }),
  entropyThreshold: number({ min: 0, max: 10, default: 2.4 }),
  logprobThreshold: number({ min: -100, max: 0, default: -1 }),
  noSpeechThreshold: number({ min: 0, max: 1, default: 0.6 }),
  lengthPenalty: number({ min: 0, max: 10, default: BY_MEAN }),
  maxInitialTimestamp: number({ min: 0, max: 30, default: 1 }),
  suppressBlank: on,
  suppressNonSpeech: off,
  suppressTokens: arrayOf((name, id) => checkInteger(name, id, { min: 0, max: 0x7fff_ffff }), {
    default: [] as readonly number[],
  }),
  suppressRegex: custom<RegExp, object>("a RegExp such as /[0-9]+/", checkRegex),
  grammar: text(),
  grammarRoot: text({ default: "root" }),
  grammarPenalty: number({ min: 0, max: 1000, default: 100 }),
  timestamps: on,
  wordTimestamps: off,
  maxLength: integer({ min: 0, max: 10_000, default: 0 }),
  splitOnWord: on,
  maxTokens: integer({ min: 0, max: 448, default: 0 }),
  singleSegment: off,
  speakerTurns: off,
  audioContext: integer({ min: 0, max: 1500, default: 0 }),
} as const satisfies RulesOf<DecodingOptions>;

const seconds = { min: 0, max: 2_000_000 };

/** The option `vad`. */
export const vadRule = custom<"auto" | false | VadSettings, { default: "auto" }>(
  'true, false, "auto", or an object',
  (name, value) => {
    if (value === "auto" || value === false) return value;
    return value === true ? vadSpec.check(undefined) : vadSpec.checkAt(name, value);
  },
  { default: "auto" },
);

/** The specification of {@linkcode TranscribeOptions}. */
export const transcribeSpec = options(
  "whisper.transcribe",
  {
    ...decodingRules,
    ...audioRules,
    offset: number({ ...seconds, default: 0 }),
    duration: number(seconds),
    vad: vadRule,
    onProgress: callback<(part: number) => void>(),
  } satisfies RulesOf<TranscribeOptions>,
);

/** Checked options of decoding. */
export type DecodingSettings = Omit<Settings<typeof decodingRules>, "grammar" | "grammarRoot"> & {
  readonly grammar: SpeechGrammar | undefined;
};

/** The part of the audio that is transcribed, in milliseconds. */
export interface AudioPart {
  /** Start. */
  readonly fromMs: number;
  /** End; `Infinity` for the end of the audio. */
  readonly toMs: number;
}

/** The whole audio. */
export const WHOLE: AudioPart = { fromMs: 0, toMs: Infinity };

/** Checked options of a transcription. */
export interface TranscribeSettings {
  readonly decoding: DecodingSettings;
  readonly audio: AudioSettings;
  readonly part: AudioPart;
  readonly vad: "auto" | false | VadSettings;
  readonly onProgress: ((part: number) => void) | undefined;
}

/** Checks the options of a transcription. Throws {@linkcode InvalidArgumentError} and {@linkcode GrammarError}. */
export function checkTranscribe(given: TranscribeOptions | undefined): TranscribeSettings {
  const { offset, duration = Infinity, vad, onProgress, ...rest } = transcribeSpec.check(given);
  const fromMs = Math.round(offset * 1000);
  return {
    decoding: decodingSettings(rest),
    audio: audioSettings(rest),
    part: { fromMs, toMs: fromMs + Math.round(duration * 1000) },
    vad,
    onProgress,
  };
}

/** The settings of decoding among others. */
export function decodingSettings(checked: Settings<typeof decodingRules>): DecodingSettings {
  const names = Object.keys(decodingRules) as (keyof typeof decodingRules)[];
  const { grammar, grammarRoot, ...rest } = Object.fromEntries(names.map((name) => [name, checked[name]])) as Settings<
    typeof decodingRules
  >;
  return { ...rest, grammar: grammar === undefined ? undefined : checkGrammar(grammar, grammarRoot) };
}

function checkLanguage(name: string, value: unknown): string {
  const language = checkNoNul(name, value);
  if (language.trim() !== "") return language.toLowerCase();
  throw new InvalidArgumentError(`${name} is empty; expected a language such as "en", or "auto"`, {
    value,
    expected: 'a language, or "auto"',
  });
}

function checkNoNul(name: string, value: unknown): string {
  const checked = checkText(name, value);
  if (!checked.includes("\0")) return checked;
  throw new InvalidArgumentError(`${name} holds a NUL character: ${show(checked)}`, {
    value,
    expected: "a string without NUL",
  });
}

function checkIncrement(name: string, value: unknown): number {
  if (value === 0 || (typeof value === "number" && value >= 0.01 && value <= 1)) return value;
  return refuse(name, value, "0, or a number from 0.01 to 1");
}

function checkRegex(name: string, value: unknown): RegExp {
  if (!isInstance(value, RegExp)) return refuse(name, value, "a RegExp such as /[0-9]+/");
  return new RegExp(`^(?:${value.source})$`, value.flags.replace(/[gy]/g, ""));
}
