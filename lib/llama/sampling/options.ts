import { InvalidArgumentError } from "../../errors.ts";
import { checkNonEmptyText } from "../../../base/check.ts";
import {
  arrayOf,
  boolean,
  custom,
  integer,
  number,
  type Option,
  options,
  type RulesOf,
  type Settings,
} from "../../../base/options.ts";
import { BIAS_WORDS, checkBias, type LogitBias } from "./logit_bias.ts";
import {
  checkSampler,
  MAX_SAMPLERS,
  type ModuleSampler,
  type OrderSettings,
  type SamplerFunction,
  type SamplerName,
  samplerOrder,
} from "./order.ts";

/** Options for choosing the next token. The defaults are llama.cpp's. */
export interface SamplingOptions {
  /** Sampling temperature: 0 always takes the likeliest token, 1 uses the model's own probabilities. 0 to 100, default 0.8. C: `llama_sampler_init_temp_ext`; with 0 `llama_sampler_init_greedy`. */
  temperature?: number | undefined;
  /** Dynamic temperature: how far {@linkcode SamplingOptions.temperature} may fall where the model is certain and rise where it isn't; 0 turns it off. 0 to 100, default 0. C: `llama_sampler_init_temp_ext`, `delta`. */
  dynatempRange?: number | undefined;
  /** Exponent of the dynamic temperature's dependence on entropy: above 1 it stays low for longer. 0.01 to 100, default 1. C: `llama_sampler_init_temp_ext`, `exponent`. */
  dynatempExponent?: number | undefined;
  /** Keeps this many of the likeliest tokens; 0 keeps all. 0 to 2,147,483,647. Default 40. C: `llama_sampler_init_top_k`. */
  topK?: number | undefined;
  /** Keeps the likeliest tokens whose probabilities add up to this; 1 keeps all. 0 to 1, default 0.95. C: `llama_sampler_init_top_p`. */
  topP?: number | undefined;
  /** Removes tokens less likely than this fraction of the likeliest token's probability; 0 removes none. 0 to 1, default 0.05. C: `llama_sampler_init_min_p`. */
  minP?: number | undefined;
  /** Locally typical sampling: keeps the tokens whose information is closest to the expected one, up to this total probability; 1 keeps all. 0 to 1, default 1. C: `llama_sampler_init_typical`. */
  typicalP?: number | undefined;
  /** Keeps tokens whose logit is at most this many standard deviations below the highest; 0 keeps all. 0 to 100, default 0. C: `llama_sampler_init_top_n_sigma`. */
  topNSigma?: number | undefined;
  /** The minimum number of tokens that top-p, min-p, typical and XTC keep. 0 to 1,000,000, default 0. C: `min_keep`. */
  minKeep?: number | undefined;
  /** Probability of removing the likeliest tokens at each step (XTC); 0 turns it off. 0 to 1, default 0. C: `llama_sampler_init_xtc`, `p`. */
  xtcProbability?: number | undefined;
  /** XTC removes all tokens of at least this probability but the least likely of them; above 0.5 it does nothing. 0 to 1, default 0.1. C: `llama_sampler_init_xtc`, `t`. */
  xtcThreshold?: number | undefined;
  /** Strength of the penalty for tokens that would extend a repeated sequence (DRY); 0 turns it off. 0 to 100, default 0. C: `llama_sampler_init_dry`, `dry_multiplier`. */
  dryMultiplier?: number | undefined;
  /** Base of the DRY penalty, which is {@linkcode SamplingOptions.dryMultiplier} times this to the power of the sequence's length beyond the allowed one. 1 to 100, default 1.75. C: `dry_base`. */
  dryBase?: number | undefined;
  /** Length in tokens of the sequences that DRY lets repeat. 0 to 1,048,576, default 2. C: `dry_allowed_length`. */
  dryAllowedLength?: number | undefined;
  /** Number of latest tokens that DRY looks at; -1 means the whole context. -1 to 1,048,576, default 64. C: `dry_penalty_last_n`. */
  dryPenaltyLastN?: number | undefined;
  /** Strings that end a repeated sequence for DRY. Up to 64, default `["\n", ":", "\"", "*"]`. C: `seq_breakers`. */
  drySequenceBreakers?: readonly string[] | undefined;
  /** Penalty on recent tokens: above 1 makes them less likely; 1 changes nothing. 0.01 to 100, default 1. C: `llama_sampler_init_penalties`, `penalty_repeat`. */
  repeatPenalty?: number | undefined;
  /** Subtracted from a token's logit for each recent occurrence. -100 to 100, default 0. C: `penalty_freq`. */
  frequencyPenalty?: number | undefined;
  /** Subtracted from a token's logit if it occurred recently. -100 to 100, default 0. C: `penalty_present`. */
  presencePenalty?: number | undefined;
  /** Number of latest tokens that the penalties look at, including the prompt; -1 means the whole context. -1 to 1,048,576, default 64. C: `penalty_last_n`. */
  penaltyLastN?: number | undefined;
  /** The version of Mirostat, which keeps the perplexity of the text constant; 0 turns it off. It runs after penalties, DRY and the temperature, and replaces all other samplers. Default 0. C: `llama_sampler_init_mirostat`, `llama_sampler_init_mirostat_v2`. */
  mirostat?: 0 | 1 | 2 | undefined;
  /** Target entropy of Mirostat in bits. 0 to 100, default 5. C: `tau`. */
  mirostatTau?: number | undefined;
  /** Learning rate of Mirostat. 0 to 10, default 0.1. C: `eta`. */
  mirostatEta?: number | undefined;
  /** Target probability of the chosen tokens, on average (adaptive-p). It is the last sampler and makes the choice. 0 to 1, default off. C: `llama_sampler_init_adaptive_p`, `target`. */
  adaptiveTarget?: number | undefined;
  /** Decay of adaptive-p's history, which is about 1 / (1 - this) tokens long. 0 to 0.99, default 0.9. C: `decay`. */
  adaptiveDecay?: number | undefined;
  /** Seed of the random numbers: the same seed and options give the same tokens. 0 to 4,294,967,294, default random; the result has it. C: `llama_sampler_init_dist`. */
  seed?: number | undefined;
  /**
   * The samplers in the order in which they are applied: names, and custom samplers as functions or modules. Samplers whose value changes nothing are left
   * out. Default `["penalties", "dry", "topNSigma", "topK", "typicalP", "topP", "minP", "xtc", "temperature"]`, followed by `"adaptiveP"` if
   * {@linkcode SamplingOptions.adaptiveTarget} is given. An option of a sampler that isn't in the list is an error. At most 64.
   */
  samplers?: readonly (SamplerName | SamplerFunction | ModuleSampler)[] | undefined;
  /** Values added to the logits of tokens before all samplers: an object by token id, or a list with ids and texts. -1e9 to 1e9; -Infinity makes a token impossible. At most 100,000, default none. C: `llama_sampler_init_logit_bias`. */
  logitBias?: Readonly<Record<number, number>> | readonly LogitBias[] | undefined;
  /** Makes the model's end tokens impossible. Default false. */
  ignoreEos?: boolean | undefined;
  /** The minimum number of generated tokens before an end token is possible. 0 to 2,147,483,647, default 0. */
  minTokens?: number | undefined;
  /** Strings that never appear in the generated text: a token that would complete one is impossible. At most 1,000, none empty. Default none. */
  bannedStrings?: readonly string[] | undefined;
  /** Reports the log-probability of each token and this many of its likeliest alternatives, as the model computed them, before all samplers. 0 to 1,000, default no report. */
  logprobs?: number | undefined;
}

/** The largest seed; the next number is `LLAMA_DEFAULT_SEED`, which asks for a random one. */
export const MAX_SEED = 0xffff_fffe;
const MIN_PENALTY = 0.01;
const MAX_LOOK_BACK = 1 << 20;
const MAX_BREAKERS = 64;
const MAX_BANNED_STRINGS = 1000;
const MAX_LOGPROBS = 1000;
const MAX_MIN_KEEP = 1_000_000;
const MAX_INT = 0x7fff_ffff;

/** {@linkcode SamplingOptions}, declared. */
export const samplingRules = {
  temperature: number({ min: 0, max: 100, default: 0.8 }),
  dynatempRange: number({ min: 0, max: 100, default: 0 }),
  dynatempExponent: number({ min: 0.01, max: 100, default: 1 }),
  topK: integer({ min: 0, max: MAX_INT, default: 40 }),
  topP: number({ min: 0, max: 1, default: 0.95 }),
  minP: number({ min: 0, max: 1, default: 0.05 }),
  typicalP: number({ min: 0, max: 1, default: 1 }),
  topNSigma: number({ min: 0, max: 100, default: 0 }),
  minKeep: integer({ min: 0, max: MAX_MIN_KEEP, default: 0 }),
  xtcProbability: number({ min: 0, max: 1, default: 0 }),
  xtcThreshold: number({ min: 0, max: 1, default: 0.1 }),
  dryMultiplier: number({ min: 0, max: 100, default: 0 }),
  dryBase: number({ min: 1, max: 100, default: 1.75 }),
  dryAllowedLength: integer({ min: 0, max: MAX_LOOK_BACK, default: 2 }),
  dryPenaltyLastN: integer({ min: -1, max: MAX_LOOK_BACK, default: 64 }),
  drySequenceBreakers: arrayOf(checkCText, { min: 0, max: MAX_BREAKERS, default: ["\n", ":", '"', "*"] }),
  repeatPenalty: number({ min: MIN_PENALTY, max: 100, default: 1 }),
  frequencyPenalty: number({ min: -100, max: 100, default: 0 }),
  presencePenalty: number({ min: -100, max: 100, default: 0 }),
  penaltyLastN: integer({ min: -1, max: MAX_LOOK_BACK, default: 64 }),
  mirostat: integer({ min: 0, max: 2, default: 0 }) as Option<0 | 1 | 2>,
  mirostatTau: number({ min: 0, max: 100, default: 5 }),
  mirostatEta: number({ min: 0, max: 10, default: 0.1 }),
  adaptiveTarget: number({ min: 0, max: 1 }),
  adaptiveDecay: number({ min: 0, max: 0.99, default: 0.9 }),
  seed: integer({ min: 0, max: MAX_SEED, default: randomSeed }),
  samplers: arrayOf(checkSampler, { min: 0, max: MAX_SAMPLERS }),
  logitBias: custom(BIAS_WORDS, checkBias, { default: [] }),
  ignoreEos: boolean({ default: false }),
  minTokens: integer({ min: 0, max: MAX_INT, default: 0 }),
  bannedStrings: arrayOf(checkCText, { min: 0, max: MAX_BANNED_STRINGS, default: [] }),
  logprobs: integer({ min: 0, max: MAX_LOGPROBS }),
} as const satisfies RulesOf<SamplingOptions>;

/** {@linkcode SamplingOptions}, each checked on its own. */
export type CheckedSampling = Settings<typeof samplingRules>;

/** {@linkcode SamplingOptions}, checked. Plain data: it goes to the native thread. */
export interface SamplingSettings extends Omit<CheckedSampling, "samplers"> {
  /** See {@linkcode SamplingOptions.samplers}. */
  samplers: readonly OrderSettings[];
}

const spec = options("sampling", samplingRules);

/** Checks sampling options and fills in the defaults. Throws {@linkcode InvalidArgumentError}. */
export function checkSampling(given: SamplingOptions): SamplingSettings {
  return samplingSettings(spec.check(given), given).sampling;
}

/**
 * Checks combinations of options that are valid on their own. Throws {@linkcode InvalidArgumentError}.
 *
 * @param checked The options with their defaults.
 * @param given The options as they were given: a default conflicts with nothing.
 */
export function samplingSettings(
  checked: CheckedSampling,
  given: SamplingOptions,
): { sampling: SamplingSettings; functions: readonly SamplerFunction[] } {
  const { order, functions } = samplerOrder(checked, given);
  return { sampling: { ...checked, samplers: order }, functions };
}

/** Checks a string that isn't empty and goes to C, where strings end at a NUL. */
function checkCText(name: string, value: unknown): string {
  const text = checkNonEmptyText(name, value);
  if (!text.includes("\0")) return text;
  throw new InvalidArgumentError(`${name} has a NUL character; leave it out`, {
    value: text,
    expected: "a string without \\0",
  });
}

function randomSeed(): number {
  const [value = 0] = crypto.getRandomValues(new Uint32Array(1));
  return Math.min(value, MAX_SEED);
}
