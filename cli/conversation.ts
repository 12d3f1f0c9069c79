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
  let typed: Typed = { lines: [], rest: "", history: [], done: false };
  while (true) {
    if (typed.lines.length > 0) say(`> ${typed.lines[0]}`);
    else if (!typed.done) typed = await ask(typed);
    const line = typed.lines.shift();
    if (line === undefined) return EXIT.fine;
    const message = line.trim();
    if (message === "/exit" || message === "/quit") return EXIT.fine;
    if (message === "/reset") chat = start();
    else if (message === "/help") say(styled("dim", HELP));
    else if (message !== "" && !await turn(chat, message, options, style)) typed.lines = [];
  }
}

/** What the user has typed. */
interface Typed {
  /** Lines that aren't answered yet: more than one where some were pasted. */
  lines: string[];
  /** What came behind the last line's end. */
  rest: string;
  /** Earlier lines, the latest first. */
  history: string[];
  /** Nothing more will come: Ctrl-D, or Ctrl-C twice on an empty line. */
  done: boolean;
}

/** Answers a message. @returns false when the user stopped the answer. */
async function turn(
  chat: Chat,
  message: string,
  options: (signal: AbortSignal) => GenerationOptions,
  style: AnswerStyle,
): Promise<boolean> {
  using interrupt = new Interrupt();
  const signal = AbortSignal.any([interrupt.signal, outputClosed]);
  try {
    await writeAnswer(chat.send(message, options(signal)), style);
    return true;
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    say(styled("dim", "\n(stopped; the question and the answer are forgotten)"));
    return false;
  }
}

/**
 * Reads a line, and those that come together with it; none when the user is done. The terminal is in line mode only
 * meanwhile, so that Ctrl-C is a signal while an answer is made.
 */
async function ask({ rest, history }: Typed): Promise<Typed> {
  const reader = createInterface({
    input: process.stdin,
    output: process.stderr,
    terminal: true,
    historySize: 1000,
    history: [...history],
    prompt: "> ",
  });
  let warned = false;
  const typed: Typed = { lines: [], rest: "", history, done: false };
  reader.on("history", (lines: string[]) => typed.history = [...lines]);
  try {
    await new Promise<void>((resolve) => {
      const end = () => {
        typed.done = true;
        resolve();
      };
      reader.on("line", (line) => {
        typed.lines.push(line);
        resolve();
      });
      reader.on("close", end);
      reader.on("SIGINT", () => {
        if (reader.line === "" && warned) return end();
        warned = reader.line === "";
        reader.write(null, { ctrl: true, name: "e" });
        reader.write(null, { ctrl: true, name: "u" });
        if (warned) say("\n(Ctrl-C again, Ctrl-D or /exit ends the conversation)");
        reader.prompt();
      });
      reader.prompt();
      if (rest !== "") reader.write(rest);
    });
    return { ...typed, rest: reader.line };
  } finally {
    reader.close();
  }
}
