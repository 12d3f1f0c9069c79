/** A template that isn't valid Jinja. */
export class JinjaSyntaxError extends Error {
  /** Begins with the line, counted from 1. */
  constructor(message: string, line: number) {
    super(`line ${line}: ${message}`);
    this.name = "JinjaSyntaxError";
  }
}

/** The Python error that stopped a template. */
export type JinjaErrorKind =
  | "TypeError"
  | "ValueError"
  | "IndexError"
  | "KeyError"
  | "OverflowError"
  | "ZeroDivisionError"
  | "UndefinedError"
  | "SecurityError"
  | "TemplateRuntimeError"
  | "TemplateError";

/** A template that failed while it was rendered. */
export class JinjaError extends Error {
  /** The error that Python has for it; `"TemplateError"` is what `raise_exception` throws. */
  readonly kind: JinjaErrorKind;

  /** With Python's message where it matters. */
  constructor(kind: JinjaErrorKind, message: string) {
    super(message);
    this.name = "JinjaError";
    this.kind = kind;
  }
}

/** A template that takes more than it may. */
export class JinjaLimitError extends Error {
  /** The resource. */
  readonly resource: string;
  /** The largest amount allowed. */
  readonly limit: number;

  /** For a resource, in the plural, and its limit. */
  constructor(resource: string, limit: number) {
    super(`it takes more than ${limit} ${resource}`);
    this.name = "JinjaLimitError";
    this.resource = resource;
    this.limit = limit;
  }
}

/** Throws Python's TypeError. */
export function typeError(message: string): never {
  throw new JinjaError("TypeError", message);
}

/** Throws Python's ValueError. */
export function valueError(message: string): never {
  throw new JinjaError("ValueError", message);
}
