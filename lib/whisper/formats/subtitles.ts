/**
 * Subtitles: SRT, WebVTT, LRC.
 *
 * @module
 */

import { boolean, integer, options as declare, type RulesOf } from "../../../base/options.ts";
import type { Segment, Word } from "../transcribe/segment.ts";
import { checkSegments } from "./check.ts";
import { clock, oneLine, shortClock } from "./time.ts";

/** Options of `toSrt`. */
export interface SrtOptions {
  /** The number of the first entry. Default 1. */
  firstNumber?: number | undefined;
}

const srtSpec = declare(
  "toSrt",
  { firstNumber: integer({ min: 0, max: 2 ** 31 - 1, default: 1 }) } satisfies RulesOf<SrtOptions>,
);

/** Options of `toWebVtt` and `toLrc`. */
export interface WordTimesOptions {
  /** Give each word its own time, for karaoke; segments without `words` stay whole. Default `false`. */
  words?: boolean | undefined;
}

const wordTimesSpec = declare("words", { words: boolean({ default: false }) } satisfies RulesOf<WordTimesOptions>);

/**
 * Returns segments as SRT, as whisper-cli writes it.
 *
 * Throws InvalidArgumentError for values that are not segments.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { toSrt } from "./subtitles.ts";
 *
 * const segment = { text: " Hello.", start: 0, end: 1.5, tokens: [], speakerTurn: false, noSpeechProbability: 0, language: "en" };
 * assert.equal(toSrt([segment]), "1\n00:00:00,000 --> 00:00:01,500\n Hello.\n\n");
 * ```
 */
export function toSrt(segments: Iterable<Segment>, options?: SrtOptions): string {
  const { firstNumber } = srtSpec.check(options);
  const entries = checkSegments("toSrt", segments).map(({ text, start, end }, index) =>
    `${firstNumber + index}\n${clock(start, ",")} --> ${clock(end, ",")}\n${oneLine(text)}\n\n`
  );
  return entries.join("");
}

/**
 * Returns segments as WebVTT, as whisper-cli writes it; `&`, `<` and `>` are escaped, as the format requires.
 *
 * Throws InvalidArgumentError for values that are not segments.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { toWebVtt } from "./subtitles.ts";
 *
 * const words = [{ text: " Hello", start: 0, end: 0.5, probability: 1 }, { text: " you.", start: 0.5, end: 1, probability: 1 }];
 * const segment = { text: " Hello you.", start: 0, end: 1, tokens: [], words, speakerTurn: false, noSpeechProbability: 0, language: "en" };
 * assert.equal(toWebVtt([segment]), "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n Hello you.\n\n");
 * assert.match(toWebVtt([segment], { words: true }), /<00:00:00.500> you./);
 * ```
 */
export function toWebVtt(segments: Iterable<Segment>, options?: WordTimesOptions): string {
  const words = wantsWords("toWebVtt", options);
  const cues = checkSegments("toWebVtt", segments).map((segment) => {
    const text = words && segment.words !== undefined
      ? timed(segment.words, (word) => `<${clock(word.start, ".")}>`, escapeVtt, segment.start)
      : escapeVtt(oneLine(segment.text));
    return `${clock(segment.start, ".")} --> ${clock(segment.end, ".")}\n${text}\n\n`;
  });
  return `WEBVTT\n\n${cues.join("")}`;
}

/**
 * Returns segments as LRC (lyrics), as whisper-cli writes it.
 *
 * Throws InvalidArgumentError for values that are not segments.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { toLrc } from "./subtitles.ts";
 *
 * const segment = { text: " Hello.", start: 61.25, end: 62, tokens: [], speakerTurn: false, noSpeechProbability: 0, language: "en" };
 * assert.equal(toLrc([segment]), "[by:whisper.cpp]\n[01:01.25] Hello.\n");
 * ```
 */
export function toLrc(segments: Iterable<Segment>, options?: WordTimesOptions): string {
  const words = wantsWords("toLrc", options);
  const lines = checkSegments("toLrc", segments).map((segment) => {
    const text = words && segment.words !== undefined
      ? timed(segment.words, (word) => `<${shortClock(word.start)}>`, (one) => one)
      : oneLine(segment.text);
    return `[${shortClock(segment.start)}]${text}\n`;
  });
  return `[by:whisper.cpp]\n${lines.join("")}`;
}

function wantsWords(where: string, options: WordTimesOptions | undefined): boolean {
  return wordTimesSpec.check(options, where).words;
}

/** Words with a mark before each; a mark that would stand at `start` is left out. */
function timed(
  words: readonly Word[],
  mark: (word: Word) => string,
  escape: (text: string) => string,
  start?: number,
): string {
  return words.map((word) => `${word.start === start ? "" : mark(word)}${escape(oneLine(word.text))}`).join("");
}

function escapeVtt(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
