import { InvalidArgumentError } from "../../errors.ts";
import { checkInteger, checkNonEmptyText, isInstance, refuse } from "../../../base/check.ts";
import { arrayOf, custom, options, type RulesOf, type Settings, text } from "../../../base/options.ts";
import { type LateGrammar, lateGrammar } from "./late_grammar.ts";
import { checkGbnf, type GrammarFacts } from "../../gbnf/check.ts";

/** A string, token or pattern in the generated text from which a grammar applies. */
export type GrammarTrigger =
  | string
  | { readonly word: string }
  | { readonly token: number | string }
  | { readonly pattern: RegExp };

/** Options that constrain the generated text by a grammar. */
export interface GrammarOptions {
  /**
   * A grammar in GBNF that the whole generated text matches, unless it is cut by `maxTokens`, a stop string or a full context. One of more than 65,536
   * characters is checked on another thread: what is wrong with it rejects the generation. Default none. C: `llama_sampler_init_grammar`.
   */
  grammar?: string | undefined;
  /** The start rule of the grammar. Default `"root"`. C: `grammar_root`. */
  grammarRoot?: string | undefined;
  /**
   * Applies the grammar only from the first of these triggers on; the text before is free. A trigger is a string; a token by its id or its text; or a
   * pattern, where the grammar begins at the first group that isn't empty, or at the match. Control tokens match as their text. The grammar must be able
   * to begin with the trigger. 1 to 64, default none: the grammar applies from the start. C: `llama_sampler_init_grammar_lazy_patterns`.
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

/** Characters of a grammar from which on it is checked on another thread. */
const LONG_GRAMMAR = 1 << 16;

/** Returns a long grammar of options that are valid on their own, to be checked on another thread; `undefined` for a short one, or none. */
export function longGrammar(
  { grammar, grammarRoot, grammarTriggers }: Settings<typeof grammarRules>,
): LateGrammar | undefined {
  if (grammar === undefined || grammar.length <= LONG_GRAMMAR) return undefined;
  return lateGrammar({ source: grammar, root: grammarRoot ?? "root", triggers: byKind(grammarTriggers) });
}

/** Checks the grammar of options that are valid on their own. Throws {@linkcode InvalidArgumentError} and GrammarError. */
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
  // The indices of its groups are needed, and each search begins at the start.
  return new RegExp(value.source, [...new Set(`${value.flags.replaceAll(/[gy]/g, "")}d`)].join(""));
}
