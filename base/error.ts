import { readableStack } from "./stack.ts";

/** The details of a {@linkcode GgmlError}. */
export interface GgmlErrorDetails {
  /** The value that was wrong. */
  value?: unknown;
  /** The words for a value that would be right. */
  expected?: string;
  /** The error that led to this one. */
  cause?: unknown;
}

/** A {@linkcode GgmlError} as plain data: what `toJSON` gives and what travels between threads. */
export interface SerializedError {
  /** The class name. */
  name: string;
  /** The class's code. */
  code: string;
  /** The message. */
  message: string;
  /** The value that was wrong, where it can be serialised. */
  value?: unknown;
  /** The words for a value that would be right. */
  expected?: string;
  /** The stack trace. */
  stack?: string;
  /** The cause, serialised the same way where it is an error. */
  cause?: unknown;
  /** What the class adds, by its names, such as `path`; errors among them are serialised the same way. */
  properties?: Record<string, unknown>;
}

/**
 * The base of every error that this library throws. The message names the value that was wrong, what would be right, and what to do.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { GgmlError, InvalidArgumentError } from "./errors.ts";
 *
 * const error = new InvalidArgumentError("topP is 2", { value: 2, expected: "a number from 0 to 1" });
 * assert.ok(error instanceof GgmlError);
 * assert.equal(error.code, "INVALID_ARGUMENT");
 * ```
 */
export class GgmlError extends Error {
  /** The code of this class of errors; stable over releases. */
  static readonly code: string = "GGML_ERROR";
  /** The code of this class of errors; stable over releases. */
  readonly code: string;
  /** The value that was wrong. */
  readonly value: unknown;
  /** The words for a value that would be right. */
  readonly expected: string | undefined;

  /** Makes an error from its message and what is known about it. */
  constructor(message: string, details: GgmlErrorDetails = {}) {
    const given = detailsOf(details);
    super(textOf(message), "cause" in given ? { cause: given.cause } : undefined);
    this.name = new.target.name;
    this.code = new.target.code;
    this.value = given.value;
    this.expected = given.expected;
  }

  /** Returns the error as plain data for logs: what JSON has no form for becomes text. */
  toJSON(): SerializedError {
    return plainError(serializeError(this));
  }
}

/** Returns the details of an error that is made; none for what isn't an object that can be read, since an error must not fail for another one. */
export function detailsOf<T extends object>(details: T): Partial<T> {
  try {
    return typeof details === "object" && details !== null ? { ...details } : {};
  } catch {
    return {};
  }
}

/** An error as JSON has it. */
function plainError(error: SerializedError): SerializedError {
  const plain = { ...error };
  if (plain.value !== undefined) plain.value = jsonValue(plain.value);
  if (plain.cause !== undefined) plain.cause = jsonValue(plain.cause);
  if (plain.properties !== undefined) plain.properties = mapValues(plain.properties, jsonValue);
  return plain;
}

function mapValues(from: Record<string, unknown>, change: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [name, change(value)]));
}

function jsonValue(value: unknown): unknown {
  if (isSerialized(value)) return plainError(value);
  try {
    return JSON.parse(JSON.stringify(value, (_, one: unknown) => typeof one === "bigint" ? String(one) : one));
  } catch {
    // A value that contains itself, or nothing that JSON has a form for.
    return textOf(value);
  }
}

/** `String`, also for what refuses to be text. */
function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "an object";
  }
}

/** Returns what was thrown in words: the message of an error, else the value as text. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    if (isError(thrown)) return thrown.message || thrown.name;
  } catch {
    // A Proxy whose handler throws.
  }
  return textOf(thrown);
}

/** `instanceof Error` that returns false for a Proxy that was revoked. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

/** The constructor of a class of errors that {@linkcode registerErrors} takes. */
export type GgmlErrorClass = (new (message: string, details?: GgmlErrorDetails) => GgmlError) & {
  readonly code: string;
};

const classes = new Map<string, GgmlErrorClass>();

/**
 * Makes classes of errors known, so that one thrown on a native thread arrives on the other side as the same class. Call it where the class is
 * declared; both threads import that module. Throws when a code is taken by another class.
 */
export function registerErrors(...added: GgmlErrorClass[]): void {
  for (const one of added) {
    const known = classes.get(one.code);
    if (known !== undefined && known !== one) {
      throw new TypeError(`the error code ${one.code} is taken by ${known.name}`);
    }
    classes.set(one.code, one);
  }
}

/** Errors inside of errors that are followed: enough for any real chain, and an end for one that bites its tail. */
const MAX_DEPTH = 8;

/** Returns an error as plain data that survives `postMessage`. */
export function serializeError(error: unknown, depth: number = MAX_DEPTH): SerializedError {
  if (!isError(error)) {
    return { name: "Error", code: "THROWN_VALUE", message: textOf(error), value: portable(error, depth) };
  }
  const plain: SerializedError = { name: error.name, code: "", message: error.message };
  if (error.stack !== undefined) plain.stack = readableStack(error.stack);
  if (error instanceof GgmlError) {
    plain.code = error.code;
    if (error.value !== undefined) plain.value = portable(error.value, depth);
    if (error.expected !== undefined) plain.expected = error.expected;
  }
  if (error.cause !== undefined) plain.cause = portable(error.cause, depth);
  const added = addedProperties(error);
  if (added.length > 0) {
    plain.properties = Object.fromEntries(added.map(([name, value]) => [name, portable(value, depth)]));
  }
  return plain;
}

const base: ReadonlySet<string> = new Set(["name", "message", "stack", "cause"]);
const own: ReadonlySet<string> = new Set([...base, "code", "value", "expected"]);

/** The properties that an error has beyond those of {@linkcode GgmlError} or, for others, of Error. */
function addedProperties(error: Error): [string, unknown][] {
  const known = error instanceof GgmlError ? own : base;
  const names = Object.keys(error).filter((name) => !known.has(name));
  // AggregateError's own, which can't be enumerated.
  if (Object.hasOwn(error, "errors") && !names.includes("errors")) names.push("errors");
  return names.map((name): [string, unknown] => [name, readProperty(error, name)])
    .filter(([, value]) => value !== undefined);
}

function readProperty(error: Error, name: string): unknown {
  try {
    return (error as unknown as Record<string, unknown>)[name];
  } catch {
    // A getter that throws: an error must not fail for another one.
    return undefined;
  }
}

const builtIn: Readonly<Record<string, new (message: string, options?: ErrorOptions) => Error>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

/** Returns the error that {@linkcode serializeError} was given: the same class with all its properties and its stack. */
export function deserializeError(plain: SerializedError): unknown {
  if (plain.code === "THROWN_VALUE") return restored(plain.value);
  const details: GgmlErrorDetails = mapValues(plain.properties ?? {}, restored);
  const properties = Object.entries(details);
  if (plain.value !== undefined) details.value = restored(plain.value);
  if (plain.expected !== undefined) details.expected = plain.expected;
  if (plain.cause !== undefined) details.cause = restored(plain.cause);
  const error = construct(plain, details);
  for (const [name, value] of properties) {
    // A class of the library takes its own from the details.
    if (readProperty(error, name) !== value) define(error, name, value, name !== "errors");
  }
  if (plain.stack !== undefined) define(error, "stack", plain.stack);
  return error;
}

function define(error: Error, name: string, value: unknown, enumerable = false): void {
  Object.defineProperty(error, name, { value, enumerable, configurable: true, writable: true });
}

/** A value with the errors in it as they were. */
function restored(value: unknown): unknown {
  if (isSerialized(value)) return deserializeError(value);
  return Array.isArray(value) && value.some(isSerialized) ? value.map(restored) : value;
}

function construct(plain: SerializedError, details: GgmlErrorDetails): Error {
  const known = classes.get(plain.code);
  // A minifier may have renamed the class here, but not there.
  if (known !== undefined) return named(new known(plain.message, details), plain.name);
  const options = "cause" in details ? { cause: details.cause } : undefined;
  if (plain.name === "AbortError" || plain.name === "TimeoutError") return new DOMException(plain.message, plain.name);
  if (plain.name === "AggregateError") return new AggregateError([], plain.message, options);
  return named(new (builtIn[plain.name] ?? Error)(plain.message, options), plain.name);
}

function named(error: Error, name: string): Error {
  if (error.name !== name) define(error, "name", name);
  return error;
}

function isSerialized(value: unknown): value is SerializedError {
  return typeof value === "object" && value !== null && "name" in value && "code" in value && "message" in value;
}

/** A value that `postMessage` takes, errors in it serialised; what it doesn't take becomes a string. */
function portable(value: unknown, depth: number): unknown {
  if (typeof value === "function" || typeof value === "symbol") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (isError(value)) return depth > 0 ? serializeError(value, depth - 1) : undefined;
  try {
    if (Array.isArray(value) && value.some(isError)) return value.map((one) => portable(one, depth));
    return structuredClone(value);
  } catch {
    return textOf(value);
  }
}
