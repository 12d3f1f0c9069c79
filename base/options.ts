/**
 * Options objects declared once. A specification gives the names, the checks, the defaults, the words for help texts and, by inference, the type of the
 * checked settings.
 *
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const spec = options("load", {
 *   contextSize: integer({ min: 1, max: 4096 }),
 *   batchSize: integer({ min: 1, max: 2048, default: 512 }),
 *   mmap: boolean(),
 *   kind: oneOf(["chat", "embed"], { default: "chat" }),
 * });
 * const settings: Settings<typeof spec> = spec.check({ contextSize: 8 });
 * assert.deepEqual(settings, { contextSize: 8, batchSize: 512, mmap: undefined, kind: "chat" });
 * assert.throws(() => spec.check({ contextsize: 8 }), /load has no option "contextsize"; did you mean contextSize\?/);
 * assert.throws(() => spec.check({ batchSize: 0 }), /batchSize is 0; expected an integer from 1 to 2048/);
 * ```
 *
 * @module
 */

import {
  arrayWords,
  checkArray,
  checkBoolean,
  checkFunction,
  checkInteger,
  checkNumber,
  checkOneOf,
  checkOptions,
  checkSignal,
  checkText,
  choiceWords,
  integerWords,
  numberWords,
  type Range,
  refuse,
} from "./check.ts";

/** One option: how its value is checked, and what it is when it isn't given. */
export interface Option<T> {
  /** The words for a value that is right, such as "an integer from 1 to 8". */
  readonly expected: string;
  /** The value when none is given, or what computes it; `undefined` when there is no default. */
  readonly default: unknown;
  /** Whether it must be given. */
  readonly required: boolean;
  /** The smallest number, or the least length of an array. */
  readonly min?: number;
  /** The largest number, or the greatest length of an array. */
  readonly max?: number;
  /** The strings that are allowed. */
  readonly choices?: readonly string[];
  /** Checks a value that was given. */
  check(name: string, value: unknown): T;
}

/** Options by name. */
export type OptionRules = Readonly<Record<string, Option<unknown>>>;

/** Holds for rules that cover each name of an interface and no other: `{ … } satisfies RulesOf<LoadOptions>`. */
export type RulesOf<T extends object> = { readonly [K in keyof T]-?: Option<unknown> };

/** The default of an option, or that it is required. */
export interface Presence<T> {
  /** The value when none is given, or what computes it. */
  readonly default?: T | (() => T);
  /** Whether it must be given. */
  readonly required?: true;
}

/** The type of a checked option: without `undefined` when there is a default, or when it must be given. */
export type Checked<T, P> = P extends { readonly default: unknown } | { readonly required: true } ? T : T | undefined;

/** The checked settings of a specification, or of rules. */
export type Settings<S> = S extends OptionsSpec<infer R> ? Settings<R>
  : { -readonly [K in keyof S]: S[K] extends Option<infer T> ? T : never };

/** The specification of one options object. */
export interface OptionsSpec<R extends OptionRules = OptionRules> {
  /** The name of the function that takes the options; messages begin with it. */
  readonly where: string;
  /** The options, to be spread into other specifications. */
  readonly rules: R;
  /** Their names. */
  readonly names: readonly (keyof R & string)[];
  /** Checks options; `undefined` stands for none. Throws InvalidArgumentError. */
  check(given: unknown, where?: string): Settings<R>;
  /** Checks the options of one of several functions that share them: it and its options are named after it, such as `clamp: min`. Throws InvalidArgumentError. */
  checkOf(owner: string, given: unknown): Settings<R>;
  /** Checks an object that is part of a value: its fields are named after their place, such as `history[2].role`. Throws InvalidArgumentError. */
  checkAt(place: string, given: unknown): Settings<R>;
}

/** Declares the options of one function. */
export function options<const R extends OptionRules>(where: string, rules: R): OptionsSpec<R> {
  const names = Object.keys(rules);
  const read = (place: string, prefix: string, given: unknown): Settings<R> => {
    const known = checkOptions(place, given as Record<string, unknown> | undefined, names);
    const checked = names.map((name) => [name, checkRule(prefix + name, rules[name], valueOf(known, name))]);
    return Object.fromEntries(checked) as Settings<R>;
  };
  return {
    where,
    rules,
    names,
    check: (given, place = where) => read(place, "", given),
    checkOf: (owner, given) => read(owner, `${owner}: `, given),
    checkAt: (place, given) =>
      given === undefined ? refuse(place, given, "an object") : read(place, `${place}.`, given),
  };
}

function checkRule(name: string, rule: Option<unknown> | undefined, value: unknown): unknown {
  if (value !== undefined) return rule?.check(name, value);
  if (rule?.required === true) return refuse(name, value, rule.expected);
  return defaultOf(rule);
}

/** Returns the default of an option. */
export function defaultOf(rule: Option<unknown> | undefined): unknown {
  return typeof rule?.default === "function" && !isCallback(rule) ? rule.default() : rule?.default;
}

/** A getter or a Proxy may throw: the option is refused then. */
function valueOf(given: object, name: string): unknown {
  try {
    return Reflect.get(given, name);
  } catch (error) {
    return refuse(name, error, "a value that can be read");
  }
}

type Extra = Pick<Option<unknown>, "min" | "max" | "choices">;

function option<T, P extends Presence<T>>(
  expected: string,
  presence: P | undefined,
  check: (name: string, value: unknown) => T,
  extra: Extra = {},
): Option<Checked<T, P>> {
  return {
    expected,
    default: presence?.default,
    required: presence?.required === true,
    ...extra,
    check: check as (name: string, value: unknown) => Checked<T, P>,
  };
}

/** An integer in a range. */
export function integer<const P extends Range & Presence<number>>(rule: P): Option<Checked<number, P>> {
  const { min, max } = rule;
  return option<number, P>(integerWords(rule), rule, (name, value) => checkInteger(name, value, rule), { min, max });
}

/** A finite number in a range. */
export function number<const P extends Range & Presence<number>>(rule: P): Option<Checked<number, P>> {
  const { min, max } = rule;
  return option<number, P>(numberWords(rule), rule, (name, value) => checkNumber(name, value, rule), { min, max });
}

/** `true` or `false`. */
export function boolean<const P extends Presence<boolean>>(presence?: P): Option<Checked<boolean, P>> {
  return option<boolean, P>("true or false", presence, checkBoolean);
}

/** A string that UTF-8 can carry. */
export function text<const P extends Presence<string>>(presence?: P): Option<Checked<string, P>> {
  return option<string, P>("a string", presence, checkText);
}

/** One of a few strings. */
export function oneOf<const T extends string, const P extends Presence<NoInfer<T>>>(
  choices: readonly T[],
  presence?: P,
): Option<Checked<T, P>> {
  const check = (name: string, value: unknown): T => checkOneOf(name, value, choices);
  return option<T, P>(choiceWords(choices), presence, check, { choices });
}

/** An `AbortSignal`. */
export function signal(): Option<AbortSignal | undefined> {
  return option<AbortSignal, Presence<AbortSignal>>("an AbortSignal", undefined, checkSignal) as Option<
    AbortSignal | undefined
  >;
}

const callbacks = new WeakSet<object>();
const isCallback = (rule: object): boolean => callbacks.has(rule);

/** A function. */
export function callback<
  // deno-lint-ignore no-explicit-any
  F extends (...args: any[]) => unknown,
  const P extends { readonly default?: F; readonly required?: true } = { readonly default?: F },
>(presence?: P): Option<Checked<F, P>> {
  const made = option<F, P & Presence<F>>(
    "a function",
    presence as (P & Presence<F>) | undefined,
    (name, value) => checkFunction(name, value as F),
  );
  callbacks.add(made);
  return made as Option<Checked<F, P>>;
}

/** An array without holes whose elements are checked each. */
export function arrayOf<T, const P extends Partial<Range> & Presence<readonly T[]>>(
  element: (name: string, value: unknown, index: number) => T,
  rule?: P,
): Option<Checked<readonly T[], P>> {
  const range: Range = { min: rule?.min ?? 0, max: rule?.max ?? Infinity };
  const check = (name: string, value: unknown): readonly T[] => checkArray(name, value, element, range);
  return option<readonly T[], P>(arrayWords(range), rule, check, range);
}

/** An object with options of its own. */
export function nested<R extends OptionRules, const P extends Presence<Settings<R>>>(
  spec: OptionsSpec<R>,
  presence?: P,
): Option<Checked<Settings<R>, P>> {
  return option<Settings<R>, P>("an object", presence, (name, value) => spec.checkAt(name, value));
}

/** A value with a check of its own: returns the checked value, or throws {@linkcode InvalidArgumentError}. */
export function custom<T, const P extends Presence<NoInfer<T>>>(
  expected: string,
  check: (name: string, value: unknown) => T,
  presence?: P,
): Option<Checked<T, P>> {
  return option<T, P>(expected, presence, check);
}

/** A value that the function checks itself, because more than the options decides what is right. */
export function deferred<T, const P extends Presence<NoInfer<T>> = Record<never, never>>(
  expected: string,
  presence?: P,
): Option<Checked<T, P>> {
  return custom<T, P>(expected, (_, value) => value as T, presence);
}
