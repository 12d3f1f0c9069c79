import { InvalidArgumentError } from "../errors.ts";
import { show } from "../options.ts";

/** Token ids as C takes them. Throws {@linkcode InvalidArgumentError} for one that isn't in the vocabulary, on which C would abort. */
export function checkTokens(tokens: Int32Array | readonly number[], vocabularySize: number): Int32Array {
  if (!(tokens instanceof Int32Array) && !Array.isArray(tokens)) {
    throw new InvalidArgumentError(`tokens is ${show(tokens)}; give an Int32Array or an array of numbers`, {
      value: tokens,
      expected: "an Int32Array or an array of numbers",
    });
  }
  for (const [index, token] of tokens.entries()) {
    if (Number.isInteger(token) && token >= 0 && token < vocabularySize) continue;
    throw new InvalidArgumentError(
      `the token at index ${index} is ${show(token)}; give whole numbers from 0 to ${vocabularySize - 1}`,
      {
        value: token,
        expected: `a whole number from 0 to ${vocabularySize - 1}`,
      },
    );
  }
  return Int32Array.from(tokens);
}
