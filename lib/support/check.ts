/**
 * Checks of options. Each throws an {@linkcode InvalidArgumentError} that names the option, its value, what would be right, and what to do.
 *
 * @module
 */

import { InvalidArgumentError } from "../../ffi/errors.ts";

/** The range of a number, both ends included. */
export interface Range {
  /** The smallest value allowed. */
  min: number;
  /** The largest value allowed. */
  max: number;
}

/** How a value is shown in a message: short, one line, strings quoted. */
export function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
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

/** Refuses a value: says what it is and what to give. Throws {@linkcode InvalidArgumentError}. */
export function refuse(name: string, value: unknown, expected: string): never {
  throw new InvalidArgumentError(`${name} is ${show(value)}; give ${expected}`, { value, expected });
}

/** A whole number in a range. */
export function checkInteger(name: string, value: unknown, range: Range): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= range.min && value <= range.max) {
    // -0 becomes 0: an FFI may refuse it for an unsigned number.
    return value + 0;
  }
  return refuse(name, value, `a whole number from ${range.min} to ${range.max}`);
}

/** A finite number in a range. */
export function checkNumber(name: string, value: unknown, range: Range): number {
  if (typeof value === "number" && value >= range.min && value <= range.max) return value;
  return refuse(
    name,
    value,
    range.max === Infinity ? `a number from ${range.min} upwards` : `a number from ${range.min} to ${range.max}`,
  );
}

/** `true` or `false`. */
export function checkBoolean(name: string, value: unknown): boolean {
  return typeof value === "boolean" ? value : refuse(name, value, "true or false");
}

/** One of a few strings. */
export function checkOneOf<const T extends string>(name: string, value: unknown, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value);
  return found ?? refuse(name, value, `one of ${allowed.map((one) => JSON.stringify(one)).join(", ")}`);
}

/** A function, or nothing. */
export function checkFunction<T>(name: string, value: T): T {
  return typeof value === "function" ? value : refuse(name, value, "a function");
}

/** An `AbortSignal`. */
export function checkSignal(name: string, value: unknown): AbortSignal {
  return isInstance(value, AbortSignal)
    ? value
    : refuse(name, value, "an AbortSignal, such as that of an AbortController");
}

/** `instanceof`, which throws for a Proxy that was revoked. */
export function isInstance<T>(value: unknown, type: abstract new (...args: never[]) => T): value is T {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}

/** The names in an object; `undefined` for an array, and for a Proxy that was revoked. */
function namesIn(options: object): string[] | undefined {
  try {
    return Array.isArray(options) ? undefined : Object.keys(options);
  } catch {
    return undefined;
  }
}

/** Text without half surrogate pairs, which UTF-8 can't carry. */
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

function loneSurrogate(text: string): number {
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) ?? 0;
    if (point > 0xffff) at++;
    else if (point >= 0xd800 && point <= 0xdfff) return at;
  }
  return -1;
}

/** An options object with no names but the known ones. `undefined` gives an empty one. */
export function checkOptions<T extends object>(
  where: string,
  options: T | undefined,
  known: readonly (keyof T & string)[],
): Partial<T> {
  if (options === undefined) return {};
  const given = typeof options === "object" && options !== null ? namesIn(options) : undefined;
  if (given === undefined) return refuse(`the options of ${where}`, options, "an object");
  for (const name of given) {
    if ((known as readonly string[]).includes(name)) continue;
    const near = nearest(name, known);
    const hint = near === undefined ? `it knows ${known.join(", ")}` : `did you mean ${near}?`;
    throw new InvalidArgumentError(`${where} has no option ${show(name)}; ${hint}`, {
      value: name,
      expected: known.join(", "),
    });
  }
  return options;
}

/** The known name that is most like what was given, when it is like enough for a hint. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  let best: string | undefined;
  let bestDistance = 3;
  for (const one of known) {
    const distance = editDistance(plain(name), plain(one));
    if (distance < bestDistance) [best, bestDistance] = [one, distance];
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
