import { InvalidArgumentError } from "../../errors.ts";
import { checkInteger, checkOptions, show } from "../../support/check.ts";
import { checkSome } from "./grammar.ts";

/** What is added to the logit of a token, or to those of each token of a text. */
export type LogitBias =
  | { readonly token: number; readonly bias: number }
  | { readonly text: string; readonly bias: number };

/** A checked bias. A text becomes tokens on the native thread. */
export interface BiasSettings {
  /** The token, or the text. */
  token: number | string;
  /** What is added; -Infinity makes it impossible. */
  bias: number;
}

const MAX_BIASES = 100_000;
/** A logit beyond all others, which no sum or temperature makes infinite. */
const LARGEST_BIAS = 1e9;

/** Checks `logitBias`. Throws {@linkcode InvalidArgumentError}. */
export function checkBias(biases: unknown): readonly BiasSettings[] {
  if (biases === undefined) return [];
  const list = Array.isArray(biases) ? fromList(biases) : fromRecord(biases);
  if (list.length <= MAX_BIASES) return list;
  throw new InvalidArgumentError(`logitBias has ${list.length} entries; give at most ${MAX_BIASES}`, {
    value: list.length,
    expected: `at most ${MAX_BIASES}`,
  });
}

function fromList(biases: readonly unknown[]): BiasSettings[] {
  return biases.map((one, index) => {
    const name = `logitBias[${index}]`;
    const { token, text, bias } = checkOptions(
      name,
      one as { token?: unknown; text?: unknown; bias?: unknown },
      ["token", "text", "bias"],
    );
    if ((token === undefined) === (text === undefined)) {
      throw new InvalidArgumentError(`${name} needs one of token and text`, {
        value: one,
        expected: "one of token and text",
      });
    }
    return {
      token: token === undefined ? checkSome(`${name}.text`, text) : checkToken(`${name}.token`, token),
      bias: checkAmount(`${name}.bias`, bias),
    };
  });
}

function fromRecord(biases: unknown): BiasSettings[] {
  const record = checkObject(biases);
  return Object.entries(record).map(([key, bias]) => {
    const token = /^\d+$/.test(key) ? Number(key) : key;
    return { token: checkToken("a key of logitBias", token), bias: checkAmount(`logitBias[${key}]`, bias) };
  });
}

function checkObject(value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null) return { ...value };
  throw new InvalidArgumentError(`logitBias is ${show(value)}; give an object of tokens or an array`, {
    value,
    expected: "an object of tokens, or an array of { token, bias } and { text, bias }",
  });
}

function checkToken(name: string, value: unknown): number {
  return checkInteger(name, value, { min: 0, max: 0x7fff_ffff });
}

function checkAmount(name: string, value: unknown): number {
  if (value === -Infinity) return value;
  if (typeof value === "number" && Math.abs(value) <= LARGEST_BIAS) return value;
  throw new InvalidArgumentError(
    `${name} is ${show(value)}; give a number from -1e9 to 1e9, or -Infinity for a token that never comes`,
    {
      value,
      expected: "a number from -1e9 to 1e9 or -Infinity",
    },
  );
}
