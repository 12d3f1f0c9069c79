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
  if (isSerialized(plain.cause)) plain.cause = plainError(plain.cause);
  else if (plain.cause !== undefined) plain.cause = jsonValue(plain.cause);
  return plain;
}

function jsonValue(value: unknown): unknown {
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

function isError(value: unknown): value is Error {
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

/** Causes that are followed: enough for any real chain, and an end for one that bites its tail. */
const MAX_CAUSES = 8;

/** Returns an error as plain data that survives `postMessage`. */
export function serializeError(error: unknown, causes: number = MAX_CAUSES): SerializedError {
  if (!isError(error)) {
    return { name: "Error", code: "THROWN_VALUE", message: textOf(error), value: portable(error) };
  }
  const plain: SerializedError = { name: error.name, code: "", message: error.message };
  if (error.stack !== undefined) plain.stack = error.stack;
  if (error instanceof GgmlError) {
    plain.code = error.code;
    if (error.value !== undefined) plain.value = portable(error.value);
    if (error.expected !== undefined) plain.expected = error.expected;
  }
  const { cause } = error;
  if (isError(cause)) {
    if (causes > 0) plain.cause = serializeError(cause, causes - 1);
  } else if (cause !== undefined) plain.cause = portable(cause);
  return plain;
}

const builtIn: Readonly<Record<string, new (message: string, options?: ErrorOptions) => Error>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

/** Returns the error that {@linkcode serializeError} was given: the same class, code, value, cause and stack. */
export function deserializeError(plain: SerializedError): unknown {
  if (plain.code === "THROWN_VALUE") return plain.value;
  const details: GgmlErrorDetails = {};
  if (plain.value !== undefined) details.value = plain.value;
  if (plain.expected !== undefined) details.expected = plain.expected;
  if (plain.cause !== undefined) {
    details.cause = isSerialized(plain.cause) ? deserializeError(plain.cause) : plain.cause;
  }
  const error = construct(plain, details);
  if (plain.stack !== undefined) {
    Object.defineProperty(error, "stack", { value: plain.stack, configurable: true, writable: true });
  }
  return error;
}

function construct(plain: SerializedError, details: GgmlErrorDetails): Error {
  const known = classes.get(plain.code);
  if (known !== undefined) return new known(plain.message, details);
  const options = "cause" in details ? { cause: details.cause } : undefined;
  if (plain.name === "AbortError" || plain.name === "TimeoutError") return new DOMException(plain.message, plain.name);
  const error = new (builtIn[plain.name] ?? Error)(plain.message, options);
  if (error.name !== plain.name) {
    Object.defineProperty(error, "name", { value: plain.name, configurable: true, writable: true });
  }
  return error;
}

function isSerialized(value: unknown): value is SerializedError {
  return typeof value === "object" && value !== null && "name" in value && "code" in value && "message" in value;
}

/** A value that `postMessage` takes; what it doesn't take becomes a string. */
function portable(value: unknown): unknown {
  if (typeof value === "function" || typeof value === "symbol") return String(value);
  if (typeof value !== "object" || value === null) return value;
  try {
    return structuredClone(value);
  } catch {
    return textOf(value);
  }
}
