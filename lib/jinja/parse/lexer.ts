/**
 * Splits a template into text and tokens, with Jinja's control of white space: `trim_blocks` and `lstrip_blocks` are on.
 *
 * @module
 */

import { JinjaSyntaxError } from "../errors.ts";
import { endOf, SPACES } from "../values/text.ts";
import { unescapeString } from "./string_literal.ts";

/** A token. */
export type Token =
  | { readonly type: "data" | "name" | "string" | "operator"; readonly value: string; readonly line: number }
  | { readonly type: "integer"; readonly value: bigint; readonly line: number }
  | { readonly type: "float"; readonly value: number; readonly line: number }
  | {
    readonly type: "variableBegin" | "variableEnd" | "blockBegin" | "blockEnd" | "end";
    readonly value: string;
    readonly line: number;
  };

const space = new RegExp(`[${SPACES}]+`, "y");
const begin = /\{[%{#]/g;
const rawBegin = new RegExp(`\\{%([-+]?)[${SPACES}]*raw[${SPACES}]*(?:-%\\}[${SPACES}]*|%\\})`, "y");
const rawEnd = new RegExp(`\\{%([-+]?)[${SPACES}]*endraw[${SPACES}]*(?:\\+%\\}|-%\\}[${SPACES}]*|%\\}\\n?)`, "g");
const commentEnd = new RegExp(`\\+#\\}|-#\\}[${SPACES}]*|#\\}\\n?`, "g");
const variableEnd = new RegExp(`-\\}\\}[${SPACES}]*|\\}\\}`, "y");
const blockEnd = new RegExp(`\\+%\\}|-%\\}[${SPACES}]*|%\\}\\n?`, "y");
const float = /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy;
const integer = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const name = /[\p{L}\p{N}\p{M}\p{Pc}\u00b7]+/uy;
const identifier = /^[\p{XID_Start}_]\p{XID_Continue}*$/u;
const text = /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y;
const operator = /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y;
const closing: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Splits a template into tokens. Throws {@linkcode JinjaSyntaxError}. */
export function tokenize(template: string): Token[] {
  return new Lexer(template).run();
}

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  #line = 1;
  #lineAt = 0;
  /** Whether what came before ended a line. */
  #startsLine = true;

  constructor(template: string) {
    this.#source = template.replace(/\r\n?/g, "\n").replace(/\n$/, "");
  }

  run(): Token[] {
    while (this.#at < this.#source.length) this.#root();
    this.#push({ type: "end", value: "", line: this.#lineNow() });
    return this.#tokens;
  }

  #root(): void {
    begin.lastIndex = this.#at;
    const found = begin.exec(this.#source);
    if (found === null) {
      this.#data(this.#source.slice(this.#at));
      this.#at = this.#source.length;
      return;
    }
    const before = this.#source.slice(this.#at, found.index);
    const [mark] = found;
    if (mark === "{%") {
      const raw = this.#match(rawBegin, found.index);
      if (raw !== undefined) return this.#raw(before, raw);
    }
    const after = found.index + 2;
    const sign = this.#source[after] === "-" || this.#source[after] === "+" ? this.#source[after] : "";
    this.#data(this.#stripped(before, sign, mark === "{{"));
    this.#moveTo(after + sign.length, false);
    if (mark === "{#") return this.#comment();
    this.#tag(mark === "{{" ? "variable" : "block");
  }

  /** The text before a tag, without the white space that the tag takes away. */
  #stripped(before: string, sign: string | undefined, isVariable: boolean): string {
    if (sign === "-") return before.slice(0, endOf(before));
    if (sign === "+" || isVariable) return before;
    const lineStart = before.lastIndexOf("\n") + 1;
    if (lineStart === 0 && !this.#startsLine) return before;
    return isSpace(before.slice(lineStart)) ? before.slice(0, lineStart) : before;
  }

  #raw(before: string, tag: RegExpExecArray): void {
    this.#data(this.#stripped(before, tag[1], false));
    this.#moveTo(tag.index + tag[0].length, tag[0].endsWith("\n"));
    rawEnd.lastIndex = this.#at;
    const end = rawEnd.exec(this.#source);
    if (end === null) return this.#fail("Missing end of raw directive");
    this.#data(this.#stripped(this.#source.slice(this.#at, end.index), end[1], false));
    this.#moveTo(end.index + end[0].length, end[0].endsWith("\n"));
  }

  #comment(): void {
    commentEnd.lastIndex = this.#at;
    const end = commentEnd.exec(this.#source);
    if (end === null) return this.#fail("Missing end of comment tag");
    this.#moveTo(end.index + end[0].length, end[0].endsWith("\n"));
  }

  #tag(kind: "variable" | "block"): void {
    this.#push({ type: `${kind}Begin`, value: "", line: this.#lineNow() });
    const end = kind === "variable" ? variableEnd : blockEnd;
    const open: string[] = [];
    while (this.#at < this.#source.length) {
      const ended = open.length === 0 ? this.#match(end, this.#at) : undefined;
      if (ended !== undefined) {
        this.#push({ type: `${kind}End`, value: "", line: this.#lineNow() });
        return this.#moveTo(this.#at + ended[0].length, ended[0].endsWith("\n"));
      }
      this.#token(open);
    }
  }

  #token(open: string[]): void {
    const line = this.#lineNow();
    const take = (pattern: RegExp): string | undefined => {
      const value = this.#match(pattern, this.#at)?.[0];
      if (value !== undefined) this.#at += value.length;
      return value;
    };
    if (take(space) !== undefined) return;
    let value = take(float);
    if (value !== undefined) return this.#push({ type: "float", value: Number(value.replaceAll("_", "")), line });
    value = take(integer);
    if (value !== undefined) return this.#push({ type: "integer", value: BigInt(value.replaceAll("_", "")), line });
    value = take(name);
    if (value !== undefined) {
      if (!identifier.test(value)) this.#fail("Invalid character in identifier");
      return this.#push({ type: "name", value, line });
    }
    value = take(text);
    if (value !== undefined) {
      return this.#push({ type: "string", value: unescapeString(value.slice(1, -1), line), line });
    }
    value = take(operator);
    if (value === undefined) return this.#fail(`unexpected char '${this.#source[this.#at]}'`);
    this.#balance(value, open);
    this.#push({ type: "operator", value, line });
  }

  #balance(value: string, open: string[]): void {
    const close = closing[value];
    if (close !== undefined) open.push(close);
    else if (value === ")" || value === "]" || value === "}") {
      const expected = open.pop();
      if (expected === undefined) this.#fail(`unexpected '${value}'`);
      if (expected !== value) this.#fail(`unexpected '${value}', expected '${expected}'`);
    }
  }

  #match(pattern: RegExp, at: number): RegExpExecArray | undefined {
    pattern.lastIndex = at;
    return pattern.exec(this.#source) ?? undefined;
  }

  #data(value: string): void {
    if (value !== "") this.#push({ type: "data", value, line: this.#lineNow() });
  }

  #push(token: Token): void {
    this.#tokens.push(token);
  }

  #moveTo(at: number, startsLine: boolean): void {
    this.#at = at;
    this.#startsLine = startsLine;
  }

  #lineNow(): number {
    for (let next = this.#source.indexOf("\n", this.#lineAt); next >= 0 && next < this.#at;) {
      this.#line++;
      this.#lineAt = next + 1;
      next = this.#source.indexOf("\n", this.#lineAt);
    }
    return this.#line;
  }

  #fail(message: string): never {
    throw new JinjaSyntaxError(message, this.#lineNow());
  }
}

function isSpace(value: string): boolean {
  space.lastIndex = 0;
  return space.exec(value)?.[0].length === value.length;
}
