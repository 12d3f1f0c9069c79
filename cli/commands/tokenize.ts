import type { Command } from "../command.ts";
import { EXIT, UsageError } from "../errors.ts";
import type { Given } from "../flags/parse.ts";
import { Interrupt } from "../terminal/interrupt.ts";
import { loadGivenModel, MODEL_FLAG } from "../flags/model.ts";
import { givenPrompt, promptFlags } from "../flags/prompt.ts";
import { jsonLine } from "../results/json.ts";
import { outputClosed, print } from "../terminal/output.ts";

/** `tokenize`: shows a text as the model sees it. */
export const command: Command = {
  name: "tokenize",
  summary: "show a text as the model's tokens",
  usage: "[OPTIONS] [TEXT]",
  description: "Shows a text as the model sees it: one line per token, with its id and its text as a JSON string.",
  flags: [
    ...promptFlags("text"),
    MODEL_FLAG,
    { name: "no-bos", option: "addSpecial", help: "don't add the special tokens at the start and the end" },
    { name: "parse-special", help: "parse special tokens in the text, such as <|im_start|>" },
    { name: "ids", help: "write the ids only, on one line: [1, 2, 3]" },
    { name: "json", help: "write one JSON object: tokens, pieces" },
  ],
  maxPositionals: 1,
  examples: [
    ['deno run -A cli/main.ts tokenize "Hello, world"', "one line per token"],
    ["deno run -A cli/main.ts tokenize --json < story.txt", "a file, for a program"],
  ],
  run,
};

async function run(given: Given): Promise<number> {
  if (given.has("ids") && given.has("json")) {
    throw new UsageError("--ids and --json exclude each other; give one of them");
  }
  const text = await givenPrompt(given);
  if (text === undefined) throw new UsageError("there is no text; give it as an argument, by -p, or on standard input");
  using interrupt = new Interrupt();
  const signal = AbortSignal.any([interrupt.signal, outputClosed]);
  await using model = await loadGivenModel(given, signal);
  const ids = model.tokenize(text, { addSpecial: !given.has("no-bos"), parseSpecial: given.has("parse-special") });
  const tokens = Array.from(ids);
  if (given.has("ids")) {
    await print(`[${tokens.join(", ")}]\n`);
    return EXIT.fine;
  }
  const pieces = tokens.map((token) => model.detokenize([token], { renderSpecial: true }));
  if (given.has("json")) {
    await print(jsonLine({ tokens, pieces }));
    return EXIT.fine;
  }
  const width = Math.max(...tokens.map((token) => String(token).length));
  const lines = tokens.map((token, at) => `${String(token).padStart(width)}  ${JSON.stringify(pieces[at])}\n`);
  await print(lines.join(""));
  return EXIT.fine;
}
