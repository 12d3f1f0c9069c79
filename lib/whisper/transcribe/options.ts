/**
 * The options of a transcription.
 *
 * @module
 */

import { InvalidArgumentError } from "../../errors.ts";
import {
  checkBoolean,
  checkFunction,
  checkInteger,
  checkNumber,
  checkOneOf,
  checkOptions,
  checkSignal,
  checkText,
  isInstance,
  show,
} from "../../support/check.ts";
import { type ChannelChoice, DATA_CHUNKS, type DataChunks } from "../audio/mod.ts";
import { checkGrammar, type SpeechGrammar } from "./grammar.ts";
import { checkVad, type VadOptions, type VadSettings } from "../vad/options.ts";

export type { VadSettings } from "../vad/options.ts";

/** How audio is turned into text. */
export interface DecodingOptions {
  /** The language that is spoken, a code such as `"de"` or a name such as `"german"`; `"auto"` listens for it. Default `"auto"`. C: `language`. */
  language?: string | undefined;
  /** Write English whatever is spoken. Default false; only for models of many languages. C: `translate`. */
  translate?: boolean | undefined;
  /** Text that the audio is taken to go on from: names and words that are to be spelled so. C: `initial_prompt`. */
  prompt?: string | undefined;
  /** Give `prompt` before each window, not before the first alone. Default false. C: `carry_initial_prompt`. */
  carryPrompt?: boolean | undefined;
  /** How many tokens of the text before each window goes on from, 0 to 16,384. Default 16,384: as many as the model takes. 0 for none. C: `n_max_text_ctx`. */
  contextTokens?: number | undefined;
  /** Candidates of a beam search, 1 to 8; 1 takes the most probable token each time. Default 1. C: `beam_search.beam_size`, `strategy`. */
  beamSize?: number | undefined;
  /** Candidates where tokens are drawn by chance, 1 to 8. Default 5. C: `greedy.best_of`. */
  bestOf?: number | undefined;
  /** How much chance there is in the choice of tokens, 0 to 1. Default 0: none. C: `temperature`. */
  temperature?: number | undefined;
  /** How much is added to the temperature when the text seems bad, 0.01 to 1, or 0 for never. Default 0.2. C: `temperature_inc`. */
  temperatureIncrement?: number | undefined;
  /** Text whose tokens are less various than this seems bad, 0 to 10. Default 2.4. C: `entropy_thold`. */
  entropyThreshold?: number | undefined;
  /** Text whose tokens are on average less probable than this (a logarithm) seems bad, -100 to 0. Default -1. C: `logprob_thold`. */
  logprobThreshold?: number | undefined;
  /** A window that is silence with more than this probability, and whose text seems bad, has none: 0 to 1. Default 0.6. C: `no_speech_thold`. */
  noSpeechThreshold?: number | undefined;
  /** How much long text is preferred, 0 to 10; default by its average. C: `length_penalty`. */
  lengthPenalty?: number | undefined;
  /** The first segment of a window starts no later than this, in seconds: 0 to 30, 0 for any. Default 1. C: `max_initial_ts`. */
  maxInitialTimestamp?: number | undefined;
  /** Never begin with a blank. Default true. C: `suppress_blank`. */
  suppressBlank?: boolean | undefined;
  /** Never write signs that aren't spoken, such as brackets and notes. Default false. C: `suppress_nst`. */
  suppressNonSpeech?: boolean | undefined;
  /**
   * Tokens that are never written: numbers in the vocabulary. As each candidate is asked for alone, `bestOf` is 1 with it where there is more than one thread,
   * and `beamSize` must be. C: `logits_filter_callback`.
   */
  suppressTokens?: readonly number[] | undefined;
  /** Tokens whose whole text matches are never written, such as `/[ 0-9]+/`; otherwise as {@linkcode DecodingOptions.suppressTokens}. C: `suppress_regex`. */
  suppressRegex?: RegExp | undefined;
  /** A grammar in GBNF, as llama.cpp reads it: text that it doesn't allow becomes less probable by `grammarPenalty`. C: `grammar_rules`. */
  grammar?: string | undefined;
  /** The rule that the grammar begins with. Default `"root"`. C: `i_start_rule`. */
  grammarRoot?: string | undefined;
  /** How much less probable text outside of the grammar is, a logarithm: 0 to 1000. Default 100. C: `grammar_penalty`. */
  grammarPenalty?: number | undefined;
  /** Split segments by the times at which they are said. Default true. C: `no_timestamps`. */
  timestamps?: boolean | undefined;
  /** Find out when each word is said: segments get `words`, tokens get `start` and `end`. Default false. C: `token_timestamps`. */
  wordTimestamps?: boolean | undefined;
  /** The most characters of a segment, 0 to 10,000; 0 for any number. Default 0. C: `max_len`. */
  maxLength?: number | undefined;
  /** Where segments are split by `maxLength`: before a word (true), or at any token. Default true. C: `split_on_word`. */
  splitOnWord?: boolean | undefined;
  /** The most tokens of a segment, 0 to 448; 0 for any number. Default 0. C: `max_tokens`. */
  maxTokens?: number | undefined;
  /** Make one segment of each window. Default false. C: `single_segment`. */
  singleSegment?: boolean | undefined;
  /** Find out where another speaker begins: for models made for it alone (tdrz). Default false. C: `tdrz_enable`. */
  speakerTurns?: boolean | undefined;
  /** How many places of the encoder are computed, 0 to 1500; fewer are faster and worse. Default 0: all. C: `audio_ctx`. */
  audioContext?: number | undefined;
  /** Start of the part that is transcribed, in seconds: 0 to 2,000,000. Default 0. Audio before it isn't heard; times stay those of the whole audio. C: `offset_ms`. */
  offset?: number | undefined;
  /** Length of the part that is transcribed, in seconds: 0 to 2,000,000. Default all that follows `offset`. Audio behind it isn't heard. C: `duration_ms`. */
  duration?: number | undefined;
}

/** How audio is transcribed. */
export interface TranscribeOptions extends DecodingOptions {
  /**
   * Look for speech first and transcribe that alone, so that no text is invented for silence: `true`, `false`, or what counts as speech. Default `"auto"`: for
   * files, where the model was loaded with a `vadModel` or set-up brought one, and not for samples.
   */
  vad?: "auto" | boolean | VadOptions | undefined;
  /** How many threads compute, at most: 1 to 4096, never more than cores. Default that of the model. C: `n_threads`. */
  threads?: number | undefined;
  /** For samples: how many there are a second, 1,000 to 768,000. Default 16,000. Others are resampled. */
  sampleRate?: number | undefined;
  /** For files: the channel that is heard, its number from 0, or `"mix"`. Default `"mix"`. */
  channel?: ChannelChoice | undefined;
  /** For files: the program that reads what isn't WAV, `false` for none. Default `"ffmpeg"`. */
  ffmpeg?: string | false | undefined;
  /** For files: accept a WAV file that is cut off and transcribe what is there, instead of rejecting with AudioTruncatedError. Default false. */
  allowTruncated?: boolean | undefined;
  /** For files: the `data` chunks of a WAV file that are read, `"all"` one after another or the `"first"` alone. Default `"all"`. */
  dataChunks?: DataChunks | undefined;
  /** Called while it works with a number from 0 to 1. C: `progress_callback`. */
  onProgress?: ((part: number) => void) | undefined;
  /** Stops it: loop and result then reject with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Checked options of decoding. */
export interface DecodingSettings {
  /** `"auto"`, or a language that whisper.cpp is asked about. */
  language: string;
  translate: boolean;
  prompt: string | undefined;
  carryPrompt: boolean;
  contextTokens: number;
  beamSize: number;
  bestOf: number | undefined;
  temperature: number;
  temperatureIncrement: number;
  entropyThreshold: number;
  logprobThreshold: number;
  noSpeechThreshold: number;
  lengthPenalty: number;
  maxInitialTimestamp: number;
  suppressBlank: boolean;
  suppressNonSpeech: boolean;
  suppressTokens: readonly number[];
  suppressRegex: RegExp | undefined;
  grammar: SpeechGrammar | undefined;
  grammarPenalty: number;
  timestamps: boolean;
  wordTimestamps: boolean;
  maxLength: number;
  splitOnWord: boolean;
  maxTokens: number;
  singleSegment: boolean;
  speakerTurns: boolean;
  audioContext: number;
}

/** The part of the audio that is transcribed, in milliseconds. */
export interface AudioPart {
  /** Where it starts. */
  readonly fromMs: number;
  /** Where it ends; `Infinity` for the end of the audio. */
  readonly toMs: number;
}

/** Checked options of a transcription. */
export interface TranscribeSettings {
  decoding: DecodingSettings;
  part: AudioPart;
  vad: "auto" | false | VadSettings;
  threads: number | undefined;
  sampleRate: number;
  channel: ChannelChoice | undefined;
  ffmpeg: string | false | undefined;
  allowTruncated: boolean;
  dataChunks: DataChunks;
  onProgress: ((part: number) => void) | undefined;
  signal: AbortSignal | undefined;
}

const decodingNames = [
  "language",
  "translate",
  "prompt",
  "carryPrompt",
  "contextTokens",
  "beamSize",
  "bestOf",
  "temperature",
  "temperatureIncrement",
  "entropyThreshold",
  "logprobThreshold",
  "noSpeechThreshold",
  "lengthPenalty",
  "maxInitialTimestamp",
  "suppressBlank",
  "suppressNonSpeech",
  "suppressTokens",
  "suppressRegex",
  "grammar",
  "grammarRoot",
  "grammarPenalty",
  "timestamps",
  "wordTimestamps",
  "maxLength",
  "splitOnWord",
  "maxTokens",
  "singleSegment",
  "speakerTurns",
  "audioContext",
  "offset",
  "duration",
] as const;

/** The names of the options of a transcription. */
export const transcribeNames = [
  ...decodingNames,
  "vad",
  "threads",
  "sampleRate",
  "channel",
  "ffmpeg",
  "allowTruncated",
  "dataChunks",
  "onProgress",
  "signal",
] as const;

/** More milliseconds than this don't fit into C's `int`. */
const MAX_SECONDS = 2_000_000;
const MAX_DECODERS = 8;
/** Upstream's way to say: by the average. */
const BY_AVERAGE = -1;

/** Checks the options of a transcription. Throws {@linkcode InvalidArgumentError}. */
export function checkTranscribe(where: string, options: TranscribeOptions | undefined): TranscribeSettings {
  const given: TranscribeOptions = checkOptions(where, options, transcribeNames);
  const { vad = "auto", threads, sampleRate = 16_000, channel, ffmpeg, onProgress, signal } = given;
  const { allowTruncated = false, dataChunks = "all" } = given;
  return {
    decoding: checkDecoding(given),
    part: checkPart(given),
    vad: vad === "auto" || vad === false ? vad : checkVad("vad", vad === true ? undefined : vad),
    threads: threads === undefined ? undefined : checkThreads(threads),
    sampleRate: checkInteger("sampleRate", sampleRate, { min: 1_000, max: 768_000 }),
    channel,
    ffmpeg,
    allowTruncated: checkBoolean("allowTruncated", allowTruncated),
    dataChunks: checkOneOf("dataChunks", dataChunks, DATA_CHUNKS),
    onProgress: onProgress === undefined ? undefined : checkFunction("onProgress", onProgress),
    signal: signal === undefined ? undefined : checkSignal("signal", signal),
  };
}

/** Compute threads: never more than cores. */
export function checkThreads(threads: unknown): number {
  return Math.min(navigator.hardwareConcurrency, checkInteger("threads", threads, { min: 1, max: 4096 }));
}

function checkDecoding(given: DecodingOptions): DecodingSettings {
  const integer = (name: keyof DecodingOptions, fallback: number, min: number, max: number): number =>
    given[name] === undefined ? fallback : checkInteger(name, given[name], { min, max });
  const number = (name: keyof DecodingOptions, fallback: number, min: number, max: number): number =>
    given[name] === undefined ? fallback : checkNumber(name, given[name], { min, max });
  const boolean = (name: keyof DecodingOptions, fallback: boolean): boolean =>
    given[name] === undefined ? fallback : checkBoolean(name, given[name]);
  const settings: DecodingSettings = {
    language: given.language === undefined ? "auto" : checkName("language", given.language),
    translate: boolean("translate", false),
    prompt: given.prompt === undefined ? undefined : checkNoNul("prompt", given.prompt),
    carryPrompt: boolean("carryPrompt", false),
    contextTokens: integer("contextTokens", 16_384, 0, 16_384),
    beamSize: integer("beamSize", 1, 1, MAX_DECODERS),
    bestOf: given.bestOf === undefined ? undefined : integer("bestOf", 5, 1, MAX_DECODERS),
    temperature: number("temperature", 0, 0, 1),
    // Upstream makes a list of all temperatures up to 1.
    temperatureIncrement: given.temperatureIncrement === 0 ? 0 : number("temperatureIncrement", 0.2, 0.01, 1),
    entropyThreshold: number("entropyThreshold", 2.4, 0, 10),
    logprobThreshold: number("logprobThreshold", -1, -100, 0),
    noSpeechThreshold: number("noSpeechThreshold", 0.6, 0, 1),
    lengthPenalty: number("lengthPenalty", BY_AVERAGE, 0, 10),
    maxInitialTimestamp: number("maxInitialTimestamp", 1, 0, 30),
    suppressBlank: boolean("suppressBlank", true),
    suppressNonSpeech: boolean("suppressNonSpeech", false),
    suppressTokens: given.suppressTokens === undefined ? [] : checkIds(given.suppressTokens),
    suppressRegex: given.suppressRegex === undefined ? undefined : checkRegex(given.suppressRegex),
    grammar: given.grammar === undefined ? undefined : checkGrammar(given.grammar, given.grammarRoot),
    grammarPenalty: number("grammarPenalty", 100, 0, 1000),
    timestamps: boolean("timestamps", true),
    wordTimestamps: boolean("wordTimestamps", false),
    maxLength: integer("maxLength", 0, 0, 10_000),
    splitOnWord: boolean("splitOnWord", true),
    maxTokens: integer("maxTokens", 0, 0, 448),
    singleSegment: boolean("singleSegment", false),
    speakerTurns: boolean("speakerTurns", false),
    audioContext: integer("audioContext", 0, 0, 1500),
  };
  return settings;
}

function checkPart({ offset = 0, duration }: DecodingOptions): AudioPart {
  const range = { min: 0, max: MAX_SECONDS };
  const fromMs = Math.round(checkNumber("offset", offset, range) * 1000);
  if (duration === undefined) return { fromMs, toMs: Infinity };
  return { fromMs, toMs: fromMs + Math.round(checkNumber("duration", duration, range) * 1000) };
}

function checkName(name: string, value: unknown): string {
  const text = checkNoNul(name, value);
  if (text.trim() !== "") return text.toLowerCase();
  throw new InvalidArgumentError(`${name} is empty; give a language such as "en", or "auto"`, {
    value,
    expected: 'a language, or "auto"',
  });
}

function checkNoNul(name: string, value: unknown): string {
  const text = checkText(name, value);
  if (!text.includes("\0")) return text;
  throw new InvalidArgumentError(`${name} holds a NUL character: ${show(text)}`, {
    value,
    expected: "text without \\0",
  });
}

function checkIds(value: unknown): readonly number[] {
  if (!Array.isArray(value)) {
    throw new InvalidArgumentError(`suppressTokens is ${show(value)}; give an array of token numbers`, {
      value,
      expected: "an array of token numbers",
    });
  }
  return value.map((id, index) => checkInteger(`suppressTokens[${index}]`, id, { min: 0, max: 0x7fff_ffff }));
}

function checkRegex(value: unknown): RegExp {
  if (isInstance(value, RegExp)) return new RegExp(`^(?:${value.source})$`, value.flags.replace(/[gy]/g, ""));
  throw new InvalidArgumentError(`suppressRegex is ${show(value)}; give a RegExp such as /[0-9]+/`, {
    value,
    expected: "a RegExp",
  });
}
