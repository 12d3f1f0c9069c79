/**
 * Plain text, and tables for other programs: CSV, TSV.
 *
 * @module
 */

import type { Segment } from "../transcribe/segment.ts";
import { checkSegments } from "./check.ts";
import { milliseconds, oneLine } from "./time.ts";

/**
 * Returns the text alone, one line per segment, as whisper-cli writes it.
 *
 * Throws InvalidArgumentError for values that are not segments.
 */
export function toText(segments: Iterable<Segment>): string {
  return checkSegments("toText", segments).map(({ text }) => `${text.replace(/^[ \t]+/, "")}\n`).join("");
}

/**
 * Returns segments as CSV, as whisper-cli writes it: start and end in milliseconds, the text in quotes.
 *
 * Throws InvalidArgumentError for values that are not segments.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { toCsv } from "./tables.ts";
 *
 * const segment = { text: ' A "quote".', start: 0, end: 1.5, tokens: [], speakerTurn: false, noSpeechProbability: 0, language: "en" };
 * assert.equal(toCsv([segment]), 'start,end,text\n0,1500," A ""quote""."\n');
 * ```
 */
export function toCsv(segments: Iterable<Segment>): string {
  const rows = checkSegments("toCsv", segments).map(({ text, start, end }) =>
    `${milliseconds(start)},${milliseconds(end)},"${text.replaceAll('"', '""')}"\n`
  );
  return `start,end,text\n${rows.join("")}`;
}

/**
 * Returns segments as TSV, as OpenAI's whisper writes it: start and end in milliseconds, the text without the spaces around it.
 *
 * Throws InvalidArgumentError for values that are not segments.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { toTsv } from "./tables.ts";
 *
 * const segment = { text: " Hello.", start: 0, end: 1.5, tokens: [], speakerTurn: false, noSpeechProbability: 0, language: "en" };
 * assert.equal(toTsv([segment]), "start\tend\ttext\n0\t1500\tHello.\n");
 * ```
 */
export function toTsv(segments: Iterable<Segment>): string {
  const rows = checkSegments("toTsv", segments).map(({ text, start, end }) =>
    `${milliseconds(start)}\t${milliseconds(end)}\t${oneLine(text).trim().replaceAll("\t", " ")}\n`
  );
  return `start\tend\ttext\n${rows.join("")}`;
}
