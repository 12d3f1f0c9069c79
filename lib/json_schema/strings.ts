/**
 * JSON strings, as grammars.
 *
 * @module
 */

import { SchemaTooComplexError, UnsupportedKeywordError } from "../errors.ts";
import { type CharSet, differenceOf, hasPoint, intersectionOf, LAST_POINT } from "../gbnf/char_set.ts";
import { formats } from "./formats.ts";
import { chars, choice, type Expr, isNever, rule, sequence, text } from "./gbnf.ts";
import { dot, parsePattern, PatternError, type PatternNode } from "./pattern.ts";
import { languageOf, lengthsAhead, splitAhead } from "./pattern_language.ts";
import { type Automaton, automatonOf, lengthsOf, type Regex, RegexStore, TooManyStates } from "./regex.ts";
import type { Rules } from "./rules.ts";
import { pointsToldApart } from "./unicode.ts";
import { TooMuchWork } from "./work.ts";

/** A regular expression, and where the schema has it. */
export interface PatternRule {
  readonly source: string;
  readonly path: string;
}

/** Rules for strings. */
export interface StringRules {
  /** Minimum number of characters. */
  readonly minLength: number;
  /** Maximum number of characters. */
  readonly maxLength: number;
  /** Regular expressions that are all found in it, and where the schema has them. */
  readonly patterns: readonly PatternRule[];
  /** Regular expressions of which none is found in it. */
  readonly notPatterns: readonly PatternRule[];
  /** Formats it has, all supported. */
  readonly formats: readonly string[];
  /** Texts it must not be. */
  readonly except: readonly string[];
  /** Where the schema is, for errors. */
  readonly path: string;
}

/** States of one string's automaton; each becomes a rule. */
const MAX_STATES = 12_000;

/** Sets of more ranges are rules of their own. */
const LONGEST_SET = 20;

const controls: CharSet = [0, 0x1f];
/** Characters that stand for themselves in a JSON string: neither quotes nor backslashes, nor control characters, nor halves of surrogate pairs. */
const raw: CharSet = [0x20, 0x21, 0x23, 0x5b, 0x5d, 0xd7ff, 0xe000, LAST_POINT];
const hexDigits: CharSet = [0x30, 0x39, 0x41, 0x46, 0x61, 0x66];
/** All that can be written at all. */
const writable: CharSet = [0, 0xd7ff, 0xe000, LAST_POINT];

/** A string of any characters, in each of the ways in which JSON writes them. */
export function freeString(rules: Rules, { minLength, maxLength, path }: StringRules): Expr {
  return sequence(text('"'), rules.repeated("char", freeChar(rules), minLength, maxLength, path), text('"'));
}

/** One character. Pairs of surrogates count as one, halves aren't allowed: they are no text. */
function freeChar(rules: Rules): Expr {
  const hex = chars(hexDigits);
  const unicode = choice(
    sequence(chars([0x30, 0x39, 0x41, 0x43, 0x45, 0x46, 0x61, 0x63, 0x65, 0x66]), hex, hex, hex),
    sequence(chars([0x44, 0x44, 0x64, 0x64]), chars([0x30, 0x37]), hex, hex),
    sequence(
      chars([0x44, 0x44, 0x64, 0x64]),
      chars([0x38, 0x39, 0x41, 0x42, 0x61, 0x62]),
      hex,
      hex,
      text("\\u"),
      chars([0x44, 0x44, 0x64, 0x64]),
      chars([0x43, 0x46, 0x63, 0x66]),
      hex,
      hex,
    ),
  );
  const simple = [...'"\\/bfnrt'].map((char) => char.charCodeAt(0)).sort((a, b) => a - b).flatMap((c) => [c, c]);
  const escape = rules.add("escape", choice(chars(simple), sequence(text("u"), unicode)));
  return rules.add("char", choice(chars(raw), sequence(text("\\"), escape)));
}

/** The grammar of strings that keep to rules, quotes and all; what allows nothing where there are none. */
export function stringExpr(rules: Rules, given: StringRules, hint: string): Expr {
  if (isFree(given)) return freeString(rules, given);
  const automaton = stringAutomaton(given);
  if (automaton === undefined) return choice();
  return sequence(text('"'), automatonExpr(rules, automaton, hint, (set) => jsonChar(rules, set), text('"')));
}

/** Whether any characters will do. */
function isFree({ patterns, notPatterns, formats, except }: StringRules): boolean {
  return patterns.length + notPatterns.length + formats.length + except.length === 0;
}

/** Returns a text that only equal rules have. */
export function stringKey(given: StringRules): string {
  return JSON.stringify([
    given.minLength,
    String(given.maxLength),
    given.patterns.map(({ source }) => source),
    given.notPatterns.map(({ source }) => source),
    given.formats,
    given.except,
  ]);
}

const known = new Map<string, Automaton | undefined>();
const MAX_KNOWN = 200;

/** The automaton of what strings may be; `undefined` when there is none. */
export function stringAutomaton(given: StringRules): Automaton | undefined {
  const key = stringKey(given);
  if (known.has(key)) return known.get(key);
  const listed = given.patterns.length + given.notPatterns.length + given.formats.length === 0;
  const automaton = listed ? exceptAutomaton(given) : makeAutomaton(given);
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, automaton);
  return automaton;
}

/** Whether a pattern is found in a text, in time that grows with its length alone; nothing where that can't be told. */
export function matchesPattern(source: string, value: string): boolean | undefined {
  if (!value.isWellFormed()) return undefined;
  let automaton: Automaton | undefined;
  try {
    automaton = stringAutomaton({ ...anyString, patterns: [{ source, path: "" }] });
  } catch (error) {
    if (error instanceof TooMuchWork) throw error;
    return undefined;
  }
  let state: number | undefined = automaton === undefined ? undefined : 0;
  for (const char of value) {
    if (state === undefined) return false;
    const point = char.codePointAt(0) ?? 0;
    state = automaton?.edges[state]?.find(({ set }) => hasPoint(set, point))?.to;
  }
  return state !== undefined && automaton?.ends[state] === true;
}

/** Rules of any string. */
export const anyString: StringRules = {
  minLength: 0,
  maxLength: Infinity,
  patterns: [],
  notPatterns: [],
  formats: [],
  except: [],
  path: "",
};

function makeAutomaton(given: StringRules): Automaton | undefined {
  try {
    return exactAutomaton(given);
  } catch (error) {
    if (!(error instanceof TooManyStates)) throw error;
    const path = given.patterns[0]?.path ?? given.path;
    throw new SchemaTooComplexError(
      `the strings at ${
        path || "the schema's root"
      } take more than ${MAX_STATES} states, or too long to find them; make the pattern simpler, or the lengths it is bounded by smaller`,
      { path, value: given.patterns[0]?.source ?? given.formats[0], expected: `at most ${MAX_STATES} states` },
    );
  }
}

function exactAutomaton(given: StringRules): Automaton | undefined {
  const store = new RegexStore();
  const language = stringLanguage(store, given);
  const bounded = language.lengths.length > 0 || given.minLength > 0 || given.maxLength !== Infinity;
  if (!bounded) return automatonOf(store, language.free, MAX_STATES);
  // Counting takes a state for each length: not where no other length fits anyway.
  const free = automatonOf(store, language.free, MAX_STATES);
  if (free === undefined) return undefined;
  const { shortest, longest } = lengthsOf(free);
  const bounds = [...language.lengths, { min: given.minLength, max: given.maxLength }];
  const open = bounds.filter(({ min, max }) => shortest < min || longest > max);
  if (open.length === 0) return free;
  const counted = open.map(({ min, max }) => store.repeat(store.anyChar, min, max));
  return automatonOf(store, store.and(language.free, ...counted), MAX_STATES);
}

/** A language, and bounds of its texts' lengths that count besides. */
interface StringLanguage {
  readonly free: Regex;
  readonly lengths: readonly { readonly min: number; readonly max: number }[];
}

function stringLanguage(store: RegexStore, given: StringRules): StringLanguage {
  const parts: Regex[] = [];
  const lengths: { min: number; max: number }[] = [];
  const add = (source: string, path: string) => {
    for (const pattern of readPattern(source, path)) {
      const length = lengthsAhead(pattern);
      if (length === undefined) parts.push(patternLanguage(store, pattern, source, path));
      else {
        lengths.push(length);
        parts.push(store.repeat(store.chars(dot), 0, Infinity));
      }
    }
  };
  for (const { source, path } of given.patterns) add(source, path);
  for (const format of given.formats) add(formats.get(format) ?? "", given.path);
  for (const { source, path } of given.notPatterns) {
    const whole = readPattern(source, path).map((pattern) => patternLanguage(store, pattern, source, path));
    parts.push(store.not(store.and(...whole)));
  }
  if (given.except.length > 0) parts.push(store.not(store.or(...given.except.map((one) => store.text(one)))));
  const told = pointsToldApart([...given.patterns, ...given.notPatterns].map(({ source }) => source));
  const alphabet = told === undefined ? writable : intersectionOf(writable, told);
  return { free: store.and(...parts, store.repeat(store.chars(alphabet), 0, Infinity)), lengths };
}

function readPattern(source: string, path: string): PatternNode[] {
  try {
    return splitAhead(parsePattern(source));
  } catch (error) {
    return unsupportedPattern(error, source, path);
  }
}

function patternLanguage(store: RegexStore, pattern: PatternNode, source: string, path: string): Regex {
  try {
    return languageOf(store, pattern);
  } catch (error) {
    return unsupportedPattern(error, source, path);
  }
}

function unsupportedPattern(error: unknown, source: string, path: string): never {
  if (!(error instanceof PatternError)) throw error;
  throw new UnsupportedKeywordError(
    `the pattern at ${path} can't be turned into a grammar: ${error.message}; write it without, or use schemaMode "validate"`,
    { path, value: source, expected: "a pattern without borders of words, back references and looking behind" },
  );
}

/** Any strings but a few, as a tree of the first characters of those. */
function exceptAutomaton({ except, minLength, maxLength, path }: StringRules): Automaton | undefined {
  if (minLength > 0 || maxLength !== Infinity) {
    return makeAutomaton({ ...anyString, except, minLength, maxLength, path });
  }
  const next: Map<number, number>[] = [new Map()];
  const forbidden = new Set<number>();
  for (const one of except) {
    let state = 0;
    for (const char of one) {
      const point = char.codePointAt(0) ?? 0;
      let to = next[state]?.get(point);
      if (to === undefined) {
        to = next.push(new Map()) - 1;
        next[state]?.set(point, to);
      }
      state = to;
    }
    forbidden.add(state);
  }
  const free = next.length;
  const edges = next.map((row) => {
    const named = [...row].map(([point, to]) => ({ set: [point, point] as CharSet, to }));
    const taken = [...row.keys()].sort((a, b) => a - b).flatMap((point) => [point, point]);
    return [...named, { set: differenceOf(writable, taken), to: free }];
  });
  return {
    edges: [...edges, [{ set: writable, to: free }]],
    ends: [...next.map((_, state) => !forbidden.has(state)), true],
  };
}

/** Returns the rules of an automaton. Each character of a set becomes what `char` makes of it, and `end` follows behind the last one. */
export function automatonExpr(
  rules: Rules,
  { edges, ends }: Automaton,
  hint: string,
  char: (set: CharSet) => Expr,
  end: Expr,
): Expr {
  const into = new Array<number>(edges.length).fill(0);
  into[0] = 1;
  for (const row of edges) for (const { to } of row) into[to] = (into[to] ?? 0) + 1;
  const single = edges.map((row, state) =>
    into[state] === 1 && state !== 0 && row.length + (ends[state] ? 1 : 0) === 1
  );
  const names = edges.map((_, state) => single[state] ? "" : rules.name(`${hint}-s`));
  /** From a state on: a rule, or step by step where there is one way only. */
  const from = (start: number): Expr[] => {
    const steps: Expr[] = [];
    let state = start;
    while (single[state]) {
      const [edge] = edges[state] ?? [];
      if (edge === undefined) return [...steps, end];
      steps.push(char(edge.set));
      state = edge.to;
    }
    steps.push(rule(names[state] as string));
    return steps;
  };
  edges.forEach((row, state) => {
    if (single[state]) return;
    const options = row.map(({ set, to }) => sequence(char(set), ...from(to)));
    rules.set(names[state] as string, choice(...options, ...(ends[state] ? [end] : [])));
  });
  return rule(names[0] as string);
}

/** One character of a set as `JSON.stringify` writes it. */
function jsonChar(rules: Rules, set: CharSet): Expr {
  const options: Expr[] = [chars(intersectionOf(set, raw))];
  if (hasPoint(set, 0x22)) options.push(text('\\"'));
  if (hasPoint(set, 0x5c)) options.push(text("\\\\"));
  const some = intersectionOf(set, controls);
  if (some.length === 2 && some[0] === 0 && some[1] === 0x1f) options.push(rules.add("control", anyControl));
  else {
    for (let point = 0; point < 0x20; point++) {
      if (hasPoint(some, point)) options.push(text(JSON.stringify(String.fromCharCode(point)).slice(1, -1)));
    }
  }
  const expr = choice(...options.filter((option) => !isNever(option)));
  const long = expr.kind === "choice" ? expr.options.length > 1 : set.length > LONGEST_SET;
  return long ? rules.add("chars", expr) : expr;
}

const anyControl = sequence(
  text("\\"),
  choice(
    chars([0x62, 0x62, 0x66, 0x66, 0x6e, 0x6e, 0x72, 0x72, 0x74, 0x74]),
    sequence(
      text("u00"),
      choice(
        sequence(text("0"), chars([0x30, 0x37, 0x62, 0x62, 0x65, 0x66])),
        sequence(text("1"), chars([0x30, 0x39, 0x61, 0x66])),
      ),
    ),
  ),
);
