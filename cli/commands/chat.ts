import { answerStyle, writeAnswer } from "../answer.ts";
import type { Command } from "../command.ts";
import { converse } from "../conversation.ts";
import { DEFAULT_MODEL_NOTE, forChat, givenChat } from "../default_model.ts";
import { EXIT, UsageError } from "../errors.ts";
import type { Given } from "../flags.ts";
import { GENERATION_FLAGS, givenGeneration } from "../generation.ts";
import { Interrupt } from "../interrupt.ts";
import { loadGivenModel, MODEL_FLAGS } from "../model.ts";
import { givenPrompt, PROMPT_FLAG } from "../prompt.ts";
import { outputClosed } from "../terminal.ts";

/** `chat`: answers a question, or holds a conversation. */
export const command: Command = {
  name: "chat",
  summary: "answer a question, or hold a conversation",
  usage: "[OPTIONS] [MESSAGE]",
  description:
    "Answers one message, given as an argument, by -p or on standard input. Without one, on a terminal, holds a\n" +
    "conversation: Ctrl-C stops an answer, the up arrow brings back earlier messages, Ctrl-D ends.\n" +
    `The default model is a very small one: ${DEFAULT_MODEL_NOTE}.`,
  flags: [
    { ...PROMPT_FLAG, help: "the message; - reads it from standard input" },
    { name: "system", also: ["-sys", "--system-prompt"], takes: "text", help: "how the model should behave" },
    ...MODEL_FLAGS,
    ...GENERATION_FLAGS,
    { name: "json", help: "write one JSON object at the end: text, tokens, stopReason, seed, timings" },
  ],
  maxPositionals: 1,
  examples: [
    ['deno run -A cli/main.ts chat "What is the capital of France?"', "one answer"],
    ['deno run -A cli/main.ts chat --system "Answer in one word."', "a conversation"],
    ['git diff | deno run -A cli/main.ts chat --system "Explain this change." -p -', "about what another program says"],
  ],
  run,
};

async function run(given: Given): Promise<number> {
  const message = await givenPrompt(given);
  if (message === undefined && given.has("json")) {
    throw new UsageError("--json needs a message; a conversation is for people");
  }
  const options = givenChat(given);
  const generation = (signal: AbortSignal) => forChat(given, givenGeneration(given, signal));
  using interrupt = new Interrupt();
  const signal = AbortSignal.any([interrupt.signal, outputClosed]);
  await using model = await loadGivenModel(given, signal);
  if (message !== undefined) {
    await writeAnswer(model.chat(options).send(message, generation(signal)), answerStyle(given));
    return EXIT.fine;
  }
  interrupt[Symbol.dispose]();
  return await converse(() => model.chat(options), generation, answerStyle(given));
}
