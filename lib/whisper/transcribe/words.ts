/**
 * From tokens to words.
 *
 * @module
 */

import type { Token, Word } from "./segment.ts";
import { joined } from "../../../ffi/memory/concat.ts";

/** Languages that put no space between words: each of their characters, or group of them that is one token, counts as a word. */
const withoutSpaces = new Set(["zh", "ja", "th", "lo", "my", "yue", "bo"]);

/**
 * The words of a segment whose tokens have times, as whisper-cli's `-ml 1 -sow` has them: a sign such as a comma belongs to the word before it, a word lasts
 * until the next one begins, and the first begins with the segment unless a timestamp is before it.
 */
export function groupWords(tokens: readonly Token[], language: string, start: number, end: number): Word[] {
  const spoken = tokens.filter(({ special }) => !special);
  const groups: Token[][] = [];
  let open = true;
  for (const token of spoken) {
    const last = groups.at(-1);
    const begins = startsWord(token.text, language) || last === undefined;
    if (begins && open) groups.push([token]);
    else last?.push(token);
    open = isWhole(groups.at(-1) ?? []);
  }
  const own = groups.map((group) => group[0]?.start ?? start);
  const starts = tokens[0]?.special === true ? own : [start, ...own.slice(1)];
  return groups.map((group, index) => wordOf(group, starts[index] ?? start, starts[index + 1] ?? end));
}

function startsWord(text: string, language: string): boolean {
  return /^\s/.test(text) || (withoutSpaces.has(language) && !/^\p{P}+$/u.test(text));
}

/** Whether a group of tokens ends at the end of a character. */
function isWhole(tokens: readonly Token[]): boolean {
  if (tokens.every(({ bytes }) => bytes === undefined)) return true;
  return !textOf(tokens).includes("\u{fffd}");
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function textOf(tokens: readonly Token[]): string {
  const parts = tokens.map(({ text, bytes }) => bytes ?? encoder.encode(text));
  return decoder.decode(joined(Uint8Array, parts));
}

function wordOf(tokens: readonly Token[], start: number, end: number): Word {
  const probability = tokens.reduce((sum, token) => sum + token.probability, 0) / tokens.length;
  return { text: textOf(tokens), start, end: Math.max(start, end), probability };
}
