/**
 * Checks of single values. Each returns the value, or throws an {@linkcode InvalidArgumentError} that names it, shows what was given and says what is
 * expected.
 *
 * @module
 */

import { InvalidArgumentError } from "./errors.ts";
import { nearMiss } from "./near_miss.ts";

/** The range of a number, both ends included. */
export interface Range {
  /** The smallest value allowed. */
  readonly min: number;
  /** The largest value allowed. */
  readonly max: number;
}

/** The longest part of a string that a message shows. */
const MAX_SHOWN = 60;

/** Returns a value as a message shows it: short, on one line, strings quoted. Never throws. */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
  }
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  try {
    return Array.isArray(value)
      ? `an array of ${value.length}`
      : `an object (${Object.prototype.toString.call(value).slice(8, -1)})`;
  } catch {
    // A Proxy that was revoked, or whose handler throws.
    return "an object";
  }
}

/** Throws the {@linkcode InvalidArgumentError} for a value that isn't what is expected. */
export function refuse(name: string, value: unknown, expected: string): never {
  throw new InvalidArgumentError(`${name} is ${show(value)}; expected ${expected}`, { value, expected });
}

/** Returns the words for an integer in a range. */
export function integerWords({ min, max }: Range): string {
  if (min === max) return String(min);
  return max === Infinity ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`;
}

/** Returns the words for a number in a range. */
export function numberWords({ min, max }: Range): string {
  if (max < Infinity) return `a number from ${min} to ${max}`;
  return min === -Infinity ? "a finite number" : `a number of at least ${min}`;
}

/** Returns the words for one of a few strings. */
export function choiceWords(allowed: readonly string[]): string {
  const quoted = allowed.map((one) => JSON.stringify(one));
  return quoted.length === 2 ? quoted.join(" or ") : `one of ${quoted.join(", ")}`;
}

/** Checks that a value is an integer in a range. */
export function checkInteger(name: string, value: unknown, range: Range): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= range.min && value <= range.max) {
    // -0 becomes 0: an FFI may refuse it for an unsigned number.
    return value + 0;
  }
  return refuse(name, value, integerWords(range));
}

/** Checks that a value is a finite number in a range. */
export function checkNumber(name: string, value: unknown, range: Range): number {
  if (typeof value === "number" && Number.isFinite(value) && value >= range.min && value <= range.max) return value;
  return refuse(name, value, numberWords(range));
}

/** Checks that a value is `true` or `false`. */
export function checkBoolean(name: string, value: unknown): boolean {
  return typeof value === "boolean" ? value : refuse(name, value, "true or false");
}

/** Checks that a value is one of a few strings. */
export function checkOneOf<const T extends string>(name: string, value: unknown, allowed: readonly T[]): T {
  return allowed.find((one) => one === value) ?? refuse(name, value, choiceWords(allowed));
}

/** Checks that a value is a function. */
export function checkFunction<T>(name: string, value: T): T {
  return typeof value === "function" ? value : refuse(name, value, "a function");
}

/** Checks that a value is an `AbortSignal`. */
export function checkSignal(name: string, value: unknown): AbortSignal {
  return isInstance(value, AbortSignal)
    ? value
    : refuse(name, value, "an AbortSignal, such as that of an AbortController");
}

/** Checks that a value is a string that UTF-8 can carry: one without half surrogate pairs. */
export function checkText(name: string, value: unknown): string {
  if (typeof value !== "string") return refuse(name, value, "a string");
  if (value.isWellFormed()) return value;
  const at = loneSurrogate(value);
  const unit = value.charCodeAt(at).toString(16).toUpperCase();
  throw new InvalidArgumentError(
    `${name} isn't valid UTF-16: half of a surrogate pair (U+${unit}) at index ${at}; don't cut strings inside a character, or use toWellFormed()`,
    { value: `U+${unit} at index ${at}`, expected: "a string of whole characters" },
  );
}

/** Checks that a value is a string that UTF-8 can carry and isn't empty. */
export function checkNonEmptyText(name: string, value: unknown): string {
  const text = checkText(name, value);
  if (text !== "") return text;
  throw new InvalidArgumentError(`${name} is empty; expected a string that isn't empty`, {
    value,
    expected: "a string that isn't empty",
  });
}

function loneSurrogate(text: string): number {
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) ?? 0;
    if (point > 0xffff) at++;
    else if (point >= 0xd800 && point <= 0xdfff) return at;
  }
  return -1;
}

/** Checks that a value is an array without holes whose length is in a range, and checks each of its elements. */
export function checkArray<T>(
  name: string,
  value: unknown,
  checkElement: (name: string, value: unknown, index: number) => T,
  range: Range = { min: 0, max: Infinity },
): T[] {
  const list = copyOf(value);
  if (list === undefined) return refuse(name, value, arrayWords(range));
  if (list.length < range.min || list.length > range.max) {
    throw new InvalidArgumentError(
      `${name} has ${list.length} element${list.length === 1 ? "" : "s"}; expected ${arrayWords(range)}`,
      {
        value,
        expected: arrayWords(range),
      },
    );
  }
  for (let index = 0; index < list.length; index++) {
    if (!(index in list)) {
      throw new InvalidArgumentError(`${name} has a hole at index ${index}; expected an array with all its elements`, {
        value,
        expected: "an array with all its elements",
      });
    }
  }
  return list.map((one, index) => checkElement(`${name}[${index}]`, one, index));
}

/** Returns the words for an array whose length is in a range. */
export function arrayWords({ min, max }: Range): string {
  if (min === max) return `an array of ${max}`;
  if (max < Infinity) return min === 0 ? `an array of at most ${max}` : `an array of ${min} to ${max}`;
  return min === 0 ? "an array" : `an array of at least ${min}`;
}

/** The elements of an array, holes kept; `undefined` for anything else, and for a Proxy that was revoked. */
function copyOf(value: unknown): unknown[] | undefined {
  try {
    return Array.isArray(value) ? value.slice() : undefined;
  } catch {
    return undefined;
  }
}

/** `Array.isArray` that returns false for a Proxy that was revoked. */
export function isArray(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** Reads of what only real instances have: an object made from the prototype, or a Proxy, lacks it. By name, since not every runtime has all of them. */
const reads: Readonly<Record<string, (value: never) => unknown>> = {
  AbortSignal: (signal: AbortSignal) => signal.aborted,
  URL: (url: URL) => url.href,
  ArrayBuffer: (buffer: ArrayBuffer) => buffer.byteLength,
  Blob: (blob: Blob) => blob.size,
  ReadableStream: (stream: ReadableStream) => stream.locked,
};
const probes: ReadonlyMap<unknown, (value: never) => unknown> = new Map(
  Object.entries(reads).map(([name, read]) => [(globalThis as Record<string, unknown>)[name], read]),
);
const TypedArray = Object.getPrototypeOf(Uint8Array) as abstract new () => unknown;

/** `instanceof` that returns false for a Proxy, and for what was made from a prototype of the runtime's and isn't an instance. Never throws. */
export function isInstance<T>(value: unknown, type: abstract new (...args: never[]) => T): value is T {
  try {
    if (!(value instanceof type)) return false;
    probes.get(type)?.(value as never);
    return !(value instanceof TypedArray) || ArrayBuffer.isView(value);
  } catch {
    return false;
  }
}

/** Whether a value can be iterated by `for await`. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  if (typeof value !== "object" || value === null) return false;
  try {
    return typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === "function";
  } catch {
    return false;
  }
}

/** Whether a value is an object made by `{}`, of this realm or another: no array, no instance of a class, no Proxy that was revoked. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  try {
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === null ||
      (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, "isPrototypeOf"));
  } catch {
    return false;
  }
}

/** Checks that a value is a plain object whose names are all known. `undefined` gives an empty one. */
export function checkOptions<T extends object>(
  where: string,
  options: T | undefined,
  known: readonly (keyof T & string)[],
): Partial<T> {
  if (options === undefined) return {};
  const names = isPlainObject(options) ? namesOf(options) : undefined;
  if (names === undefined) return refuse(`the options of ${where}`, options, "a plain object");
  for (const name of names) if (!(known as readonly string[]).includes(name)) refuseName(where, name, known);
  return options;
}

function refuseName(where: string, name: string, known: readonly string[]): never {
  const near = nearMiss(name, known);
  const hint = near === undefined ? `it knows ${known.join(", ")}` : `did you mean ${near}?`;
  throw new InvalidArgumentError(`${where} has no option ${show(name)}; ${hint}`, {
    value: name,
    expected: known.join(", "),
  });
}

/** The names in an object; `undefined` for a Proxy whose handler throws. */
function namesOf(options: object): string[] | undefined {
  try {
    return Object.keys(options);
  } catch {
    return undefined;
  }
}
