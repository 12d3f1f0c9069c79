/**
 * The tokens of a prompt.
 *
 * @module
 */

import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import { infillTokens } from "./infill_prompt.ts";
import type { Prompt } from "./protocol.ts";
import { splitAtSpecial } from "./special_text.ts";
import { specialTokens } from "./special_tokens.ts";
import { tokenize } from "./tokenizer.ts";

type Vocab = Pointer<"llama_vocab">;

/** Returns the tokens of a prompt, with the model's start token exactly once and no end token. */
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
      return templateTokens(native, vocab, prompt.text, prompt.outside);
    case "infill":
      return infillTokens(native.lib, vocab, prompt);
  }
}

/** Returns the tokens of a rendered template. If no message has the text of a control token, llama.cpp tokenizes it all. */
function templateTokens(native: Native, vocab: Vocab, text: string, outside: readonly number[]): Int32Array {
  if (outside.length > 0) return templateParts(native, vocab, text, outside);
  return tokenize(native.lib, vocab, text, { addSpecial: false, parseSpecial: true });
}

/** Returns the tokens of a rendered template; text of control tokens in the ranges `outside` stays text. */
export function templateParts(native: Native, vocab: Vocab, text: string, outside: readonly number[]): Int32Array {
  const tokens: number[] = [];
  for (const part of splitAtSpecial(text, specialTokens(native, vocab), outside)) {
    if (typeof part === "number") tokens.push(part);
    else {for (const id of tokenize(native.lib, vocab, part, { addSpecial: false, parseSpecial: false })) {
        tokens.push(id);
      }}
  }
  return Int32Array.from(tokens);
}
