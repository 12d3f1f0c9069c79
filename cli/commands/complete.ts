import { answerStyle, writeAnswer } from "../answer.ts";
import type { Command } from "../command.ts";
import { EXIT, UsageError } from "../errors.ts";
import type { Given } from "../flags.ts";
import { GENERATION_FLAGS, givenGeneration } from "../generation.ts";
import { Interrupt } from "../interrupt.ts";
import { loadGivenModel, MODEL_FLAGS } from "../model.ts";
import { givenPrompt, PROMPT_FLAG } from "../prompt.ts";
import { outputClosed } from "../terminal.ts";

/** `complete`: goes on with a text. */
export const command: Command = {
  name: "complete",
  summary: "go on with a text",
  usage: "[OPTIONS] [PROMPT]",
  description: "Goes on with a text as the model would, without a chat template. Writes what it adds, as it comes.",
  flags: [
    PROMPT_FLAG,
    ...MODEL_FLAGS,
    ...GENERATION_FLAGS,
    { name: "json", help: "write one JSON object at the end: text, tokens, stopReason, seed, timings" },
  ],
  maxPositionals: 1,
  examples: [
    ['deno run -A cli/main.ts complete -p "Once upon a time" -n 32', "32 more tokens"],
    [
      'deno run -A cli/main.ts complete -p "Once upon a time" -n 32 --seed 1 --temp 0 --json',
      "the same each time, for a program",
    ],
    ["deno run -A cli/main.ts complete -n 100 < story.txt", "go on with a file"],
    [
      `deno run -A cli/main.ts complete -p "Is snow white?" --grammar 'root ::= " yes" | " no"'`,
      "an answer of a given form",
    ],
  ],
  run,
};

async function run(given: Given): Promise<number> {
  const prompt = await givenPrompt(given);
  if (prompt === undefined) {
    throw new UsageError("there is no prompt; give one as an argument, by -p, or on standard input");
  }
  using interrupt = new Interrupt();
  const signal = AbortSignal.any([interrupt.signal, outputClosed]);
  await using model = await loadGivenModel(given, signal);
  await writeAnswer(model.complete(prompt, givenGeneration(given, signal)), answerStyle(given));
  return EXIT.fine;
}
