import type { Command } from "../command.ts";
import { EXIT, UsageError } from "../errors.ts";
import { GENERATION_FLAGS, givenGeneration, JSON_FLAG, loadGivenLoras } from "../flags/generation.ts";
import { loadGivenModel, MODEL_FLAGS } from "../flags/model.ts";
import type { Given } from "../flags/parse.ts";
import { givenPrompt, promptFlags } from "../flags/prompt.ts";
import { answerStyle, writeAnswer } from "../results/answer.ts";
import { Interrupt } from "../terminal/interrupt.ts";
import { outputClosed } from "../terminal/output.ts";

/** `complete`: continues a prompt. */
export const command: Command = {
  name: "complete",
  summary: "continue a prompt",
  usage: "[OPTIONS] [PROMPT]",
  description: "Continues a prompt without a chat template. Writes the continuation as it comes.",
  flags: [...promptFlags("prompt"), JSON_FLAG, ...MODEL_FLAGS, ...GENERATION_FLAGS],
  maxPositionals: 1,
  examples: [
    ['deno run -A cli/main.ts complete -p "Once upon a time" -n 32', "32 more tokens"],
    [
      'deno run -A cli/main.ts complete -p "Once upon a time" -n 32 --seed 1 --temp 0 --json',
      "the same each time, for a program",
    ],
    ["deno run -A cli/main.ts complete -n 100 < story.txt", "continue a file"],
    [
      `deno run -A cli/main.ts complete -p "Is snow white?" --grammar 'root ::= " yes" | " no"'`,
      "an answer that a grammar constrains",
    ],
  ],
  run,
};

async function run(given: Given): Promise<number> {
  const prompt = await givenPrompt(given);
  if (prompt === undefined) {
    throw new UsageError("there is no prompt; give one as an argument, by -p, or on standard input");
  }
  const generation = givenGeneration(given);
  using interrupt = new Interrupt();
  const signal = AbortSignal.any([interrupt.signal, outputClosed]);
  await using model = await loadGivenModel(given, signal);
  const options = { ...generation, ...await loadGivenLoras(given, model), signal };
  await writeAnswer(model.complete(prompt, options), answerStyle(given));
  return EXIT.fine;
}
