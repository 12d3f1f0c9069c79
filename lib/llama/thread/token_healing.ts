import type { ContextState } from "./context_state.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A prompt without its last token, and the bytes that the output must begin with. */
export interface HealedPrompt {
  /** The remaining tokens. */
  readonly tokens: Int32Array;
  /** The bytes of the removed token, one character each. */
  readonly begin: string;
}

/** Removes the last token of a prompt, if it is text: the model then tokenizes that text as in training. */
export function healPrompt(prompt: Int32Array, { bytes }: ContextState): HealedPrompt {
  const last = prompt.at(-1);
  if (last === undefined || prompt.length < 2) return { tokens: prompt, begin: "" };
  const begin = String.fromCharCode(...bytes.of(last));
  return begin === "" ? { tokens: prompt, begin } : { tokens: prompt.subarray(0, -1), begin };
}

/** Returns the tokens that don't begin with the given bytes. */
export function* unlike(begin: string, { pieces }: Vocabulary): Generator<number> {
  for (const [token, piece] of pieces.entries()) {
    if (piece === "" || !(piece.startsWith(begin) || begin.startsWith(piece))) yield token;
  }
}
