import process from "node:process";
import { createInterface } from "node:readline";
import type { Chat, GenerationOptions } from "../mod.ts";
import { type AnswerStyle, writeAnswer } from "./answer.ts";
import { EXIT, InterruptedError } from "./errors.ts";
import { Interrupt } from "./interrupt.ts";
import { outputClosed, say, styled } from "./terminal.ts";

const HELP = "Type a message and press Enter. Ctrl-C stops an answer, the up arrow brings back earlier messages.\n" +
  "/reset forgets the conversation, /exit or Ctrl-D ends it.";

/**
 * Holds a conversation on the terminal until the user ends it.
 *
 * @param start begins a conversation from nothing.
 * @param options what is asked of one answer, which stops when the signal aborts.
 * @param style how answers are written.
 * @returns the exit code.
 */
export async function converse(
  start: () => Chat,
  options: (signal: AbortSignal) => GenerationOptions,
  style: AnswerStyle,
): Promise<number> {
  say(styled("dim", HELP));
  let chat = start();
  let history: string[] = [];
  while (true) {
    const asked = await ask(history);
    if (asked === undefined) return EXIT.fine;
    history = asked.history;
    const message = asked.line.trim();
    if (message === "/exit" || message === "/quit") return EXIT.fine;
    if (message === "/reset") chat = start();
    else if (message === "/help") say(styled("dim", HELP));
    else if (message !== "") await turn(chat, message, options, style);
  }
}

async function turn(
  chat: Chat,
  message: string,
  options: (signal: AbortSignal) => GenerationOptions,
  style: AnswerStyle,
): Promise<void> {
  using interrupt = new Interrupt();
  const signal = AbortSignal.any([interrupt.signal, outputClosed]);
  try {
    await writeAnswer(chat.send(message, options(signal)), style);
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    say(styled("dim", "\n(stopped; the question and the answer are forgotten)"));
  }
}

/**
 * Reads one line. The terminal is in line mode only meanwhile, so that Ctrl-C is a signal while an answer is made.
 *
 * @returns undefined when the user is done: Ctrl-D, or Ctrl-C twice on an empty line.
 */
async function ask(history: string[]): Promise<{ line: string; history: string[] } | undefined> {
  const reader = createInterface({
    input: process.stdin,
    output: process.stderr,
    terminal: true,
    historySize: 1000,
    history: [...history],
    prompt: "> ",
  });
  let warned = false;
  let kept = history;
  reader.on("history", (lines: string[]) => kept = [...lines]);
  try {
    return await new Promise((resolve) => {
      reader.on("line", (line) => resolve({ line, history: kept }));
      reader.on("close", () => resolve(undefined));
      reader.on("SIGINT", () => {
        if (reader.line === "" && warned) return resolve(undefined);
        warned = reader.line === "";
        reader.write(null, { ctrl: true, name: "e" });
        reader.write(null, { ctrl: true, name: "u" });
        if (warned) say("\n(Ctrl-C again, Ctrl-D or /exit ends the conversation)");
        reader.prompt();
      });
      reader.prompt();
    });
  } finally {
    reader.close();
  }
}
