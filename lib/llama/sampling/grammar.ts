import { InvalidArgumentError } from "../../errors.ts";
import { checkInteger, checkOptions, checkText, isInstance, show } from "../../support/check.ts";
import { checkGbnf, type GrammarFacts } from "../../gbnf/check.ts";

/** What makes a grammar begin to count: text, a token, or a pattern, where they appear in what is generated. */
export type GrammarTrigger =
  | string
  | { readonly word: string }
  | { readonly token: number | string }
  | { readonly pattern: RegExp };

/** What the text that is generated must be like. */
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

/** The names of {@linkcode GrammarOptions}. */
export const grammarOptionNames = ["grammar", "grammarRoot", "grammarTriggers"] as const;

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

/** Checks a grammar and what belongs to it. Throws {@linkcode InvalidArgumentError}, and GrammarError for a grammar that can't be used. */
export function checkGrammar(options: GrammarOptions): GrammarSettings | undefined {
  const { grammar, grammarRoot, grammarTriggers } = options;
  if (grammar === undefined) {
    for (const [name, value] of Object.entries({ grammarRoot, grammarTriggers })) {
      if (value === undefined) continue;
      throw new InvalidArgumentError(`${name} is given without a grammar; give one, or leave it out`, {
        value,
        expected: "a grammar",
      });
    }
    return undefined;
  }
  const source = checkText("grammar", grammar);
  const root = grammarRoot === undefined ? "root" : checkText("grammarRoot", grammarRoot);
  return { ...checkGbnf(source, root), source, root, triggers: checkTriggers(grammarTriggers) };
}

function checkTriggers(triggers: unknown): GrammarTriggers | undefined {
  if (triggers === undefined) return undefined;
  if (!Array.isArray(triggers) || triggers.length === 0 || triggers.length > MAX_TRIGGERS) {
    throw new InvalidArgumentError(
      `grammarTriggers is ${show(triggers)}; give an array of 1 to ${MAX_TRIGGERS} triggers, or leave it out`,
      {
        value: triggers,
        expected: `an array of 1 to ${MAX_TRIGGERS}`,
      },
    );
  }
  const words: string[] = [];
  const tokens: (number | string)[] = [];
  const patterns: RegExp[] = [];
  triggers.forEach((trigger: unknown, index) => {
    const name = `grammarTriggers[${index}]`;
    if (typeof trigger === "string") return words.push(checkSome(name, trigger));
    const { word, token, pattern } = checkOptions(
      name,
      trigger as { word?: unknown; token?: unknown; pattern?: unknown },
      ["word", "token", "pattern"],
    );
    if ([word, token, pattern].filter((one) => one !== undefined).length !== 1) {
      throw new InvalidArgumentError(`${name} is ${show(trigger)}; give one of word, token and pattern`, {
        value: trigger,
        expected: "one of word, token and pattern",
      });
    }
    if (word !== undefined) return words.push(checkSome(`${name}.word`, word));
    if (token !== undefined) {
      return tokens.push(
        typeof token === "string"
          ? checkSome(`${name}.token`, token)
          : checkInteger(`${name}.token`, token, { min: 0, max: 0x7fff_ffff }),
      );
    }
    if (!isInstance(pattern, RegExp)) {
      throw new InvalidArgumentError(`${name}.pattern is ${show(pattern)}; give a RegExp`, {
        value: pattern,
        expected: "a RegExp",
      });
    }
    // Where its groups begin is needed, and it is looked for from the start each time.
    return patterns.push(
      new RegExp(pattern.source, [...new Set(`${pattern.flags.replaceAll(/[gy]/g, "")}d`)].join("")),
    );
  });
  return { words, tokens, patterns };
}

/** Text that isn't empty. */
export function checkSome(name: string, value: unknown): string {
  const text = checkText(name, value);
  if (text !== "") return text;
  throw new InvalidArgumentError(`${name} is empty; give some text`, { value: "", expected: "some text" });
}
