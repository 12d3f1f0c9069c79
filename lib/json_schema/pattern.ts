/**
 * Regular expressions of JavaScript, read into trees.
 *
 * @module
 */

import { type CharSet, charSet, complementOf, unionOf } from "../gbnf/char_set.ts";
import { PatternError, propertyPoints } from "./unicode.ts";

export { PatternError } from "./unicode.ts";

/** A regular expression as it was written. */
export type PatternNode =
  | { readonly kind: "chars"; readonly set: CharSet }
  | { readonly kind: "start" | "end" }
  | { readonly kind: "look"; readonly of: PatternNode; readonly negative: boolean }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly of: PatternNode; readonly min: number; readonly max: number };

const LONGEST_PATTERN = 20_000;
const DEEPEST_PATTERN = 200;

const digits: CharSet = [0x30, 0x39];
const words: CharSet = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
const spaces: CharSet = charSet(
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
);
/** Characters that `.` matches. */
export const dot: CharSet = complementOf([0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029]);
const shorthands: Readonly<Record<string, CharSet>> = {
  d: digits,
  D: complementOf(digits),
  w: words,
  W: complementOf(words),
  s: spaces,
  S: complementOf(spaces),
};
const controls: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, v: 11, f: 12, 0: 0 };

/** Whether a text is a regular expression, with the flag `u` or without. */
export function isRegExp(source: string): boolean {
  return ["u", ""].some((flags) => {
    try {
      new RegExp(source, flags);
      return true;
    } catch {
      return false;
    }
  });
}

/** Reads a regular expression that {@linkcode isRegExp} takes. Throws {@linkcode PatternError} for what no grammar can say. */
export function parsePattern(source: string): PatternNode {
  return new PatternParser(source).parse();
}

class PatternParser {
  readonly #chars: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#chars = [...source];
    if (this.#chars.length > LONGEST_PATTERN) throw new PatternError(`it is longer than ${LONGEST_PATTERN} characters`);
  }

  parse(): PatternNode {
    const node = this.#choice();
    if (this.#at < this.#chars.length) throw new PatternError(`there is an unexpected ${this.#chars[this.#at]}`);
    return node;
  }

  #choice(): PatternNode {
    if (++this.#depth > DEEPEST_PATTERN) throw new PatternError(`it has groups more than ${DEEPEST_PATTERN} deep`);
    const parts = [this.#sequence()];
    while (this.#skip("|")) parts.push(this.#sequence());
    this.#depth--;
    return parts.length === 1 ? parts[0] as PatternNode : { kind: "choice", parts };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    for (let char = this.#peek(); char !== undefined && char !== "|" && char !== ")"; char = this.#peek()) {
      parts.push(this.#quantified(this.#atom(char)));
    }
    return parts.length === 1 ? parts[0] as PatternNode : { kind: "sequence", parts };
  }

  #quantified(of: PatternNode): PatternNode {
    const times = this.#times();
    if (times === undefined) return of;
    // Lazy ones match the same texts.
    this.#skip("?");
    return { kind: "repeat", of, ...times };
  }

  #times(): { min: number; max: number } | undefined {
    if (this.#skip("*")) return { min: 0, max: Infinity };
    if (this.#skip("+")) return { min: 1, max: Infinity };
    if (this.#skip("?")) return { min: 0, max: 1 };
    if (this.#peek() !== "{") return undefined;
    const found = /^\{(\d+)(?:(,)(\d*))?\}/.exec(this.#chars.slice(this.#at, this.#at + 40).join(""));
    if (found === null) return undefined;
    this.#at += found[0].length;
    const min = Number(found[1]);
    return { min, max: found[2] === undefined ? min : found[3] === "" ? Infinity : Number(found[3]) };
  }

  #atom(char: string): PatternNode {
    this.#at++;
    if (char === "^") return { kind: "start" };
    if (char === "$") return { kind: "end" };
    if (char === ".") return { kind: "chars", set: dot };
    if (char === "(") return this.#group();
    if (char === "[") return { kind: "chars", set: this.#class() };
    if (char === "\\") return this.#escape();
    return point(char.codePointAt(0) ?? 0);
  }

  #group(): PatternNode {
    let look: boolean | undefined;
    if (this.#skip("?")) {
      if (this.#skip("=")) look = false;
      else if (this.#skip("!")) look = true;
      else if (this.#skip("<")) {
        if (this.#peek() === "=" || this.#peek() === "!") throw new PatternError("it looks behind");
        while (this.#next() !== ">");
      } else if (!this.#skip(":")) throw new PatternError("it changes flags inside");
    }
    const of = this.#choice();
    this.#next();
    return look === undefined ? of : { kind: "look", of, negative: look };
  }

  #escape(): PatternNode {
    const char = this.#peek() ?? "";
    if (char === "b" || char === "B") throw new PatternError(`it has \\${char}, the border of a word`);
    if (/[1-9k]/.test(char)) throw new PatternError("it refers back to a group");
    const set = this.#shorthand();
    return set === undefined ? point(this.#escapedPoint()) : { kind: "chars", set };
  }

  /** `\d` and its like, behind the backslash. */
  #shorthand(): CharSet | undefined {
    const char = this.#peek() ?? "";
    const set = shorthands[char];
    if (set !== undefined) {
      this.#at++;
      return set;
    }
    if ((char !== "p" && char !== "P") || this.#chars[this.#at + 1] !== "{") return undefined;
    const end = this.#chars.indexOf("}", this.#at);
    const property = this.#chars.slice(this.#at + 2, end).join("");
    this.#at = end + 1;
    const found = propertyPoints(property);
    return char === "p" ? found : complementOf(found);
  }

  #escapedPoint(): number {
    const char = this.#next();
    if (char in controls) return controls[char] as number;
    if (char === "c" && /[a-zA-Z]/.test(this.#peek() ?? "")) return this.#next().charCodeAt(0) % 32;
    if (char === "x") return this.#hex(2) ?? 0x78;
    if (char !== "u") return char.codePointAt(0) ?? 0;
    if (this.#skip("{")) {
      const end = this.#chars.indexOf("}", this.#at);
      const value = Number.parseInt(this.#chars.slice(this.#at, end).join(""), 16);
      this.#at = end + 1;
      return value;
    }
    const high = this.#hex(4);
    if (high === undefined) return 0x75;
    if (high < 0xd800 || high > 0xdbff || this.#peek() !== "\\" || this.#chars[this.#at + 1] !== "u") return high;
    const before = this.#at;
    this.#at += 2;
    const low = this.#hex(4);
    if (low !== undefined && low >= 0xdc00 && low <= 0xdfff) return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    this.#at = before;
    return high;
  }

  #hex(size: number): number | undefined {
    const text = this.#chars.slice(this.#at, this.#at + size).join("");
    if (text.length !== size || !/^[0-9a-fA-F]+$/.test(text)) return undefined;
    this.#at += size;
    return Number.parseInt(text, 16);
  }

  #class(): CharSet {
    const negated = this.#skip("^");
    const sets: CharSet[] = [];
    while (!this.#skip("]")) {
      const first = this.#classAtom();
      if (this.#peek() === "-" && this.#chars[this.#at + 1] !== "]" && typeof first === "number") {
        const before = this.#at++;
        const last = this.#classAtom();
        if (typeof last === "number") {
          sets.push([first, last]);
          continue;
        }
        this.#at = before;
      }
      sets.push(typeof first === "number" ? [first, first] : first);
    }
    const set = sets.length === 0 ? [] : unionOf(...sets, []);
    return negated ? complementOf(set) : set;
  }

  #classAtom(): number | CharSet {
    const char = this.#next();
    if (char !== "\\") return char.codePointAt(0) ?? 0;
    if (this.#skip("b")) return 8;
    if (this.#skip("-")) return 0x2d;
    return this.#shorthand() ?? this.#escapedPoint();
  }

  #peek(): string | undefined {
    return this.#chars[this.#at];
  }

  #next(): string {
    const char = this.#chars[this.#at++];
    if (char === undefined) throw new PatternError("it ends too early");
    return char;
  }

  #skip(char: string): boolean {
    if (this.#chars[this.#at] !== char) return false;
    this.#at++;
    return true;
  }
}

function point(value: number): PatternNode {
  return { kind: "chars", set: [value, value] };
}
