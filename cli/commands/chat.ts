import type { Command } from "../command.ts";
import { EXIT, UsageError } from "../errors.ts";
import { CHAT_FLAGS, DEFAULT_MODEL_NOTE, forChat, givenChat } from "../flags/chat.ts";
import { GENERATION_FLAGS, givenGeneration, JSON_FLAG, loadGivenLoras } from "../flags/generation.ts";
import { loadGivenModel, MODEL_FLAGS, modelName } from "../flags/model.ts";
import type { Given } from "../flags/parse.ts";
import { givenPrompt, promptFlags } from "../flags/prompt.ts";
import { answerStyle, writeAnswer } from "../results/answer.ts";
import { converse } from "../terminal/conversation.ts";
import { Interrupt } from "../terminal/interrupt.ts";
import { outputClosed } from "../terminal/output.ts";

/** `chat`: answers a question, or holds a conversation. */
export const command: Command = {
  name: "chat",
  summary: "answer a question, or hold a conversation",
  usage: "[OPTIONS] [MESSAGE]",
  description:
    "Answers one message, given as an argument, by -p, by -f or on standard input. Without one, on a terminal, holds a conversation: Ctrl-C stops an answer, the " +
    "up arrow brings back earlier messages, Ctrl-D ends. When the context is full, the oldest messages are forgotten.\n" +
    `The default model is a very small one: ${DEFAULT_MODEL_NOTE}.`,
  flags: [...promptFlags("message"), ...CHAT_FLAGS, JSON_FLAG, ...MODEL_FLAGS, ...GENERATION_FLAGS],
  maxPositionals: 1,
  examples: [
    ['deno run -A cli/main.ts chat "What is the capital of France?"', "one answer"],
    ['deno run -A cli/main.ts chat --system "Answer in one word."', "a conversation"],
    ['git diff | deno run -A cli/main.ts chat "Explain this change."', "about the output of another program"],
  ],
  run,
};

async function run(given: Given): Promise<number> {
  const message = await givenPrompt(given);
  if (message === undefined && given.has("json")) {
    throw new UsageError("--json needs a message; a conversation is for people");
  }
  const options = givenChat(given);
  const asked = forChat(given, givenGeneration(given));
  const style = answerStyle(given);
  using interrupt = new Interrupt();
  const signal = AbortSignal.any([interrupt.signal, outputClosed]);
  await using model = await loadGivenModel(given, signal);
  const generation = { ...asked, ...await loadGivenLoras(given, model) };
  if (message !== undefined) {
    await writeAnswer(model.chat(options).send(message, { ...generation, signal }), style);
    return EXIT.fine;
  }
  interrupt[Symbol.dispose]();
  return await converse({
    name: `${modelName(model)}, context of ${model.info.contextSize} tokens`,
    start: (history) => model.chat({ ...options, history }),
    options: (signal) => ({ ...generation, signal }),
    style,
  });
}
