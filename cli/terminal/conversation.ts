import type { Chat, ChatMessage, ChatSendOptions } from "../../mod.ts";
import { PromptTooLongError } from "../../lib/errors.ts";
import { EXIT, InterruptedError } from "../errors.ts";
import { type AnswerStyle, writeAnswer } from "../results/answer.ts";
import { Interrupt } from "./interrupt.ts";
import { LineEditor } from "./line_editor.ts";
import { outputClosed, say, styled } from "./output.ts";

const HELP = "Type a message and press Enter. Ctrl-C stops an answer, the up arrow brings back earlier messages.\n" +
  "/reset forgets the conversation, /exit or Ctrl-D ends it.";

/** Parts of a conversation. */
export interface Talk {
  /** The model's name, shown at the start. */
  readonly name: string;
  /** Begins a conversation with these messages; with none from nothing. */
  start(history: readonly ChatMessage[]): Chat;
  /** Options of one answer, which stops when the signal aborts. */
  options(signal: AbortSignal): ChatSendOptions;
  /** Style of answers. */
  readonly style: AnswerStyle;
}

/** Holds a conversation on the terminal until the user ends it. @returns the exit code. */
export async function converse(talk: Talk): Promise<number> {
  say(styled("dim", `${talk.name}\n${HELP}`));
  using editor = new LineEditor();
  let chat = talk.start([]);
  while (true) {
    const message = (await editor.next())?.trim();
    if (message === undefined || message === "/exit" || message === "/quit") return EXIT.fine;
    if (message === "/reset") chat = talk.start([]);
    else if (message === "/help") say(styled("dim", HELP));
    else if (message !== "") chat = await turn(talk, chat, message, editor);
  }
}

/** Answers a message. @returns the conversation to go on with. */
async function turn(talk: Talk, chat: Chat, message: string, editor: LineEditor): Promise<Chat> {
  using interrupt = new Interrupt();
  const signal = AbortSignal.any([interrupt.signal, outputClosed]);
  editor.onInterrupt = () => interrupt.press();
  for (let current = chat;;) {
    try {
      const answer = current.send(message, talk.options(signal));
      await writeAnswer(answer, talk.style);
      if ((await answer).stopReason === "context") {
        note("the context is full, which ended the answer; /reset starts anew");
      }
      return current;
    } catch (error) {
      if (error instanceof InterruptedError) {
        note("stopped; the question and the answer are forgotten");
        editor.forget();
        return current;
      }
      if (!(error instanceof PromptTooLongError)) throw error;
      const shorter = withoutOldest(current.history);
      if (shorter === undefined) {
        note(`${error.message.split(";")[0]}; shorten the message, or start with a larger -c`);
        return chat;
      }
      note("the context is full: the oldest messages are forgotten");
      current = talk.start(shorter);
    }
  }
}

function note(text: string): void {
  say(styled("dim", `(${text})`));
}

/** A history without the older half of its exchanges; `undefined` where there is none to leave out. The system message isn't in it. */
function withoutOldest(history: readonly ChatMessage[]): ChatMessage[] | undefined {
  const messages = history.filter(({ role }) => role !== "system");
  const questions = messages.flatMap(({ role }, index) => role === "user" ? [index] : []);
  if (questions.length === 0) return undefined;
  return messages.slice(questions[Math.ceil(questions.length / 2)] ?? messages.length);
}
