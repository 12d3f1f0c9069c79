import { readFileSync } from "node:fs";
import type { GenerationOptions, LogitBias, SamplerName } from "../mod.ts";
import { UsageError } from "./errors.ts";
import type { Flag, Given } from "./flags.ts";

/** A flag with a number, and the option that it sets. */
type NumberFlag = Flag & { readonly option: keyof GenerationOptions };

const look = { min: -1, max: 1 << 20, takes: "integer" } as const;
const unit = { min: 0, max: 1, takes: "number" } as const;

const NUMBER_FLAGS: readonly NumberFlag[] = [
  {
    name: "typical",
    also: ["--typical-p"],
    ...unit,
    option: "typicalP",
    help: "choose among the tokens that are as surprising as expected, up to this probability; 1 is off (default: 1)",
  },
  {
    name: "top-nsigma",
    takes: "number",
    min: 0,
    max: 100,
    option: "topNSigma",
    help: "choose among tokens at most N standard deviations below the likeliest; 0 is off (default: 0)",
  },
  {
    name: "xtc-probability",
    ...unit,
    option: "xtcProbability",
    help: "how often to leave out the likeliest tokens; 0 is off (default: 0)",
  },
  {
    name: "xtc-threshold",
    ...unit,
    option: "xtcThreshold",
    help: "how likely tokens must be that XTC leaves out (default: 0.1)",
  },
  {
    name: "dry-multiplier",
    takes: "number",
    min: 0,
    max: 100,
    option: "dryMultiplier",
    help: "how much to lower tokens that repeat a sequence; 0 is off (default: 0)",
  },
  {
    name: "dry-base",
    takes: "number",
    min: 1,
    max: 100,
    option: "dryBase",
    help: "how much more for each token of the sequence (default: 1.75)",
  },
  {
    name: "dry-allowed-length",
    takes: "integer",
    min: 0,
    max: 1 << 20,
    option: "dryAllowedLength",
    help: "how long a sequence may be repeated (default: 2)",
  },
  {
    name: "dry-penalty-last-n",
    ...look,
    option: "dryPenaltyLastN",
    help: "how far back to look for sequences; -1 is the whole context (default: 64)",
  },
  {
    name: "repeat-last-n",
    ...look,
    option: "penaltyLastN",
    help: "how far back the penalties look; -1 is the whole context (default: 64)",
  },
  {
    name: "frequency-penalty",
    takes: "number",
    min: -100,
    max: 100,
    option: "frequencyPenalty",
    help: "lower recent tokens for each time that they came (default: 0)",
  },
  {
    name: "presence-penalty",
    takes: "number",
    min: -100,
    max: 100,
    option: "presencePenalty",
    help: "lower recent tokens once (default: 0)",
  },
  {
    name: "dynatemp-range",
    takes: "number",
    min: 0,
    max: 100,
    option: "dynatempRange",
    help: "how far the temperature follows the model's doubt; 0 is off (default: 0)",
  },
  {
    name: "dynatemp-exp",
    takes: "number",
    min: 0.01,
    max: 100,
    option: "dynatempExponent",
    help: "how doubt becomes temperature (default: 1)",
  },
  {
    name: "mirostat",
    takes: "integer",
    min: 0,
    max: 2,
    option: "mirostat",
    help: "keep the surprise steady: version 1 or 2; 0 is off (default: 0)",
  },
  {
    name: "mirostat-ent",
    takes: "number",
    min: 0,
    max: 100,
    option: "mirostatTau",
    help: "the surprise that Mirostat aims at (default: 5)",
  },
  {
    name: "mirostat-lr",
    takes: "number",
    min: 0,
    max: 10,
    option: "mirostatEta",
    help: "how quickly Mirostat corrects itself (default: 0.1)",
  },
  {
    name: "adaptive-target",
    ...unit,
    option: "adaptiveTarget",
    help: "choose tokens of about this probability (default: off)",
  },
  {
    name: "adaptive-decay",
    takes: "number",
    min: 0,
    max: 0.99,
    option: "adaptiveDecay",
    help: "how long adaptive-target remembers (default: 0.9)",
  },
  {
    name: "min-tokens",
    takes: "integer",
    min: 0,
    max: 2 ** 31 - 1,
    option: "minTokens",
    help: "tokens to generate before the model may end (default: 0)",
  },
  {
    name: "logprobs",
    takes: "integer",
    min: 0,
    max: 1000,
    option: "logprobs",
    help: "with --json: each token's log-probability and N alternatives",
  },
];

/** The flags that decide how tokens are chosen, but for the most common. */
export const SAMPLING_FLAGS: readonly Flag[] = [
  ...NUMBER_FLAGS,
  {
    name: "dry-sequence-breaker",
    takes: "text",
    many: true,
    help: "text that a repeated sequence doesn't go across; may be given more than once",
  },
  {
    name: "samplers",
    takes: "text",
    placeholder: "NAMES",
    help: "which samplers in which order, separated by ; such as top-k;top-p;temperature",
  },
  {
    name: "logit-bias",
    takes: "text",
    many: true,
    placeholder: "ID(+/-)BIAS",
    help: "add BIAS to a token's logit: 15043+1; may be given more than once",
  },
  { name: "ban", takes: "text", many: true, help: "text that must not be generated; may be given more than once" },
  { name: "ignore-eos", help: "never end by the model's end token" },
  { name: "grammar", takes: "text", help: "a grammar in GBNF that the text keeps to" },
  { name: "grammar-file", takes: "text", placeholder: "FILE", help: "the grammar out of a file" },
];

/** What the flags ask for. @throws {UsageError} for a grammar that can't be read, a bad bias and an unknown sampler. */
export function givenSampling(given: Given): GenerationOptions {
  const numbers = Object.fromEntries(
    NUMBER_FLAGS.map(({ name, option }) => [option, given.number(name)]).filter(([, value]) => value !== undefined),
  );
  const texts = (name: string) => given.texts(name).length === 0 ? undefined : given.texts(name);
  const lists: GenerationOptions = {
    drySequenceBreakers: texts("dry-sequence-breaker"),
    bannedStrings: texts("ban"),
    samplers: givenSamplers(given.text("samplers")),
    logitBias: texts("logit-bias")?.map(bias),
    grammar: givenGrammar(given),
    ignoreEos: given.has("ignore-eos") ? true : undefined,
  };
  const set = Object.entries(lists).filter(([, value]) => value !== undefined);
  return { ...numbers, ...Object.fromEntries(set) as GenerationOptions };
}

function givenGrammar(given: Given): string | undefined {
  const [text, path] = [given.text("grammar"), given.text("grammar-file")];
  if (text !== undefined && path !== undefined) throw new UsageError("give one of --grammar and --grammar-file");
  if (path === undefined) return text;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`--grammar-file: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function bias(text: string): LogitBias {
  const parts = /^(\d+)([+-](?:\d+(?:\.\d+)?|inf))$/.exec(text);
  if (parts === null) {
    throw new UsageError(`--logit-bias is ID+BIAS or ID-BIAS, such as 15043+1 or 2-inf, not "${text}"`);
  }
  return { token: Number(parts[1]), bias: parts[2] === "-inf" ? -Infinity : Number(parts[2]) };
}

const samplerNames: Readonly<Record<string, SamplerName>> = {
  penalties: "penalties",
  dry: "dry",
  topnsigma: "topNSigma",
  topk: "topK",
  typp: "typicalP",
  typicalp: "typicalP",
  topp: "topP",
  minp: "minP",
  xtc: "xtc",
  temperature: "temperature",
  temp: "temperature",
  infill: "infill",
  adaptivep: "adaptiveP",
};

/** Names as upstream writes them, with or without dashes. */
function givenSamplers(text: string | undefined): SamplerName[] | undefined {
  return text?.split(";").filter((name) => name.trim() !== "").map((name) => {
    const found = samplerNames[name.trim().toLowerCase().replaceAll(/[-_]/g, "")];
    if (found !== undefined) return found;
    throw new UsageError(
      `--samplers has no ${name.trim()}; it knows penalties, dry, top-n-sigma, top-k, typ-p, top-p, min-p, xtc, temperature, infill, adaptive-p`,
    );
  });
}
