import type { ContextState } from "./context_state.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A prompt without its last token, and the bytes that what comes next must begin with. */
export interface HealedPrompt {
  /** The tokens that are left. */
  readonly tokens: Int32Array;
  /** The bytes of the token that was taken away, a character each. */
  readonly begin: string;
}

/** Takes the last token of a prompt away, when it is text: the model may then cut the text there as it was trained to. */
export function healPrompt(prompt: Int32Array, { bytes }: ContextState): HealedPrompt {
  const last = prompt.at(-1);
  if (last === undefined || prompt.length < 2) return { tokens: prompt, begin: "" };
  const begin = String.fromCharCode(...bytes.of(last));
  return begin === "" ? { tokens: prompt, begin } : { tokens: prompt.subarray(0, -1), begin };
}

/** The tokens that don't begin as they must. */
export function* unlike(begin: string, { pieces }: Vocabulary): Generator<number> {
  for (const [token, piece] of pieces.entries()) {
    if (piece === "" || !(piece.startsWith(begin) || begin.startsWith(piece))) yield token;
  }
}
