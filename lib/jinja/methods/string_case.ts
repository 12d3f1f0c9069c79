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
  const small = smallCharacters(text);
  let at = 0;
  for (const character of text) {
    result += inWord ? small[at] : titleCharacter(character);
    inWord = isCased(character);
    at++;
  }
  return result;
}

/** The characters of a text in small letters, each as it is where it stands: a sigma at the end of a word has a form of its own. */
function smallCharacters(text: string): readonly string[] {
  const whole = text.toLowerCase();
  let at = 0;
  return Array.from(text, (one) => whole.slice(at, at += one.toLowerCase().length));
}

/** Python's `swapcase`. */
export function swapcase(text: string): string {
  const small = smallCharacters(text);
  return Array.from(text, (one, at) => {
    if (isUpperCharacter(one)) return small[at];
    return isLowerCharacter(one) ? one.toUpperCase() : one;
  }).join("");
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

function isLowerCharacter(character: string): boolean {
  return /\p{Lowercase}/u.test(character);
}

function isCased(character: string): boolean {
  return /\p{Lowercase}|\p{Uppercase}|\p{Lt}/u.test(character);
}

/** Chinese characters that are numbers: `Numeric_Type=Numeric` among the letters. */
const numerals =
  "㐅㒃㠪㭍一七万三两九二五亖京亿什仟仨伍佰俩倆億兆兩八六十千卄卅卌叁参參叄四壱壹幺廾廿弌弍弎弐拐拾捌柒洞漆玖百皕秭肆萬貮貳贰鈎钩阡陆陌陸零" +
  "\uf96b\uf973\uf978\uf9b2\uf9d1\uf9d3\uf9fd𠀁𠁤𠃢𠄡𠤪𠦃𠦌𠦜𠫪𠫽𠬙𢎐𢦘𣬛𦉭\u{2f890}";
/** `Numeric_Type=Digit`. */
const digitForms =
  "\\u00b2\\u00b3\\u00b9\\u1369-\\u1371\\u19da\\u2070\\u2074-\\u2079\\u2080-\\u2089\\u2460-\\u2468\\u2474-\\u247c\\u2488-\\u2490\\u24ea" +
  "\\u24f5-\\u24fd\\u24ff\\u2776-\\u277e\\u2780-\\u2788\\u278a-\\u2792\\u{10a40}-\\u{10a43}\\u{10e60}-\\u{10e68}\\u{11052}-\\u{1105a}\\u{1f100}-\\u{1f10a}";

const classes = {
  isalpha: /^\p{L}+$/u,
  isdecimal: /^\p{Nd}+$/u,
  isdigit: new RegExp(`^[\\p{Nd}${digitForms}]+$`, "u"),
  isnumeric: new RegExp(`^[\\p{N}${numerals}]+$`, "u"),
  isalnum: /^[\p{L}\p{N}]+$/u,
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
