import { JinjaLimitError, JinjaSyntaxError } from "../errors.ts";
import { type Token, tokenize } from "./lexer.ts";

/** The tokens of a template, one after the other. */
export class TokenStream {
  readonly #tokens: readonly Token[];
  readonly #maxDepth: number;
  #at = 0;
  #depth = 0;

  /** Of a template whose expressions and blocks may be nested `maxDepth` deep. */
  constructor(template: string, maxDepth: number) {
    this.#tokens = tokenize(template);
    this.#maxDepth = maxDepth;
  }

  /** The next token. */
  get next(): Token {
    return this.#tokens[this.#at] ?? this.#end;
  }

  /** The token behind the next. */
  get second(): Token {
    return this.#tokens[this.#at + 1] ?? this.#end;
  }

  get #end(): Token {
    return this.#tokens.at(-1) ?? { type: "end", value: "", line: 1 };
  }

  /** Takes the next token. */
  take(): Token {
    const token = this.next;
    this.#at++;
    return token;
  }

  /** Whether the next token is this operator. */
  isOperator(value: string): boolean {
    return this.next.type === "operator" && this.next.value === value;
  }

  /** Whether the next token is one of these names. */
  isName(...names: string[]): boolean {
    const { next } = this;
    return next.type === "name" && names.includes(next.value);
  }

  /** Takes the next token if it is this operator. */
  takeOperator(value: string): boolean {
    const found = this.isOperator(value);
    if (found) this.#at++;
    return found;
  }

  /** Takes the next token if it is this name. */
  takeName(name: string): boolean {
    const found = this.isName(name);
    if (found) this.#at++;
    return found;
  }

  /** Takes an operator. Throws {@linkcode JinjaSyntaxError} for another token. */
  expectOperator(value: string): void {
    if (!this.takeOperator(value)) this.expected(value);
  }

  /** Takes a name. Throws {@linkcode JinjaSyntaxError} for another token. */
  expectName(): string {
    const { next } = this;
    if (next.type !== "name") return this.expected("name");
    this.#at++;
    return next.value;
  }

  /** Takes the end of a tag. Throws {@linkcode JinjaSyntaxError} for another token. */
  expectEnd(type: "variableEnd" | "blockEnd"): void {
    if (this.next.type !== type) {
      this.expected(type === "blockEnd" ? "end of statement block" : "end of print statement");
    }
    this.#at++;
  }

  /** Throws the error of a token that isn't the right one. */
  expected(what: string): never {
    const { type, value } = this.next;
    if (type === "end") return this.fail(`unexpected end of template, expected '${what}'`);
    return this.fail(`expected token '${what}', got '${value === "" ? type : value}'`);
  }

  /** Throws a {@linkcode JinjaSyntaxError} at the next token. */
  fail(message: string): never {
    throw new JinjaSyntaxError(message, this.next.line);
  }

  /** Parses something that can hold itself. */
  nested<T>(parse: () => T): T {
    if (++this.#depth > this.#maxDepth) {
      throw new JinjaLimitError("expressions within one another", this.#maxDepth);
    }
    const result = parse();
    this.#depth--;
    return result;
  }
}
