import { samplingRules } from "../../lib/llama/sampling/options.ts";
import type { GenerationOptions, LogitBias, SamplerName } from "../../mod.ts";
import { UsageError } from "../errors.ts";
import { type Flag, type OptionFlag, optionFlag } from "./flag.ts";
import type { Given } from "./parse.ts";

/** The flags that set a number. */
export const NUMBER_FLAGS: readonly OptionFlag<keyof typeof samplingRules>[] = [
  optionFlag("temperature", samplingRules, {
    name: "temp",
    also: ["--temperature"],
    help: "randomness of the choice; 0 always takes the most probable token",
  }),
  optionFlag("topK", samplingRules, {
    name: "top-k",
    placeholder: "K",
    help: "choose among the K most probable tokens; 0 is off",
  }),
  optionFlag("topP", samplingRules, {
    name: "top-p",
    placeholder: "P",
    help: "choose among the most probable tokens whose probabilities add up to P; 1 is off",
  }),
  optionFlag("minP", samplingRules, {
    name: "min-p",
    placeholder: "P",
    help: "drop tokens less probable than P times the most probable one; 0 is off",
  }),
  optionFlag("repeatPenalty", samplingRules, { name: "repeat-penalty", help: "penalty of recent tokens; 1 is off" }),
  optionFlag("frequencyPenalty", samplingRules, {
    name: "frequency-penalty",
    help: "penalty of recent tokens per occurrence; 0 is off",
  }),
  optionFlag("presencePenalty", samplingRules, {
    name: "presence-penalty",
    help: "penalty of recent tokens, once; 0 is off",
  }),
  optionFlag("penaltyLastN", samplingRules, {
    name: "repeat-last-n",
    help: "number of tokens that the penalties look back; -1 is the whole context",
  }),
  optionFlag("typicalP", samplingRules, {
    name: "typical",
    also: ["--typical-p"],
    help:
      "locally typical sampling: choose among tokens about as surprising as expected, up to this probability; 1 is off",
  }),
  optionFlag("topNSigma", samplingRules, {
    name: "top-nsigma",
    help: "choose among tokens at most N standard deviations below the most probable one; 0 is off",
  }),
  optionFlag("xtcProbability", samplingRules, {
    name: "xtc-probability",
    help: "probability that XTC drops the most probable tokens; 0 is off",
  }),
  optionFlag("xtcThreshold", samplingRules, {
    name: "xtc-threshold",
    help: "probability of the tokens that XTC drops",
  }),
  optionFlag("dryMultiplier", samplingRules, {
    name: "dry-multiplier",
    help: "DRY penalty of tokens that continue a repetition; 0 is off",
  }),
  optionFlag("dryBase", samplingRules, {
    name: "dry-base",
    help: "growth of the DRY penalty for each token of the repetition",
  }),
  optionFlag("dryAllowedLength", samplingRules, {
    name: "dry-allowed-length",
    help: "length of a repetition without DRY penalty",
  }),
  optionFlag("dryPenaltyLastN", samplingRules, {
    name: "dry-penalty-last-n",
    help: "number of tokens that DRY looks back; -1 is the whole context",
  }),
  optionFlag("dynatempRange", samplingRules, {
    name: "dynatemp-range",
    help: "range of the dynamic temperature, by the model's uncertainty; 0 is off",
  }),
  optionFlag("dynatempExponent", samplingRules, { name: "dynatemp-exp", help: "exponent of the dynamic temperature" }),
  optionFlag("mirostat", samplingRules, { name: "mirostat", help: "Mirostat version, 1 or 2; 0 is off" }),
  optionFlag("mirostatTau", samplingRules, { name: "mirostat-ent", help: "target entropy of Mirostat" }),
  optionFlag("mirostatEta", samplingRules, { name: "mirostat-lr", help: "learning rate of Mirostat" }),
  optionFlag("adaptiveTarget", samplingRules, {
    name: "adaptive-target",
    default: "off",
    help: "choose tokens of about this probability",
  }),
  optionFlag("adaptiveDecay", samplingRules, { name: "adaptive-decay", help: "decay of the adaptive target" }),
  optionFlag("minTokens", samplingRules, {
    name: "min-tokens",
    help: "minimum number of tokens before the model may end",
  }),
  optionFlag("logprobs", samplingRules, {
    name: "logprobs",
    help: "with --json: the log-probability of each token and of N alternatives",
  }),
];

/** The flags that decide how tokens are chosen. */
export const SAMPLING_FLAGS: readonly Flag[] = [
  ...NUMBER_FLAGS,
  {
    name: "dry-sequence-breaker",
    takes: "text",
    many: true,
    option: "drySequenceBreakers",
    help: "text that ends a repetition for DRY",
  },
  {
    name: "samplers",
    takes: "text",
    placeholder: "NAMES",
    option: "samplers",
    help: "the samplers in their order, separated by ; such as top-k;top-p;temperature",
  },
  {
    name: "logit-bias",
    takes: "text",
    many: true,
    placeholder: "ID(+/-)BIAS",
    option: "logitBias",
    help: "add BIAS to the logit of a token: 15043+1, or 2-inf to exclude it",
  },
  { name: "ban", takes: "text", many: true, option: "bannedStrings", help: "text that is never generated" },
];

/** Returns the sampling options that aren't numbers. @throws {UsageError} for a bad bias and an unknown sampler. */
export function givenSampling(given: Given): GenerationOptions {
  const texts = (name: string) => given.texts(name).length === 0 ? undefined : given.texts(name);
  const lists: GenerationOptions = {
    drySequenceBreakers: texts("dry-sequence-breaker"),
    bannedStrings: texts("ban"),
    samplers: givenSamplers(given.text("samplers")),
    logitBias: texts("logit-bias")?.map(bias),
    ignoreEos: given.has("ignore-eos") ? true : undefined,
  };
  return Object.fromEntries(Object.entries(lists).filter(([, value]) => value !== undefined)) as GenerationOptions;
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
      `--samplers has no ${name.trim()}; it takes penalties, dry, top-n-sigma, top-k, typ-p, top-p, min-p, xtc, temperature, infill, adaptive-p`,
    );
  });
}
