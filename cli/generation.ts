import type { GenerationOptions } from "../mod.ts";
import type { Flag, Given } from "./flags.ts";
import { givenSampling, SAMPLING_FLAGS } from "./sampling.ts";

/** The flags that decide what is generated. */
export const GENERATION_FLAGS: readonly Flag[] = [
  {
    name: "predict",
    short: "n",
    also: ["--n-predict"],
    takes: "integer",
    min: 1,
    max: 2 ** 31 - 1,
    help: "tokens to generate at most (default: until the model ends, or the context is full)",
  },
  {
    name: "seed",
    takes: "integer",
    min: 0,
    max: 2 ** 32 - 2,
    help: "makes a random answer repeatable (default: another each time)",
  },
  {
    name: "temp",
    also: ["--temperature"],
    takes: "number",
    min: 0,
    max: 100,
    help: "how freely to choose; 0 always takes the likeliest (default: 0.8)",
  },
  {
    name: "top-k",
    takes: "integer",
    placeholder: "K",
    min: 0,
    max: 2 ** 31 - 1,
    help: "choose among the K likeliest tokens; 0 is off (default: 40)",
  },
  {
    name: "top-p",
    takes: "number",
    placeholder: "P",
    min: 0,
    max: 1,
    help: "choose among the likeliest that together reach P; 1 is off (default: 0.95)",
  },
  {
    name: "min-p",
    takes: "number",
    placeholder: "P",
    min: 0,
    max: 1,
    help: "leave out what is less likely than P times the likeliest; 0 is off (default: 0.05)",
  },
  {
    name: "repeat-penalty",
    takes: "number",
    min: 0.01,
    max: 100,
    help: "make recent tokens less likely; 1 is off (default: 1)",
  },
  ...SAMPLING_FLAGS,
  {
    name: "stop",
    also: ["-r", "--reverse-prompt"],
    takes: "text",
    many: true,
    help: "end before this text; may be given more than once",
  },
];

/** What the flags ask of a generation. */
export function givenGeneration(given: Given, signal: AbortSignal): GenerationOptions {
  const stop = given.texts("stop");
  const numbers = {
    maxTokens: given.number("predict"),
    seed: given.number("seed"),
    temperature: given.number("temp"),
    topK: given.number("top-k"),
    topP: given.number("top-p"),
    minP: given.number("min-p"),
    repeatPenalty: given.number("repeat-penalty"),
  };
  const set = Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== undefined));
  return { ...givenSampling(given), ...set, ...(stop.length === 0 ? {} : { stop }), signal };
}
