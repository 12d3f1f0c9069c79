import { messageOf } from "../base/error.ts";
/** The program's exit codes. */
export const EXIT = { fine: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** The command line is wrong; the message says what is wrong and what would be right. Ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The user pressed Ctrl-C. Ends with exit code 130. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
  constructor() {
    super("interrupted");
  }
}

/** Whoever read our standard output has gone (`… | head -1`). Ends quietly with exit code 0. */
export class OutputClosedError extends Error {
  override readonly name = "OutputClosedError";
  constructor() {
    super("standard output was closed");
  }
}

/** Standard input can't be read, or standard output not be written; the cause is the system's error. Ends with exit code 1. */
export class StreamError extends Error {
  override readonly name = "StreamError";
  constructor(what: string, cause: unknown) {
    super(`${what}: ${messageOf(cause)}`, { cause });
  }
}
