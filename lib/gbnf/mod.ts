/**
 * Grammars in GBNF: reading them, and following a text through one without a model.
 *
 * @module
 */

export { type Grammar, type GrammarElement, type GrammarRule, parseGrammar } from "./parse.ts";
export { GrammarMatcher, matchesGrammar } from "./matcher.ts";
export type { CharSet } from "./char_set.ts";
