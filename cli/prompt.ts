import process from "node:process";
import { UsageError } from "./errors.ts";
import type { Flag, Given } from "./flags.ts";
import { readInput } from "./terminal.ts";

/** The flag that gives the prompt. */
export const PROMPT_FLAG: Flag = {
  name: "prompt",
  short: "p",
  takes: "text",
  help: "the prompt; - reads it from standard input",
};

/**
 * The prompt: of `-p`, of the argument, or of standard input where that is no terminal. Undefined where there is none.
 *
 * @throws {UsageError} when it is given twice, or is empty.
 */
export async function givenPrompt(given: Given): Promise<string | undefined> {
  const flag = given.text("prompt");
  const argument = given.positionals[0];
  if (flag !== undefined && argument !== undefined) {
    throw new UsageError(`the prompt was given twice: "${flag}" by -p, and "${argument}"`);
  }
  const text = flag ?? argument;
  if (text === undefined && process.stdin.isTTY) return undefined;
  const prompt = text === undefined || text === "-" ? trimLineEnd(await readInput()) : text;
  if (prompt === "") {
    throw new UsageError("the prompt is empty; give some text, as an argument, by -p, or on standard input");
  }
  return prompt;
}

/** Takes off the one line end that `echo` and editors put behind a text. */
function trimLineEnd(text: string): string {
  return text.replace(/\r?\n$/, "");
}
