/**
 * The methods of Python's `str` that change its characters, and those that ask about them.
 *
 * @module
 */

import { SPACES } from "../values/text.ts";

/** Letters that have a form of their own at the start of a word. */
const titles: Readonly<Record<string, string>> = {
  "ǆ": "ǅ",
  "Ǆ": "ǅ",
  "ǅ": "ǅ",
  "ǉ": "ǈ",
  "Ǉ": "ǈ",
  "ǈ": "ǈ",
  "ǌ": "ǋ",
  "Ǌ": "ǋ",
  "ǋ": "ǋ",
  "ǳ": "ǲ",
  "Ǳ": "ǲ",
  "ǲ": "ǲ",
};

function titleCharacter(character: string): string {
  const known = titles[character];
  if (known !== undefined) return known;
  // Georgian has capitals for whole words alone.
  if (/[\u10d0-\u10ff]/.test(character)) return character;
  // Greek letters with iota below keep it there.
  if (/[\u1f80-\u1faf\u1fb3\u1fbc\u1fc3\u1fcc\u1ff3\u1ffc]/.test(character)) {
    const code = character.charCodeAt(0);
    return String.fromCharCode(code < 0x1fb0 ? code | 8 : code % 16 === 3 ? code + 9 : code);
  }
  if (character === "ŉ") return "ʼN";
  const [first = "", ...rest] = character.toUpperCase();
  return first + rest.join("").replace(/\u0399$/, "\u0345").toLowerCase();
}

/** Python's `capitalize`. */
export function capitalize(text: string): string {
  const [first = ""] = text;
  return titleCharacter(first) + lowerRest(text, first.length);
}

/** The rest of a text in small letters, as it is behind its start. */
function lowerRest(text: string, from: number): string {
  const whole = text.toLowerCase();
  const start = text.slice(0, from).toLowerCase();
  return whole.startsWith(start) ? whole.slice(start.length) : text.slice(from).toLowerCase();
}

/** Python's `title`: each word begins with a capital. */
export function title(text: string): string {
  let inWord = false;
  let result = "";
  for (const character of text) {
    result += inWord ? character.toLowerCase() : titleCharacter(character);
    inWord = isCased(character);
  }
  return result;
}

/** Python's `swapcase`. */
export function swapcase(text: string): string {
  return Array.from(text, (one) => isUpperCharacter(one) ? one.toLowerCase() : one.toUpperCase()).join("");
}

/** A character without its case: of its capital, since several small letters may have one. Dotless i stays apart, and Cherokee has capitals. */
function foldedCharacter(character: string): string {
  if (character === "ı") return character;
  const capital = character.toUpperCase();
  return /[\u13a0-\u13f5]/.test(capital) ? capital : capital.toLowerCase().replaceAll("ς", "σ");
}

/** Python's `casefold`. */
export function casefold(text: string): string {
  return Array.from(text.replaceAll("ẞ", "ss"), foldedCharacter).join("");
}

function isUpperCharacter(character: string): boolean {
  return /\p{Uppercase}/u.test(character);
}

function isCased(character: string): boolean {
  return /\p{Lowercase}|\p{Uppercase}|\p{Lt}/u.test(character);
}

/** Chinese characters that are numbers. */
const numerals = "一二三四五六七八九十百千万億亿兆零〇壹贰叁肆伍陸陆柒捌玖拾佰仟";
const digitForms =
  "\\u00b2\\u00b3\\u00b9\\u2070\\u2074-\\u2079\\u2080-\\u2089\\u2460-\\u2468\\u2474-\\u247c\\u2488-\\u2490\\u24ea\\u24f5-\\u24fd\\u24ff\\u2776-\\u277e\\u2780-\\u2788\\u278a-\\u2792";

const classes = {
  isalpha: /^\p{L}+$/u,
  isdecimal: /^\p{Nd}+$/u,
  isdigit: new RegExp(`^[\\p{Nd}${digitForms}]+$`, "u"),
  isnumeric: new RegExp(`^[\\p{N}${numerals}]+$`, "u"),
  isalnum: new RegExp(`^[\\p{L}\\p{N}${numerals}]+$`, "u"),
  isspace: new RegExp(`^[${SPACES}]+$`),
  isidentifier: /^[\p{XID_Start}_]\p{XID_Continue}*$/u,
  // deno-lint-ignore no-control-regex -- ASCII has control characters
  isascii: /^[\x00-\x7f]*$/,
  isprintable: /^(?:[^\p{C}\p{Z}]| )*$/u,
} as const;

/** The questions that a method asks about a text. */
export const questions: Readonly<Record<string, (text: string) => boolean>> = {
  ...Object.fromEntries(Object.entries(classes).map(([name, pattern]) => [name, (text: string) => pattern.test(text)])),
  isupper: (text) => /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text),
  islower: (text) => /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text),
  istitle,
};

function istitle(text: string): boolean {
  let found = false;
  let inWord = false;
  for (const character of text) {
    const starts = isUpperCharacter(character) || /\p{Lt}/u.test(character);
    if (starts ? inWord : isCased(character) && !inWord) return false;
    inWord = isCased(character);
    found ||= inWord;
  }
  return found;
}
