import assert from "node:assert/strict";
import test from "node:test";
import { GrammarError } from "../../../lib/errors.ts";
import { GrammarMatcher, matchesGrammar, parseGrammar } from "../../../lib/gbnf/mod.ts";

/** What is wrong with a grammar, by the words of the error. */
const refused: readonly (readonly [grammar: string, words: string])[] = [
  ['root ::= "a', "a quotation that isn't closed (line 1, column 12)"],
  ['root = "a"', 'no "::=" after "root" (line 1, column 6)'],
  ['::= "a"', "no name of a rule (line 1, column 1)"],
  ['root ::= "a" )', 'an unexpected ")" (line 1, column 14)'],
  ['root ::= ("a"', "a parenthesis that isn't closed (line 1, column 14)"],
  [`root ::= ${"(".repeat(201)}`, "parentheses nested more than 200 deep (line 1, column 210)"],
  ["root ::= *", "a repetition of nothing (line 1, column 11)"],
  ['root ::= "\\q"', "an unknown escape (line 1, column 11)"],
  ["root ::= [z-a]", "a range of characters that runs backwards (line 1, column 14)"],
  ["root ::= []", "an empty class of characters (line 1, column 11)"],
  ["root ::= <a", "a token that isn't written as <name> or <[number]> (line 1, column 10)"],
  ['root ::= "a"{2', "a repetition that isn't closed by } (line 1, column 15)"],
  ['root ::= "a"{}', "no number of repetitions (line 1, column 14)"],
  ['root ::= "a"{3,2}', "a repetition from 3 to 2 (line 1, column 18)"],
  ['root ::= "a"{2001}', "a repetition of more than 2000, which llama.cpp doesn't keep to (line 1, column 19)"],
  ['root ::= ("a"{2,50}){50}', "repetitions of more than 2000 rules (line 1, column 25)"],
  ['root ::= "\\xZ1"', "no 2 hexadecimal digits (line 1, column 13)"],
  [
    `root ::= "${"a".repeat(1500)}"{2000}`,
    "more than 2000000 steps once its repetitions are written out (line 1, column 1518)",
  ],
  ["root ::= other", 'no rule "other", though one refers to it (line 1, column 15)'],
  ['root ::= "\0"', "a NUL character, at which llama.cpp stops reading (line 1, column 1)"],
];

test("a grammar that is wrong is refused by what is wrong and where", () => {
  for (const [grammar, words] of refused) {
    assert.throws(() => parseGrammar(grammar), (error) => {
      assert.ok(error instanceof GrammarError, grammar.slice(0, 40));
      assert.equal(error.message, `the grammar has ${words}`);
      return true;
    });
  }
});

test("a rule that isn't there, or begins with itself, is refused when a text is matched", () => {
  const grammar = parseGrammar('root ::= more "a"\nmore ::= more "b" | "c"');
  assert.throws(() => new GrammarMatcher(grammar, "other"), /no rule "other"; name the one where texts begin/);
  assert.throws(() => matchesGrammar(grammar, "ca"), /too many paths at one point, or a rule that begins with itself/);
});
