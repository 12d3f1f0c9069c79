/**
 * From a prompt to its tokens.
 *
 * @module
 */

import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import { type Guard, unguard } from "../chat/special_token_guard.ts";
import { infillTokens } from "./infill_prompt.ts";
import type { Prompt } from "./protocol.ts";
import { type SpecialToken, specialTokens } from "./special_tokens.ts";
import { tokenize } from "./tokenizer.ts";

type Vocab = Pointer<"llama_vocab">;

/** The tokens of a prompt, with the model's start token exactly once and no end token. */
export function promptTokens(native: Native, vocab: Vocab, prompt: Prompt): Int32Array {
  const { lib } = native;
  const tokens = tokensOf(native, vocab, prompt);
  const start = lib.llama_vocab_bos(vocab);
  if (start < 0 || !lib.llama_vocab_get_add_bos(vocab) || tokens[0] === start) return tokens;
  const withStart = new Int32Array(tokens.length + 1);
  withStart[0] = start;
  withStart.set(tokens, 1);
  return withStart;
}

function tokensOf(native: Native, vocab: Vocab, prompt: Prompt): Int32Array {
  switch (prompt.kind) {
    case "text":
      return tokenize(native.lib, vocab, prompt.text, { addSpecial: false, parseSpecial: prompt.parseSpecial });
    case "template":
      return templateTokens(native, vocab, prompt.text, prompt.guard);
    case "infill":
      return infillTokens(native.lib, vocab, prompt);
  }
}

/**
 * The tokens of what a template made. Text of control tokens that came from a message holds the guard: it is text and no token.
 * Without a guard nothing in the messages looks like one, and llama.cpp does it all.
 */
function templateTokens(native: Native, vocab: Vocab, text: string, guard: Guard | undefined): Int32Array {
  const { lib } = native;
  if (guard === undefined) return tokenize(lib, vocab, text, { addSpecial: false, parseSpecial: true });
  const tokens: number[] = [];
  for (const part of splitAtSpecial(text, specialTokens(native, vocab), guard)) {
    if (typeof part === "number") tokens.push(part);
    else {for (const id of tokenize(lib, vocab, unguard(part, guard), { addSpecial: false, parseSpecial: false })) {
        tokens.push(id);
      }}
  }
  return Int32Array.from(tokens);
}

/** Cuts a text at the special tokens in it, which come longest first, but not at one behind the guard's mark: what is between two stays one piece. */
export function splitAtSpecial(text: string, special: readonly SpecialToken[], guard: Guard): (string | number)[] {
  let parts: (string | number)[] = [text];
  for (const token of special) {
    if (text.includes(token.text)) {
      parts = parts.flatMap((part) => typeof part === "number" ? [part] : splitAt(part, token, guard));
    }
  }
  return parts.filter((part) => part !== "");
}

function splitAt(text: string, token: SpecialToken, guard: Guard): (string | number)[] {
  const pieces = text.split(new RegExp(`(?<!${guard.mark})${RegExp.escape(token.text)}`, "u"));
  return pieces.flatMap((piece, index) => {
    let kept = piece;
    if (index > 0 && token.stripAfter) kept = kept.replace(/^[ \t\n\v\f\r]+/, "");
    if (index < pieces.length - 1 && token.stripBefore) kept = kept.replace(/[ \t\n\v\f\r]+$/, "");
    return index === 0 ? [kept] : [token.id, kept];
  });
}
