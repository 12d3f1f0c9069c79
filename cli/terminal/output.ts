import { fstatSync } from "node:fs";
import process from "node:process";
import { styleText } from "node:util";
import { OutputClosedError, StreamError } from "../errors.ts";

const closed = new AbortController();

/** Aborts, with an {@link OutputClosedError}, when whoever reads our standard output goes away; with a {@link StreamError} when it can't be written. */
export const outputClosed: AbortSignal = closed.signal;

type SystemError = Error & { code?: string };

/**
 * Makes a closed pipe end the program quietly. Called once, at the start.
 *
 * An output that was closed before the start (`>&-`) isn't seen: Deno and Bun have opened the null device in its place.
 */
export function watchOutput(): void {
  const onError = (error: SystemError) => closed.abort(outputError(error));
  process.stdout.on("error", onError);
  process.stderr.on("error", onError);
}

function outputError(error: SystemError): Error {
  return error.code === "EPIPE" ? new OutputClosedError() : new StreamError("the output can't be written", error);
}

/**
 * Writes a result to standard output, and waits until it has been taken.
 *
 * @throws {OutputClosedError} when nobody reads it any more.
 * @throws {StreamError} when it can't be written.
 */
export async function print(text: string): Promise<void> {
  outputClosed.throwIfAborted();
  try {
    await new Promise<void>((resolve, reject) => {
      process.stdout.write(text, (error?: Error | null) => error ? reject(error) : resolve());
    });
  } catch (error) {
    // Deno throws at once where Bun calls back.
    throw outputError(error as SystemError);
  }
}

/** Writes a line to standard error: all that isn't a result. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

type Style = Parameters<typeof styleText>[0];

/** Styles text that goes to standard error, where that is a terminal and `NO_COLOR` isn't set. */
export function styled(style: Style, text: string): string {
  return colors(process.stderr) ? styleText(style, text) : text;
}

function colors(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY === true && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
}

/**
 * All of standard input, as text.
 *
 * @throws {StreamError} when it can't be read, a folder for one.
 */
export async function readInput(): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    if (fstatSync(process.stdin.fd).isDirectory()) throw new Error("it is a folder; give a file, or the text itself");
    for await (const chunk of process.stdin) text += decoder.decode(chunk as Uint8Array, { stream: true });
  } catch (error) {
    throw new StreamError("standard input can't be read", error);
  }
  return text + decoder.decode();
}
