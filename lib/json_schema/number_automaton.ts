/**
 * Numbers that are multiples of others, or aren't, as automata over their digits.
 *
 * @module
 */

import { SchemaTooComplexError, UnsupportedKeywordError } from "../errors.ts";
import type { CharSet } from "../gbnf/char_set.ts";
import { hasPoint } from "../gbnf/char_set.ts";
import { choice, type Expr, text } from "./gbnf.ts";
import { decimalOf, isMultiple } from "./multiples.ts";
import { intervalsOf, type NumberRules, plainExpr } from "./numbers.ts";
import { type Automaton, automatonOfStates, type Regex, RegexStore, TooManyStates } from "./regex.ts";

/** Digits in all: as many as every number keeps. */
const EXACT_DIGITS = 15;
/** Digits behind the point where only multiples are forbidden. */
const FREE_FRACTION = 6;
/** Remainders that are told apart. */
const MAX_REMAINDERS = 2000;
const MAX_STATES = 12_000;
const MAX_LISTED = 200;

/** Whether rules need more than bounds. */
export function needsDigits({ multiples, notMultiples, fraction }: NumberRules): boolean {
  return multiples.length + notMultiples.length > 0 || fraction;
}

/** Whether all numbers that keep to rules have so few digits that the automaton has them. */
export function hasFewDigits({ integer, min, max, notMultiples, fraction }: NumberRules): boolean {
  const most = Math.max(Math.abs(min), Math.abs(max));
  return integer
    ? most < 10 ** EXACT_DIGITS
    : notMultiples.length === 0 && !fraction && most < 10 ** (EXACT_DIGITS - 10);
}

const symbols = [..."-.0123456789"];
const parts: readonly CharSet[] = symbols.map((char) => {
  const point = char.codePointAt(0) as number;
  return [point, point];
});

/** Modulus of the digits, and the number of those behind the point. */
interface Remainder {
  /** Divisor of the number in units of 10 to the power of −places. */
  readonly modulus: number;
  /** Digits behind the point that count. */
  readonly places: number;
  /** Whether it has to be a multiple, or must not be one. */
  readonly wanted: boolean;
}

/** State after some digits of a number: the number of those behind the point, -1 before it, and the remainder; `other` when a digit too far behind isn't 0. */
interface DigitState {
  readonly places: number;
  readonly remainder: number;
  readonly other: boolean;
}

/** Returns the automaton of the numbers that keep to rules; `undefined` when there are none. Throws {@linkcode SchemaTooComplexError}. */
export function numberAutomaton(rules: NumberRules): Automaton | undefined {
  try {
    return exactAutomaton(rules);
  } catch (error) {
    if (!(error instanceof TooManyStates)) throw error;
    throw new SchemaTooComplexError(
      `the numbers at ${
        rules.path || "the schema's root"
      } take more than ${MAX_STATES} states; make the bounds or the divisors simpler`,
      { path: rules.path, value: rules.multiples[0], expected: `at most ${MAX_STATES} states` },
    );
  }
}

function exactAutomaton(rules: NumberRules): Automaton | undefined {
  const remainders = remaindersOf(rules);
  const places = Math.min(
    10,
    Math.max(rules.integer ? 0 : 1, ...remainders.map((one) => one.wanted ? one.places : FREE_FRACTION)),
  );
  const whole = EXACT_DIGITS - (rules.integer ? 0 : places);
  const store = new RegexStore();
  const bounds = intervalsOf(rules).map((interval) => regexOf(store, plainExpr(interval)));
  const digit = store.chars([0x30, 0x39]);
  const point = store.concat(store.text("."), store.repeat(digit, 1, places));
  const shape = store.concat(
    store.repeat(store.text("-"), 0, 1),
    store.concat(store.repeat(digit, 1, whole), rules.integer ? store.empty : store.repeat(point, 0, 1)),
  );
  const start = store.and(shape, store.or(...bounds));
  for (const part of parts) store.chars(part);
  const indexes = symbols.map((char) => store.parts.findIndex((set) => hasPoint(set, char.codePointAt(0) as number)));
  return automatonOfStates<{ regex: Regex; digits: readonly DigitState[] }>(
    { regex: start, digits: remainders.map(() => ({ places: -1, remainder: 0, other: false })) },
    {
      key: ({ regex, digits }) =>
        `${regex.id} ${digits.map((one) => `${one.places},${one.remainder},${one.other}`).join(" ")}`,
      next: ({ regex, digits }) =>
        symbols.map((char, at) => {
          const after = store.after(regex)[indexes[at] as number] as Regex;
          if (after === store.never) return undefined;
          return { regex: after, digits: digits.map((one, which) => step(one, char, remainders[which] as Remainder)) };
        }),
      ends: ({ regex, digits }) =>
        regex.nullable && digits.every((one, which) => fits(one, remainders[which] as Remainder)),
    },
    parts,
    MAX_STATES,
  );
}

/** Returns the numbers that keep to rules where remainders are too many to be told apart: the smallest ones, which is narrower. */
export function listedMultiples(rules: NumberRules): Expr {
  const [of] = rules.multiples;
  const first = rules.multiples.find((one) => tooMany(remainderOf(one, true))) ?? of as number;
  const { min, max } = rules;
  const allowed: number[] = [];
  for (let times = 0; times <= MAX_LISTED; times++) {
    for (const value of times === 0 ? [0] : [times * first, -times * first]) {
      if (value < min || value > max || (rules.integer && !Number.isInteger(value)) || rules.except.includes(value)) {
        continue;
      }
      if (!rules.multiples.every((one) => isMultiple(value, one))) continue;
      if (rules.notMultiples.some((one) => isMultiple(value, one)) || /e/.test(String(value))) continue;
      allowed.push(value);
    }
  }
  return choice(...allowed.map((value) => text(String(value))));
}

/** Whether the rules take too many remainders. */
export function hasManyRemainders({ multiples, notMultiples, path }: NumberRules): boolean {
  if (notMultiples.some((one) => tooMany(remainderOf(one, false)))) {
    throw new UnsupportedKeywordError(
      `the schema's ${
        path || "root"
      } asks for numbers that aren't multiples of one with too many digits, which no grammar can express`,
      { path, value: notMultiples[0], expected: `at most ${MAX_REMAINDERS} remainders` },
    );
  }
  return multiples.some((one) => tooMany(remainderOf(one, true)));
}

function tooMany({ modulus, places }: Remainder): boolean {
  return modulus * (places + 1) > MAX_REMAINDERS || places > 10;
}

function remaindersOf({ multiples, notMultiples, fraction }: NumberRules): Remainder[] {
  return [
    ...multiples.map((one) => remainderOf(one, true)),
    ...notMultiples.map((one) => remainderOf(one, false)),
    ...(fraction ? [{ modulus: 1, places: 0, wanted: false }] : []),
  ];
}

function remainderOf(of: number, wanted: boolean): Remainder {
  const { digits, exponent } = decimalOf(of);
  if (exponent >= 0) return { modulus: Number(digits) * 10 ** exponent, places: 0, wanted };
  return { modulus: Number(digits), places: -exponent, wanted };
}

function step(state: DigitState, char: string, { modulus, places }: Remainder): DigitState {
  if (char === "-") return state;
  if (char === ".") return { ...state, places: 0 };
  if (state.places >= places) return char === "0" || state.other ? state : { ...state, other: true };
  const remainder = (state.remainder * 10 + Number(char)) % modulus;
  return { ...state, remainder, places: state.places < 0 ? -1 : state.places + 1 };
}

function fits({ places, remainder, other }: DigitState, { modulus, places: all, wanted }: Remainder): boolean {
  let rest = remainder;
  for (let place = Math.max(0, places); place < all; place++) rest = rest * 10 % modulus;
  return (rest === 0 && !other) === wanted;
}

/** Returns the regular expression of an expression without rules. Throws a TypeError for one with a rule. */
export function regexOf(store: RegexStore, expr: Expr): Regex {
  switch (expr.kind) {
    case "text":
      return store.text(expr.text);
    case "chars":
      return store.chars(expr.set);
    case "sequence":
      return expr.items.reduceRight((rest, item) => store.concat(regexOf(store, item), rest), store.empty);
    case "choice":
      return store.or(...expr.options.map((option) => regexOf(store, option)));
    case "repeat":
      return store.repeat(regexOf(store, expr.item), expr.min, expr.max);
    case "rule":
      throw new TypeError(`the rule ${expr.name} is no regular expression`);
  }
}
