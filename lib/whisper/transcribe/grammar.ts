/**
 * Grammars as whisper.cpp takes them.
 *
 * @module
 */

import { GrammarError } from "../../errors.ts";
import { parseGrammar } from "../../gbnf/mod.ts";
import { type CharSet, rangesOf } from "../../gbnf/char_set.ts";
import { checkGbnf } from "../../gbnf/check.ts";
import { checkText } from "../../../base/check.ts";

/** A grammar's rules, one after another: pairs of a `whisper_gretype` and a code point or the number of a rule. */
export interface SpeechGrammar {
  /** All rules' elements. */
  elements: Uint32Array;
  /** Index of each rule's first element. */
  starts: readonly number[];
  /** The rule that a text begins with. */
  root: number;
}

/** `enum whisper_gretype`. */
const END = 0, ALTERNATIVE = 1, RULE = 2, CHARACTER = 3, UPPER = 5, OTHER = 6;
/** No character: for sets that hold none. */
const NONE = 0xffff_ffff;

/** Reads a grammar in GBNF. Throws InvalidArgumentError and {@linkcode GrammarError}. */
export function checkGrammar(source: unknown, root: unknown): SpeechGrammar {
  const text = checkText("grammar", source);
  const name = root === undefined ? "root" : checkText("grammarRoot", root);
  const { namesTokens } = checkGbnf(text, name);
  if (namesTokens) {
    throw new GrammarError("the grammar names tokens, which whisper.cpp's grammars can't; write their text", {
      value: "<token>",
      expected: "a grammar of characters",
    });
  }
  const { rules, names } = parseGrammar(text);
  const elements: number[] = [];
  const starts = rules.map((sequences) => {
    const start = elements.length;
    for (const [index, sequence] of sequences.entries()) {
      if (index > 0) elements.push(ALTERNATIVE, 0);
      for (const element of sequence) {
        if (element.kind === "rule") elements.push(RULE, element.rule);
        else if (element.kind === "chars") elements.push(...characters(element.set));
      }
    }
    elements.push(END, 0);
    return start;
  });
  return { elements: Uint32Array.from(elements), starts, root: names.get(name) as number };
}

function characters(set: CharSet): number[] {
  const elements: number[] = [];
  for (const [first, last] of rangesOf(set)) {
    elements.push(elements.length === 0 ? CHARACTER : OTHER, first);
    if (last > first) elements.push(UPPER, last);
  }
  return elements.length === 0 ? [CHARACTER, NONE] : elements;
}
