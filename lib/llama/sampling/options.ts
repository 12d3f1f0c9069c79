import { InvalidArgumentError } from "../../errors.ts";
import { checkNonEmptyText } from "../../support/check.ts";
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
} from "../../support/options.ts";
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

/** How the next token is chosen. The names are the field's; the defaults are upstream's. */
export interface SamplingOptions {
  /** How freely to choose: 0 always takes the likeliest token, 1 follows the model's own probabilities. 0 to 100, default 0.8. C: `llama_sampler_init_temp_ext`; with 0 `llama_sampler_init_greedy`. */
  temperature?: number | undefined;
  /** How much {@linkcode SamplingOptions.temperature} may go down where the model is sure and up where it isn't; 0 means not at all. 0 to 100, default 0. C: `llama_sampler_init_temp_ext`, `delta`. */
  dynatempRange?: number | undefined;
  /** How the model's doubt becomes the temperature: above 1 it stays low for longer. 0.01 to 100, default 1. C: `llama_sampler_init_temp_ext`, `exponent`. */
  dynatempExponent?: number | undefined;
  /** Choose among this many of the likeliest tokens; 0 means all. Default 40. C: `llama_sampler_init_top_k`. */
  topK?: number | undefined;
  /** Choose among the likeliest tokens that have this much probability together; 1 means all. 0 to 1, default 0.95. C: `llama_sampler_init_top_p`. */
  topP?: number | undefined;
  /** Leave out tokens that are less likely than this part of the likeliest one's probability; 0 leaves out none. 0 to 1, default 0.05. C: `llama_sampler_init_min_p`. */
  minP?: number | undefined;
  /** Choose among the tokens whose information is nearest to what is expected and that have this much probability together; 1 means all. 0 to 1, default 1. C: `llama_sampler_init_typical`. */
  typicalP?: number | undefined;
  /** Choose among the tokens whose logit is at most this many standard deviations below the highest; 0 means all. 0 to 100, default 0. C: `llama_sampler_init_top_n_sigma`. */
  topNSigma?: number | undefined;
  /** How many tokens top-p, min-p, typical and XTC leave at the least. 0 to 1,000,000, default 0. C: `min_keep`. */
  minKeep?: number | undefined;
  /** How often to leave out the likeliest tokens, so that a rarer one comes (XTC); 0 means never. 0 to 1, default 0. C: `llama_sampler_init_xtc`, `p`. */
  xtcProbability?: number | undefined;
  /** XTC leaves out all tokens of at least this probability but the last one of them; above 0.5 it does nothing. 0 to 1, default 0.1. C: `llama_sampler_init_xtc`, `t`. */
  xtcThreshold?: number | undefined;
  /** How much to lower tokens that would go on with a sequence that came before (DRY); 0 means not at all. 0 to 100, default 0. C: `llama_sampler_init_dry`, `dry_multiplier`. */
  dryMultiplier?: number | undefined;
  /** DRY lowers by {@linkcode SamplingOptions.dryMultiplier} times this to the power of how much longer than allowed the sequence is. 1 to 100, default 1.75. C: `dry_base`. */
  dryBase?: number | undefined;
  /** Sequences of up to this many tokens may be repeated. 0 to 1,048,576, default 2. C: `dry_allowed_length`. */
  dryAllowedLength?: number | undefined;
  /** How many of the latest tokens DRY looks at; -1 means the whole context. -1 to 1,048,576, default 64. C: `dry_penalty_last_n`. */
  dryPenaltyLastN?: number | undefined;
  /** Text that a repeated sequence doesn't go across. Up to 64, default `["\n", ":", "\"", "*"]`. C: `seq_breakers`. */
  drySequenceBreakers?: readonly string[] | undefined;
  /** Make tokens that came lately less likely: above 1; 1 means no change. 0.01 to 100, default 1. C: `llama_sampler_init_penalties`, `penalty_repeat`. */
  repeatPenalty?: number | undefined;
  /** What is taken off a token's logit for each time that it came lately. -100 to 100, default 0. C: `penalty_freq`. */
  frequencyPenalty?: number | undefined;
  /** What is taken off a token's logit when it came lately at all. -100 to 100, default 0. C: `penalty_present`. */
  presencePenalty?: number | undefined;
  /** How many of the latest tokens the penalties look at, those of the prompt too; -1 means the whole context. -1 to 1,048,576, default 64. C: `penalty_last_n`. */
  penaltyLastN?: number | undefined;
  /** Keep the surprise of the text steady instead of cutting off tokens: 1 and 2 are the two versions of Mirostat, 0 is off. It follows penalties, DRY and the temperature and takes the place of all else. Default 0. C: `llama_sampler_init_mirostat`, `llama_sampler_init_mirostat_v2`. */
  mirostat?: 0 | 1 | 2 | undefined;
  /** The surprise, in bits, that Mirostat aims at. 0 to 100, default 5. C: `tau`. */
  mirostatTau?: number | undefined;
  /** How quickly Mirostat corrects itself. 0 to 10, default 0.1. C: `eta`. */
  mirostatEta?: number | undefined;
  /** Choose tokens whose probability is near this one, over time (adaptive-p); it makes the choice, after all others. 0 to 1, default none. C: `llama_sampler_init_adaptive_p`, `target`. */
  adaptiveTarget?: number | undefined;
  /** How long adaptive-p remembers what was chosen: some 1 / (1 - this) tokens. 0 to 0.99, default 0.9. C: `decay`. */
  adaptiveDecay?: number | undefined;
  /** Where the random numbers start: the same seed gives the same tokens. 0 to 4,294,967,294, default random and reported in the result. C: `llama_sampler_init_dist`. */
  seed?: number | undefined;
  /**
   * Which samplers are applied in which order; those whose value changes nothing are left out. Functions and modules of your own stand beside the names.
   * Default `["penalties", "dry", "topNSigma", "topK", "typicalP", "topP", "minP", "xtc", "temperature"]`, with `"adaptiveP"` behind when
   * {@linkcode SamplingOptions.adaptiveTarget} is given. An option of a sampler that isn't in the list is refused.
   */
  samplers?: readonly (SamplerName | SamplerFunction | ModuleSampler)[] | undefined;
  /** What is added to the logits of tokens before all else: by id as OpenAI has it, or a list with ids and texts. -Infinity makes a token impossible. Default none. C: `llama_sampler_init_logit_bias`. */
  logitBias?: Readonly<Record<number, number>> | readonly LogitBias[] | undefined;
  /** Never end by the model's end token. Default false. */
  ignoreEos?: boolean | undefined;
  /** How many tokens to generate before the model's end token may come. 0 to 2,147,483,647, default 0. */
  minTokens?: number | undefined;
  /** Text that never appears in what is generated: the token that would complete one is impossible. Up to 1,000, none empty. Default none. */
  bannedStrings?: readonly string[] | undefined;
  /** Report the log-probability of each token, and this many of the likeliest alternatives to it. They are the model's own, before any sampler. 0 to 1,000, default no report. */
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

/** {@linkcode SamplingOptions}, each checked by itself. */
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
 * Checks how options that are right by themselves go together. Throws {@linkcode InvalidArgumentError}.
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
