import { fstatSync } from "node:fs";
import process from "node:process";
import { UsageError } from "../errors.ts";
import { readInput, say } from "../terminal/output.ts";
import type { Flag } from "./flag.ts";
import { readGivenFile } from "./generation.ts";
import type { Given } from "./parse.ts";

/** After this a user is told what is waited for. */
const PATIENCE_MS = 2_000;

/** The flags that give the prompt. @param what how the help calls it. */
export function promptFlags(what: string): Flag[] {
  return [
    {
      name: "prompt",
      short: "p",
      takes: "text",
      help: `the ${what}; - reads it from standard input. piped text follows it`,
    },
    { name: "file", short: "f", takes: "text", placeholder: "FILE", help: `a file with the ${what}` },
  ];
}

/**
 * The prompt: of `-p`, `-f` or the argument, followed by what is piped in; or of standard input alone. Undefined where there is none.
 *
 * @throws {UsageError} when it is given twice, or is empty.
 */
export async function givenPrompt(given: Given): Promise<string | undefined> {
  const ways = [
    { how: "by -p", text: given.text("prompt") },
    { how: "by -f", text: fileText(given.text("file")) },
    { how: "as an argument", text: given.positionals[0] },
  ].filter(({ text }) => text !== undefined);
  if (ways.length > 1) throw new UsageError(`the prompt was given twice: ${ways.map(({ how }) => how).join(", and ")}`);
  const text = ways[0]?.text;
  if (text === undefined && process.stdin.isTTY) return undefined;
  const prompt = text === undefined || text === "-" ? await input() : [text, ...await pipedInput()].join("\n\n");
  if (prompt === "") {
    throw new UsageError("the prompt is empty; give some text, as an argument, by -p, or on standard input");
  }
  return prompt;
}

function fileText(path: string | undefined): string | undefined {
  return path === undefined ? undefined : trimLineEnd(readGivenFile("--file", path));
}

/** Reads the text that is piped in beside a prompt. Only pipes and files are read: what starts this program by a socket may never close it. */
async function pipedInput(): Promise<string[]> {
  const status = process.stdin.isTTY ? undefined : inputStatus();
  if (status === undefined || !(status.isFIFO() || status.isFile())) return [];
  const waiting = setTimeout(
    () => say("(waiting for standard input, which follows the prompt; close it to go on)"),
    PATIENCE_MS,
  );
  try {
    const text = await input();
    return text === "" ? [] : [text];
  } finally {
    clearTimeout(waiting);
  }
}

function inputStatus(): ReturnType<typeof fstatSync> | undefined {
  try {
    return fstatSync(process.stdin.fd);
  } catch {
    // It was closed before the start.
    return undefined;
  }
}

async function input(): Promise<string> {
  return trimLineEnd(await readInput());
}

/** Takes off the one line end that `echo` and editors put behind a text. */
function trimLineEnd(text: string): string {
  return text.replace(/\r?\n$/, "");
}
