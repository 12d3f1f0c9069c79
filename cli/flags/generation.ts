import { messageOf } from "../../base/error.ts";
import { readFileSync } from "node:fs";
import { generationRules } from "../../lib/llama/generation/options.ts";
import type { GenerationOptions, JsonSchema, Lora, Model } from "../../mod.ts";
import { UsageError } from "../errors.ts";
import { type Flag, grouped, optionFlag } from "./flag.ts";
import type { Given } from "./parse.ts";
import { givenSampling, NUMBER_FLAGS, SAMPLING_FLAGS } from "./sampling.ts";

/** The flags that decide what is generated. */
export const GENERATION_FLAGS: readonly Flag[] = [
  ...grouped("Generation", [
    optionFlag("maxTokens", generationRules, {
      name: "predict",
      short: "n",
      also: ["--n-predict"],
      default: "until the model ends, or the context is full",
      help: "maximum number of tokens to generate",
    }),
    optionFlag("seed", generationRules, {
      name: "seed",
      default: "random",
      help: "seed of the random numbers: the same seed gives the same answer",
    }),
    {
      name: "stop",
      also: ["-r", "--reverse-prompt"],
      takes: "text",
      many: true,
      option: "stop",
      help: "end before this text",
    },
    { name: "ignore-eos", option: "ignoreEos", help: "never end by the model's end token" },
    { name: "grammar", takes: "text", option: "grammar", help: "a grammar in GBNF that constrains the text" },
    { name: "grammar-file", takes: "text", placeholder: "FILE", help: "a file with the grammar" },
    {
      name: "json-schema",
      short: "j",
      takes: "text",
      placeholder: "SCHEMA",
      option: "schema",
      help: "a JSON schema that constrains the text, such as {} for any JSON",
    },
    {
      name: "json-schema-file",
      also: ["-jf"],
      takes: "text",
      placeholder: "FILE",
      help: "a file with the JSON schema",
    },
    {
      name: "lora",
      takes: "text",
      placeholder: "FILE[:SCALE]",
      many: true,
      option: "lora",
      help: "a LoRA adapter, a GGUF file, and its scale (1 without one)",
    },
  ]),
  ...grouped("Sampling", SAMPLING_FLAGS),
];

/** The flags that ask for a result as JSON. */
export const JSON_FLAG: Flag = {
  name: "json",
  help: "write one JSON object at the end: text, tokens, stopReason, seed, timings",
};

/** Returns the options of a generation, but for adapters. @throws {UsageError} for files that can't be read and a schema that isn't JSON. */
export function givenGeneration(given: Given): GenerationOptions & { schema?: JsonSchema } {
  const stop = given.texts("stop");
  const numbers: readonly (readonly [string, number | undefined])[] = [
    ["maxTokens", given.number("predict")],
    ["seed", given.number("seed")],
    ...NUMBER_FLAGS.map(({ name, option }) => [option, given.number(name)] as const),
  ];
  const grammar = textOrFile(given, "grammar", "grammar-file");
  const schema = givenSchema(given);
  return {
    ...Object.fromEntries(numbers.filter(([, value]) => value !== undefined)),
    ...givenSampling(given),
    ...(stop.length === 0 ? {} : { stop }),
    ...(grammar === undefined ? {} : { grammar }),
    ...(schema === undefined ? {} : { schema }),
  };
}

/** Loads the adapters that `--lora` names. @throws {UsageError} for a scale that isn't a number. */
export async function loadGivenLoras(
  given: Given,
  model: Model,
): Promise<{ lora?: { adapter: Lora; scale: number }[] }> {
  const wanted = given.texts("lora").map((text) => {
    const [, path = text, scale] = /^(.+):([^:\\/]*)$/.exec(text) ?? [];
    const number = scale === undefined ? 1 : Number(scale === "" ? NaN : scale);
    if (Number.isFinite(number)) return { path, scale: number };
    throw new UsageError(`--lora must be FILE or FILE:SCALE with a number as scale, not "${text}"`);
  });
  if (wanted.length === 0) return {};
  const lora = [];
  for (const { path, scale } of wanted) lora.push({ adapter: await model.loadLora(path), scale });
  return { lora };
}

function givenSchema(given: Given): JsonSchema | undefined {
  const text = textOrFile(given, "json-schema", "json-schema-file");
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as JsonSchema;
  } catch (error) {
    throw new UsageError(`the JSON schema isn't JSON: ${messageOf(error)}`);
  }
}

/** The value of a flag, or the content of the file that another flag names. */
function textOrFile(given: Given, flag: string, fileFlag: string): string | undefined {
  const [text, path] = [given.text(flag), given.text(fileFlag)];
  if (text !== undefined && path !== undefined) throw new UsageError(`give one of --${flag} and --${fileFlag}`);
  return path === undefined ? text : readGivenFile(`--${fileFlag}`, path);
}

/** The content of a file that a flag names. @throws {UsageError} when it can't be read. */
export function readGivenFile(flag: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`${flag}: ${messageOf(error)}`);
  }
}
