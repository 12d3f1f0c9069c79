import { InvalidArgumentError } from "../../errors.ts";
import { checkArray, checkNonEmptyText, show } from "../../../base/check.ts";
import { boolean, oneOf, options, type RulesOf, type Settings, signal, text } from "../../../base/options.ts";
import type { TokenScores } from "../thread/score.ts";

/** Options of `model.score` and `model.perplexity`. */
export interface ScoreOptions {
  /** Read the text of control tokens in the prompt, such as `<|im_start|>`, as those tokens. Default true. C: `parse_special`. */
  parseSpecial?: boolean | undefined;
  /** Stops the work; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Options of `model.choose`. */
export interface ChooseOptions extends ScoreOptions {
  /** Text before each label. Default `""`: give `" "` for labels that are words of their own. */
  separator?: string | undefined;
  /** Compares the labels by the sum of their tokens' log-probabilities, or by the mean, which doesn't favor short labels. Default `"sum"`. */
  compare?: "sum" | "mean" | undefined;
}

/** The probability of a text after a prompt. Plain data. */
export interface ContinuationScore {
  /** The text. */
  text: string;
  /** Its tokens, from the first that differs from the prompt's: a text can change the tokens at the prompt's end. */
  tokens: number[];
  /** The natural logarithm of each token's probability after those before it. */
  logprobs: number[];
  /** Their sum: the logarithm of the text's probability. */
  logprob: number;
  /** Their mean. */
  meanLogprob: number;
}

/** The score of one label. */
export interface ChoiceScore<L extends string | number = string | number> extends ContinuationScore {
  /** The label. */
  label: L;
  /** Its probability among the labels. */
  probability: number;
}

/** The result of `model.choose`. Plain data. */
export interface Choice<L extends string | number = string | number> {
  /** The likeliest label. */
  label: L;
  /** Its index in the list. */
  index: number;
  /** Its probability among the labels. */
  probability: number;
  /** All labels, in the order given. */
  labels: ChoiceScore<L>[];
  /** The mean of the labels weighted by their probabilities, if all of them are numbers: a value on a scale. */
  expected?: number;
}

/** The result of `model.perplexity`. Plain data. */
export interface Perplexity {
  /** The perplexity: e to the power of minus {@linkcode Perplexity.meanLogprob}. */
  perplexity: number;
  /** The logarithm of the text's probability. */
  logprob: number;
  /** The mean logarithm of a token's probability. */
  meanLogprob: number;
  /** The tokens that were scored: all but the first. */
  tokens: number[];
  /** The natural logarithm of each one's probability. */
  logprobs: number[];
}

const MAX_TEXTS = 10_000;

const scoreRules = {
  parseSpecial: boolean({ default: true }),
  signal: signal(),
} as const satisfies RulesOf<ScoreOptions>;

const chooseRules = {
  ...scoreRules,
  separator: text({ default: "" }),
  compare: oneOf(["sum", "mean"], { default: "sum" }),
} as const satisfies RulesOf<ChooseOptions>;

const scoreSpec = options("model.score", scoreRules);
const chooseSpec = options("model.choose", chooseRules);

/** {@linkcode ScoreOptions}, checked. */
export type ScoreSettings = Settings<typeof scoreRules>;

/** Checks the options of `model.score` or `model.perplexity`. Throws {@linkcode InvalidArgumentError}. */
export function checkScore(where: string, given: ScoreOptions | undefined): ScoreSettings {
  return scoreSpec.check(given, where);
}

/** Checks the options of `model.choose`. Throws {@linkcode InvalidArgumentError}. */
export function checkChoose(given: ChooseOptions | undefined): Settings<typeof chooseRules> {
  return chooseSpec.check(given);
}

/** Checks texts that may follow a prompt. Throws {@linkcode InvalidArgumentError}. */
export function checkContinuations(name: string, texts: unknown, min: number): string[] {
  return checkArray(name, texts, checkNonEmptyText, { min, max: MAX_TEXTS });
}

/** Checks labels: all different, texts or numbers. Throws {@linkcode InvalidArgumentError}. */
export function checkLabels<L extends string | number>(
  labels: readonly L[],
  separator: string,
): { texts: string[]; labels: readonly L[] } {
  const checkLabel = (name: string, label: unknown): string =>
    checkNonEmptyText(name, typeof label === "number" ? String(label) : label);
  const texts = checkArray("labels", labels, checkLabel, { min: 2, max: MAX_TEXTS });
  const twice = texts.find((text, index) => texts.indexOf(text) !== index);
  if (twice !== undefined) {
    throw new InvalidArgumentError(`labels has ${show(twice)} twice; expected each label once`, {
      value: twice,
      expected: "each label once",
    });
  }
  return { texts: texts.map((text) => separator + text), labels: [...labels] };
}

/** Returns the score of a continuation from its tokens' scores. */
export function continuationScore(text: string, { tokens, logprobs }: TokenScores): ContinuationScore {
  const logprob = logprobs.reduce((sum, one) => sum + one, 0);
  return {
    text,
    tokens: [...tokens],
    logprobs: [...logprobs],
    logprob,
    meanLogprob: logprobs.length === 0 ? 0 : logprob / logprobs.length,
  };
}

/** Returns the choice among scored labels. */
export function choice<L extends string | number>(
  labels: readonly L[],
  scores: readonly ContinuationScore[],
  compare: "sum" | "mean",
): Choice<L> {
  const values = scores.map(({ logprob, meanLogprob }) => compare === "sum" ? logprob : meanLogprob);
  const most = Math.max(...values);
  const weights = values.map((value) => Math.exp(value - most));
  const sum = weights.reduce((a, b) => a + b, 0);
  const all = scores.map((score, at): ChoiceScore<L> => ({
    label: labels[at] as L,
    probability: (weights[at] ?? 0) / sum,
    ...score,
  }));
  const index = values.indexOf(most);
  const expected = all.every(({ label }) => typeof label === "number")
    ? { expected: all.reduce((total, { label, probability }) => total + Number(label) * probability, 0) }
    : {};
  return { label: labels[index] as L, index, probability: all[index]?.probability ?? 0, labels: all, ...expected };
}

/** Returns the perplexity of a scored text. */
export function perplexityOf({ tokens, logprobs }: TokenScores): Perplexity {
  const { logprob, meanLogprob, ...score } = continuationScore("", { tokens, logprobs });
  return { perplexity: Math.exp(-meanLogprob), logprob, meanLogprob, tokens: score.tokens, logprobs: score.logprobs };
}
