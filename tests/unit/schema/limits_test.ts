import assert from "node:assert/strict";
import test from "node:test";
import { SchemaTooComplexError } from "../../../lib/errors.ts";
import { empty, rule, sequence, text } from "../../../lib/json_schema/gbnf.ts";
import { regexOf } from "../../../lib/json_schema/number_automaton.ts";
import { parsePattern, PatternError } from "../../../lib/json_schema/pattern.ts";
import { automatonOf, automatonOfStates, RegexStore, TooManyStates } from "../../../lib/json_schema/regex.ts";
import { Rules } from "../../../lib/json_schema/rules.ts";
import { countWork, quickly } from "../../../lib/json_schema/work.ts";

test("trees and their work are limited, and no character comes in late", () => {
  const trees = new RegexStore();
  assert.throws(() => {
    for (let point = 0; point < 200_000; point++) trees.chars([point, point]);
  }, TooManyStates);
  const work = new RegexStore();
  const [a, b] = [work.text("a"), work.text("b")];
  assert.throws(() => {
    for (let time = 0; time < 300_001; time++) work.concat(a, b);
  }, TooManyStates);
  const late = new RegexStore();
  assert.ok(late.parts.length > 0);
  assert.throws(() => late.text("a"), TypeError);
  assert.throws(() => regexOf(new RegexStore(), sequence(text("a"), rule("b"))), /the rule b is no regular expression/);
});

test("automata have no more states than they may", () => {
  const store = new RegexStore();
  const text = store.text("abc");
  assert.throws(() => automatonOf(store, text, 3), TooManyStates);
  assert.equal(automatonOf(store, text, 4)?.ends.length, 4);
  const counting = {
    key: String,
    next: (state: number) => [state < 3 ? state + 1 : undefined],
    ends: (state: number) => state === 3,
  };
  assert.throws(() => automatonOfStates(0, counting, [[0x61, 0x61]], 3), TooManyStates);
  assert.equal(automatonOfStates(0, counting, [[0x61, 0x61]], 4)?.ends.length, 4);
});

test("a grammar has no more rules than it may, and work that takes long isn't quick", () => {
  const rules = new Rules("");
  assert.throws(() => {
    for (let number = 0; number <= 50_000; number++) rules.set(`r${number}`, empty);
  }, SchemaTooComplexError);
  const done = (units: number) =>
    quickly(() => {
      countWork(units);
      return "done";
    });
  assert.equal(done(2_000), "done");
  assert.equal(done(2_001), undefined);
});

test("patterns that are none, or change flags inside, are refused with the reason", () => {
  for (
    const [pattern, reason] of [
      [")", "there is an unexpected )"],
      ["(a", "it ends too early"],
      ["(?i:a)", "it changes flags inside"],
    ] as const
  ) {
    assert.throws(() => parsePattern(pattern), (error) => {
      assert.ok(error instanceof PatternError);
      assert.equal(error.message, reason);
      return true;
    });
  }
});
