import { InvalidArgumentError } from "../../errors.ts";
import { checkArray, checkInteger, checkNonEmptyText, isArray, isPlainObject, refuse } from "../../../base/check.ts";
import { custom, options } from "../../../base/options.ts";

/** A value added to the logit of a token, or to the logits of each token of a text. */
export type LogitBias =
  | { readonly token: number; readonly bias: number }
  | { readonly text: string; readonly bias: number };

/** A checked bias. A text is tokenized on the native thread. */
export interface BiasSettings {
  /** The token, or the text. */
  token: number | string;
  /** The value that is added; -Infinity makes it impossible. */
  bias: number;
}

const MAX_BIASES = 100_000;
/** Beyond all logits, and no sum or temperature makes it infinite. */
const MAX_BIAS = 1e9;
const AMOUNT_WORDS = "a number from -1e9 to 1e9, or -Infinity for a token that never comes";

/** The words for a value of `logitBias` that is right. */
export const BIAS_WORDS =
  `an object of biases by token, or an array of at most ${MAX_BIASES} { token, bias } and { text, bias }`;

const entrySpec = options("logitBias", {
  token: custom("a token", checkToken),
  text: custom("a string that isn't empty", checkNonEmptyText),
  bias: custom(AMOUNT_WORDS, checkAmount, { required: true }),
});

/** Checks `logitBias`. Throws {@linkcode InvalidArgumentError}. */
export function checkBias(name: string, value: unknown): readonly BiasSettings[] {
  if (isArray(value)) return checkArray(name, value, checkEntry, { min: 0, max: MAX_BIASES });
  if (!isPlainObject(value)) return refuse(name, value, BIAS_WORDS);
  const entries = Object.entries(value);
  if (entries.length > MAX_BIASES) {
    throw new InvalidArgumentError(`${name} has ${entries.length} entries; expected at most ${MAX_BIASES}`, {
      value: entries.length,
      expected: `at most ${MAX_BIASES}`,
    });
  }
  return entries.map(([key, bias]) => ({
    token: checkToken(`a key of ${name}`, /^\d+$/.test(key) ? Number(key) : key),
    bias: checkAmount(`${name}[${key}]`, bias),
  }));
}

function checkEntry(name: string, value: unknown): BiasSettings {
  const { token, text, bias } = entrySpec.checkAt(name, value);
  if ((token === undefined) === (text === undefined)) refuse(name, value, "an object with one of token and text");
  return { token: token ?? text ?? "", bias };
}

function checkToken(name: string, value: unknown): number {
  return checkInteger(name, value, { min: 0, max: 0x7fff_ffff });
}

function checkAmount(name: string, value: unknown): number {
  const right = value === -Infinity || (typeof value === "number" && Math.abs(value) <= MAX_BIAS);
  return right ? value : refuse(name, value, AMOUNT_WORDS);
}
