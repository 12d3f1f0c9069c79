import { GrammarError } from "../errors.ts";
import { checkString, markSound } from "./arguments.ts";
import { type CharSet, charSet, complementOf, everyPoint } from "./char_set.ts";

/** One step of a rule. */
export type GrammarElement =
  | { readonly kind: "chars"; readonly set: CharSet }
  | { readonly kind: "token"; readonly token: number | string; readonly except: boolean }
  | { readonly kind: "rule"; rule: number };

/** The alternatives of a rule, each a sequence of steps. */
export type GrammarRule = readonly (readonly GrammarElement[])[];

/** A parsed grammar, with groups and repetitions turned into rules of their own, as llama.cpp does. */
export interface Grammar {
  /** The rules by number. */
  readonly rules: readonly GrammarRule[];
  /** The numbers of the rules that have a name in the text. */
  readonly names: ReadonlyMap<string, number>;
}

/** More repetitions than this are refused by llama.cpp, or silently become any number. */
export const MAX_REPETITIONS = 2000;
const DEEPEST_NESTING = 200;
const MAX_ELEMENTS = 2_000_000;

/**
 * Reads a grammar in GBNF, as `llama_sampler_init_grammar` does.
 *
 * Throws {@linkcode GrammarError}, which names line and column, and {@linkcode InvalidArgumentError} for anything but a string.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { matchesGrammar, parseGrammar } from "./mod.ts";
 *
 * const grammar = parseGrammar('root ::= "a" [0-9]{2,3}');
 * assert.equal(matchesGrammar(grammar, "a12"), true);
 * assert.equal(matchesGrammar(grammar, "a1"), false);
 * ```
 */
export function parseGrammar(text: string): Grammar {
  checkString("the grammar", text);
  return markSound(new Parser(text).parse());
}

interface Part {
  elements: GrammarElement[];
  /** Number that llama.cpp counts against its limit when this is repeated. */
  weight: number;
}

class Parser {
  readonly #text: string;
  readonly #rules: (GrammarRule | undefined)[] = [];
  readonly #names = new Map<string, number>();
  #at = 0;
  #depth = 0;
  #elements = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Grammar {
    if (this.#text.includes("\0")) this.#fail("a NUL character, at which llama.cpp stops reading");
    this.#space(true);
    while (this.#at < this.#text.length) this.#rule();
    for (const [name, number] of this.#names) {
      if (this.#rules[number] === undefined) this.#fail(`no rule ${JSON.stringify(name)}, though one refers to it`);
    }
    return { rules: this.#rules as GrammarRule[], names: this.#names };
  }

  #fail(what: string): never {
    const before = this.#text.slice(0, this.#at).split("\n");
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    throw new GrammarError(`the grammar has ${what} (${place})`, {
      value: this.#text.slice(this.#at, this.#at + 40),
      expected: "a grammar in GBNF",
    });
  }

  #rule(): void {
    const name = this.#name();
    this.#space(false);
    if (!this.#text.startsWith("::=", this.#at)) this.#fail(`no "::=" after ${JSON.stringify(name)}`);
    this.#at += 3;
    this.#space(true);
    const number = this.#number(name);
    this.#rules[number] = this.#alternatives(false);
    const char = this.#text[this.#at];
    if (char !== undefined && char !== "\r" && char !== "\n") this.#fail(`an unexpected ${JSON.stringify(char)}`);
    this.#space(true);
  }

  #alternatives(nested: boolean): GrammarRule {
    const alternatives = [this.#sequence(nested)];
    while (this.#text[this.#at] === "|") {
      this.#at++;
      this.#space(true);
      alternatives.push(this.#sequence(nested));
    }
    return alternatives;
  }

  #sequence(nested: boolean): GrammarElement[] {
    const done: GrammarElement[] = [];
    let last: Part | undefined;
    for (;;) {
      const part = this.#part();
      if (part !== undefined) {
        if (last !== undefined) done.push(...last.elements);
        last = part;
      } else {
        const times = this.#times(nested);
        if (times === undefined) break;
        if (last === undefined || last.elements.length === 0) return this.#fail("a repetition of nothing");
        last = this.#repeated(last, times);
      }
      this.#count(last.elements.length);
      this.#space(nested);
    }
    if (last !== undefined) done.push(...last.elements);
    return done;
  }

  #part(): Part | undefined {
    const char = this.#text[this.#at];
    if (char === undefined) return undefined;
    if (char === '"') return this.#literal();
    if (char === "[") return this.#class();
    if (char === "<" || char === "!") return this.#token();
    if (char === "(") return this.#group();
    if (char === ".") {
      this.#at++;
      return { elements: [{ kind: "chars", set: everyPoint }], weight: 1 };
    }
    if (!/[a-zA-Z0-9-]/.test(char)) return undefined;
    return { elements: [{ kind: "rule", rule: this.#number(this.#name()) }], weight: 1 };
  }

  #literal(): Part {
    this.#at++;
    const elements: GrammarElement[] = [];
    while (this.#text[this.#at] !== '"') {
      const point = this.#char("a quotation that isn't closed");
      elements.push({ kind: "chars", set: [point, point] });
    }
    this.#at++;
    return { elements, weight: 1 };
  }

  #class(): Part {
    this.#at++;
    const negated = this.#text[this.#at] === "^";
    if (negated) this.#at++;
    const ranges: [number, number][] = [];
    const open = "a class of characters that isn't closed";
    while (this.#text[this.#at] !== "]") {
      const first = this.#char(open);
      let last = first;
      if (this.#text[this.#at] === "-" && this.#text[this.#at + 1] !== "]") {
        this.#at++;
        last = this.#char(open);
        if (last < first) this.#fail("a range of characters that runs backwards");
      }
      ranges.push([first, last]);
    }
    if (ranges.length === 0) this.#fail("an empty class of characters");
    this.#at++;
    const set = charSet(...ranges);
    return { elements: [{ kind: "chars", set: negated ? complementOf(set) : set }], weight: 1 };
  }

  #token(): Part {
    const except = this.#text[this.#at] === "!";
    if (except) this.#at++;
    const found = /<(?:\[(\d{1,9})\]|([^>]*))>/y;
    found.lastIndex = this.#at;
    const match = found.exec(this.#text);
    if (match === null) return this.#fail("a token that isn't written as <name> or <[number]>");
    this.#at = found.lastIndex;
    const token = match[1] === undefined ? match[2] ?? "" : Number(match[1]);
    return { elements: [{ kind: "token", token, except }], weight: 1 };
  }

  #group(): Part {
    if (++this.#depth > DEEPEST_NESTING) this.#fail(`parentheses nested more than ${DEEPEST_NESTING} deep`);
    this.#at++;
    this.#space(true);
    const before = this.#rules.length;
    const rule = this.#new();
    this.#rules[rule] = this.#alternatives(true);
    if (this.#text[this.#at] !== ")") this.#fail("a parenthesis that isn't closed");
    this.#at++;
    this.#depth--;
    return { elements: [{ kind: "rule", rule }], weight: Math.max(1, this.#rules.length - before) };
  }

  #times(nested: boolean): { min: number; max: number } | undefined {
    const simple = { "*": { min: 0, max: Infinity }, "+": { min: 1, max: Infinity }, "?": { min: 0, max: 1 } };
    const char = this.#text[this.#at] as keyof typeof simple | "{" | undefined;
    if (char === undefined || (char !== "{" && !Object.hasOwn(simple, char))) return undefined;
    this.#at++;
    this.#space(nested);
    if (char !== "{") return simple[char];
    const min = this.#integer();
    let max = min;
    this.#space(nested);
    if (this.#text[this.#at] === ",") {
      this.#at++;
      this.#space(nested);
      max = /[0-9]/.test(this.#text[this.#at] ?? "") ? this.#integer() : Infinity;
      this.#space(nested);
    }
    if (this.#text[this.#at] !== "}") this.#fail("a repetition that isn't closed by }");
    this.#at++;
    if (max < min) this.#fail(`a repetition from ${min} to ${max}`);
    if (min > MAX_REPETITIONS || (max !== Infinity && max > MAX_REPETITIONS)) {
      this.#fail(`a repetition of more than ${MAX_REPETITIONS}, which llama.cpp doesn't keep to`);
    }
    return { min, max };
  }

  /** S{m,n} is m times S and n − m rules inside one another that may be left out. */
  #repeated({ elements, weight }: Part, { min, max }: { min: number; max: number }): Part {
    const total = max !== Infinity && max > 0 ? max : Math.max(min, 1);
    if (weight * total > MAX_REPETITIONS) this.#fail(`repetitions of more than ${MAX_REPETITIONS} rules`);
    this.#count(elements.length * total);
    const result: GrammarElement[] = [];
    for (let time = 0; time < min; time++) result.push(...elements);
    let inner: number | undefined;
    for (let time = 0; time < (max === Infinity ? 1 : max - min); time++) {
      const rule = this.#new();
      const rest: number | undefined = max === Infinity ? rule : inner;
      const again: GrammarElement[] = rest === undefined ? [] : [{ kind: "rule", rule: rest }];
      this.#rules[rule] = [[...elements, ...again], []];
      inner = rule;
    }
    if (inner !== undefined) result.push({ kind: "rule", rule: inner });
    return { elements: result, weight: weight * total };
  }

  #count(more: number): void {
    this.#elements += more;
    if (this.#elements > MAX_ELEMENTS) {
      this.#fail(`more than ${MAX_ELEMENTS} steps once its repetitions are written out`);
    }
  }

  #char(open: string): number {
    const point = this.#text.codePointAt(this.#at);
    if (point === undefined) return this.#fail(open);
    this.#at += point > 0xffff ? 2 : 1;
    if (point !== 0x5c) return point;
    const escape = this.#text[this.#at++];
    const size = { x: 2, u: 4, U: 8 }[escape ?? ""];
    if (size !== undefined) return this.#hex(size);
    const plain = { t: 9, r: 13, n: 10 }[escape ?? ""];
    if (plain !== undefined) return plain;
    if (escape !== undefined && '\\"[]-'.includes(escape)) return escape.charCodeAt(0);
    this.#at -= 2;
    return this.#fail("an unknown escape");
  }

  #hex(size: number): number {
    const digits = this.#text.slice(this.#at, this.#at + size);
    if (digits.length !== size || !/^[0-9a-fA-F]*$/.test(digits)) this.#fail(`no ${size} hexadecimal digits`);
    this.#at += size;
    return Number.parseInt(digits, 16);
  }

  #integer(): number {
    const digits = /[0-9]*/y;
    digits.lastIndex = this.#at;
    const [found = ""] = digits.exec(this.#text) ?? [];
    if (found === "") this.#fail("no number of repetitions");
    this.#at += found.length;
    return Number(found);
  }

  #name(): string {
    const name = /[a-zA-Z0-9-]*/y;
    name.lastIndex = this.#at;
    const [found = ""] = name.exec(this.#text) ?? [];
    if (found === "") this.#fail("no name of a rule");
    this.#at += found.length;
    return found;
  }

  #number(name: string): number {
    let number = this.#names.get(name);
    if (number === undefined) this.#names.set(name, number = this.#new());
    return number;
  }

  #new(): number {
    this.#rules.push(undefined);
    return this.#rules.length - 1;
  }

  #space(lines: boolean): void {
    const space = lines ? /(?:[ \t\r\n]|#[^\r\n]*)*/y : /(?:[ \t]|#[^\r\n]*)*/y;
    space.lastIndex = this.#at;
    space.exec(this.#text);
    this.#at = space.lastIndex;
  }
}
