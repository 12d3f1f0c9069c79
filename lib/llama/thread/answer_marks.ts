/**
 * Support of the generation loop for answers with a syntax of their own: control tokens as text, and a limit to reasoning.
 *
 * @module
 */

import type { Lib } from "../../../ffi/tables.ts";
import type { ContextState } from "./context_state.ts";
import type { AnswerMarks } from "./protocol.ts";
import { type TokenBytes, tokenize } from "./tokenizer.ts";

/** The bytes of tokens in the output: control tokens have none, but for those of the answer's syntax. */
export class AnswerBytes {
  readonly #bytes: TokenBytes;
  readonly #shown: ReadonlyMap<number, Uint8Array>;

  /** Shows control tokens with the texts of `marks`. */
  constructor(lib: Lib, { vocab, bytes }: ContextState, marks: AnswerMarks | undefined) {
    this.#bytes = bytes;
    this.#shown = new Map(
      marks?.shown.flatMap((mark) => {
        const [token, ...more] = tokenize(lib, vocab, mark, { addSpecial: false, parseSpecial: true });
        return token === undefined || more.length > 0 ? [] : [[token, new TextEncoder().encode(mark)] as const];
      }),
    );
  }

  /** Returns the bytes of a token, valid until the next call. */
  of(token: number): Uint8Array {
    return this.#shown.get(token) ?? this.#bytes.of(token);
  }
}

/** Counts the tokens of the reasoning, and closes it at the limit. */
export class ReasoningBudget {
  readonly #most: number;
  readonly #open: string;
  readonly #close: string;
  readonly #forced: Int32Array;
  #state: "before" | "inside" | "closing" | "done";
  #text = "";
  #count = 0;
  #closed = 0;

  /** Makes a budget for one answer. */
  constructor(lib: Lib, state: ContextState, budget: NonNullable<AnswerMarks["budget"]>) {
    this.#most = budget.tokens;
    this.#open = binary(budget.open);
    this.#close = binary(budget.close);
    this.#forced = tokenize(lib, state.vocab, budget.closing, { addSpecial: false, parseSpecial: true });
    this.#state = budget.opened ? "inside" : "before";
    this.#closeWhenFull();
  }

  /** Returns the token that is forced next; `undefined` if the model may choose. */
  next(): number | undefined {
    if (this.#state !== "closing") return undefined;
    const token = this.#forced[this.#closed++];
    if (this.#closed >= this.#forced.length) this.#state = "done";
    return token;
  }

  /** Records a token's bytes. */
  add(bytes: Uint8Array): void {
    if (this.#state === "before") this.#begin(bytes);
    else if (this.#state === "inside") this.#goOn(bytes);
  }

  #begin(bytes: Uint8Array): void {
    this.#text = (this.#text + String.fromCharCode(...bytes)).trimStart();
    if (this.#text.startsWith(this.#open)) {
      this.#state = "inside";
      this.#text = "";
      this.#closeWhenFull();
    } else if (!this.#open.startsWith(this.#text)) this.#state = "done";
  }

  #goOn(bytes: Uint8Array): void {
    this.#text = this.#text.slice(-this.#close.length) + String.fromCharCode(...bytes);
    this.#count++;
    if (this.#text.includes(this.#close)) this.#state = "done";
    else this.#closeWhenFull();
  }

  #closeWhenFull(): void {
    if (this.#state === "inside" && this.#count >= this.#most) {
      this.#state = this.#forced.length > 0 ? "closing" : "done";
    }
  }
}

/** Returns a string of one character per byte. */
function binary(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}
