import { InvalidArgumentError } from "../../errors.ts";
import { checkInteger, checkNonEmptyText, isInstance, refuse } from "../../support/check.ts";
import { arrayOf, custom, options, type RulesOf, type Settings, text } from "../../support/options.ts";
import { checkGbnf, type GrammarFacts } from "../../gbnf/check.ts";

/** What makes a grammar begin to count: text, a token, or a pattern, where they appear in what is generated. */
export type GrammarTrigger =
  | string
  | { readonly word: string }
  | { readonly token: number | string }
  | { readonly pattern: RegExp };

/** Options that constrain the generated text by a grammar. */
export interface GrammarOptions {
  /** A grammar in GBNF that the whole generated text keeps to; it then ends by the model's end token, or is cut by `maxTokens`. Default none. C: `llama_sampler_init_grammar`. */
  grammar?: string | undefined;
  /** The rule of the grammar where the text begins. Default `"root"`. C: `grammar_root`. */
  grammarRoot?: string | undefined;
  /**
   * Let the grammar count only from the first of these on: until one is generated the text is free. Text as it is; a token by its id or its text; a
   * pattern, where the grammar begins at its first group that isn't empty, or at the match. Control tokens count as their text. The grammar must be able
   * to begin with the trigger. Up to 64, default none: it counts from the start. C: `llama_sampler_init_grammar_lazy_patterns`.
   */
  grammarTriggers?: readonly GrammarTrigger[] | undefined;
}

/** A checked grammar. Plain data: it goes to the native thread. */
export interface GrammarSettings extends GrammarFacts {
  /** The grammar. */
  source: string;
  /** See {@linkcode GrammarOptions.grammarRoot}. */
  root: string;
  /** See {@linkcode GrammarOptions.grammarTriggers}. */
  triggers: GrammarTriggers | undefined;
}

/** Checked triggers by kind. */
export interface GrammarTriggers {
  /** Texts. */
  words: readonly string[];
  /** Tokens by their ids, or texts that must be one token. */
  tokens: readonly (number | string)[];
  /** Patterns. */
  patterns: readonly RegExp[];
}

const MAX_TRIGGERS = 64;
const TRIGGER_WORDS = "a string, or an object with one of word, token and pattern";

/** {@linkcode GrammarOptions}, declared. */
export const grammarRules = {
  grammar: text(),
  grammarRoot: text(),
  grammarTriggers: arrayOf(checkTrigger, { min: 1, max: MAX_TRIGGERS }),
} as const satisfies RulesOf<GrammarOptions>;

const spec = options("the grammar", grammarRules);

/** Checks a grammar and its options. Throws {@linkcode InvalidArgumentError}, and GrammarError for a grammar that can't be used. */
export function checkGrammar(given: GrammarOptions): GrammarSettings | undefined {
  return grammarSettings(spec.check(given));
}

/** Checks the grammar of options that are right by themselves. Throws {@linkcode InvalidArgumentError} and GrammarError. */
export function grammarSettings(
  { grammar, grammarRoot, grammarTriggers }: Settings<typeof grammarRules>,
): GrammarSettings | undefined {
  if (grammar !== undefined) {
    const root = grammarRoot ?? "root";
    return { ...checkGbnf(grammar, root), source: grammar, root, triggers: byKind(grammarTriggers) };
  }
  for (const [name, value] of Object.entries({ grammarRoot, grammarTriggers })) {
    if (value === undefined) continue;
    throw new InvalidArgumentError(`${name} is given without a grammar; add one, or leave ${name} out`, {
      value,
      expected: "a grammar",
    });
  }
  return undefined;
}

type Trigger = { readonly word: string } | { readonly token: number | string } | { readonly pattern: RegExp };

function byKind(triggers: readonly Trigger[] | undefined): GrammarTriggers | undefined {
  return triggers && {
    words: triggers.flatMap((one) => "word" in one ? [one.word] : []),
    tokens: triggers.flatMap((one) => "token" in one ? [one.token] : []),
    patterns: triggers.flatMap((one) => "pattern" in one ? [one.pattern] : []),
  };
}

const triggerSpec = options("a trigger", {
  word: custom("a string that isn't empty", checkNonEmptyText),
  token: custom("a token, or its text", checkTokenOrText),
  pattern: custom("a RegExp", checkPattern),
});

function checkTrigger(name: string, value: unknown): Trigger {
  if (typeof value === "string") return { word: checkNonEmptyText(name, value) };
  const { word, token, pattern } = triggerSpec.checkAt(name, value);
  const [one, ...more] = [
    ...(word === undefined ? [] : [{ word }]),
    ...(token === undefined ? [] : [{ token }]),
    ...(pattern === undefined ? [] : [{ pattern }]),
  ];
  return one === undefined || more.length > 0 ? refuse(name, value, TRIGGER_WORDS) : one;
}

function checkTokenOrText(name: string, value: unknown): number | string {
  return typeof value === "string"
    ? checkNonEmptyText(name, value)
    : checkInteger(name, value, { min: 0, max: 0x7fff_ffff });
}

function checkPattern(name: string, value: unknown): RegExp {
  if (!isInstance(value, RegExp)) return refuse(name, value, "a RegExp");
  // Where its groups begin is needed, and it is looked for from the start each time.
  return new RegExp(value.source, [...new Set(`${value.flags.replaceAll(/[gy]/g, "")}d`)].join(""));
}
