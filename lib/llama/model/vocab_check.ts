import { isArray, isInstance, refuse } from "../../../base/check.ts";

/** Returns token ids as C takes them. Throws {@linkcode InvalidArgumentError} for one that isn't in the vocabulary, at which C would abort. */
export function checkTokens(tokens: Int32Array | readonly number[], vocabularySize: number): Int32Array {
  if (!isInstance(tokens, Int32Array) && !isArray(tokens)) {
    return refuse("tokens", tokens, "an Int32Array or an array of numbers");
  }
  // Each is read once: an array may have getters, and memory may be shared with another thread.
  const checked = new Int32Array(tokens.length);
  for (let index = 0; index < checked.length; index++) {
    const token = tokens[index];
    if (token !== undefined && Number.isInteger(token) && token >= 0 && token < vocabularySize) {
      checked[index] = token;
      continue;
    }
    return refuse(`tokens[${index}]`, token, `an integer from 0 to ${vocabularySize - 1}`);
  }
  return checked;
}
