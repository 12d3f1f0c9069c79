/**
 * From a prompt to its tokens.
 *
 * @module
 */

import type { Pointer } from "../../../ffi/pointer.ts";
import type { Lib } from "../../../ffi/tables.ts";
import type { Prompt } from "./protocol.ts";
import { type SpecialToken, specialTokens } from "./special_tokens.ts";
import { tokenize } from "./tokenizer.ts";

type Vocab = Pointer<"llama_vocab">;

/** The tokens of a prompt, with the model's start token exactly once and no end token. */
export function promptTokens(lib: Lib, vocab: Vocab, prompt: Prompt): Int32Array {
  const tokens = prompt.kind === "template"
    ? templateTokens(lib, vocab, prompt.text, prompt.guard)
    : tokenize(lib, vocab, prompt.text, { addSpecial: false, parseSpecial: prompt.parseSpecial });
  const start = lib.llama_vocab_bos(vocab);
  if (start < 0 || !lib.llama_vocab_get_add_bos(vocab) || tokens[0] === start) return tokens;
  const withStart = new Int32Array(tokens.length + 1);
  withStart[0] = start;
  withStart.set(tokens, 1);
  return withStart;
}

/**
 * The tokens of what a template made. Text of control tokens that came from a message holds the guard character: it is text and no token.
 * Without a guard nothing in the messages looks like one, and llama.cpp does it all.
 */
function templateTokens(lib: Lib, vocab: Vocab, text: string, guard: string | undefined): Int32Array {
  if (guard === undefined) return tokenize(lib, vocab, text, { addSpecial: false, parseSpecial: true });
  const tokens: number[] = [];
  for (const part of splitAtSpecial(text, specialTokens(lib, vocab))) {
    if (typeof part === "number") tokens.push(part);
    else for (const id of tokenize(lib, vocab, part.replaceAll(guard, ""), { addSpecial: false, parseSpecial: false })) tokens.push(id);
  }
  return Int32Array.from(tokens);
}

/** Cuts a text at the special tokens in it, which come longest first: what is between two of them stays one piece of text. */
export function splitAtSpecial(text: string, special: readonly SpecialToken[]): (string | number)[] {
  let parts: (string | number)[] = [text];
  for (const token of special) {
    if (text.includes(token.text)) parts = parts.flatMap((part) => typeof part === "number" ? [part] : splitAt(part, token));
  }
  return parts.filter((part) => part !== "");
}

function splitAt(text: string, token: SpecialToken): (string | number)[] {
  const pieces = text.split(token.text);
  return pieces.flatMap((piece, index) => {
    let kept = piece;
    if (index > 0 && token.stripAfter) kept = kept.replace(/^[ \t\n\v\f\r]+/, "");
    if (index < pieces.length - 1 && token.stripBefore) kept = kept.replace(/[ \t\n\v\f\r]+$/, "");
    return index === 0 ? [kept] : [token.id, kept];
  });
}
