import { InvalidArgumentError } from "../../errors.ts";
import { checkBoolean, checkInteger, checkNumber, checkText, show } from "../../support/check.ts";
import { type BiasSettings, checkBias, type LogitBias } from "./logit_bias.ts";
import { checkSome } from "./grammar.ts";
import { checkOrder, type ModuleSampler, type OrderSettings, type SamplerFunction, type SamplerName } from "./order.ts";

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

/** The names of {@linkcode SamplingOptions}. */
export const samplingOptionNames = [
  "temperature",
  "dynatempRange",
  "dynatempExponent",
  "topK",
  "topP",
  "minP",
  "typicalP",
  "topNSigma",
  "minKeep",
  "xtcProbability",
  "xtcThreshold",
  "dryMultiplier",
  "dryBase",
  "dryAllowedLength",
  "dryPenaltyLastN",
  "drySequenceBreakers",
  "repeatPenalty",
  "frequencyPenalty",
  "presencePenalty",
  "penaltyLastN",
  "mirostat",
  "mirostatTau",
  "mirostatEta",
  "adaptiveTarget",
  "adaptiveDecay",
  "seed",
  "samplers",
  "logitBias",
  "ignoreEos",
  "minTokens",
  "bannedStrings",
  "logprobs",
] as const satisfies readonly (keyof SamplingOptions)[];

/** The options that are numbers, each of them set. */
export type SamplingNumbers = typeof defaults & { mirostat: 0 | 1 | 2 };

/** Checked sampling parameters, every one of them set. Plain data: it goes to the native thread. */
export interface SamplingSettings extends SamplingNumbers {
  /** See {@linkcode SamplingOptions.drySequenceBreakers}. */
  drySequenceBreakers: readonly string[];
  /** See {@linkcode SamplingOptions.adaptiveTarget}. */
  adaptiveTarget: number | undefined;
  /** See {@linkcode SamplingOptions.seed}. */
  seed: number;
  /** See {@linkcode SamplingOptions.samplers}. */
  samplers: readonly OrderSettings[];
  /** See {@linkcode SamplingOptions.logitBias}. */
  logitBias: readonly BiasSettings[];
  /** See {@linkcode SamplingOptions.ignoreEos}. */
  ignoreEos: boolean;
  /** See {@linkcode SamplingOptions.bannedStrings}. */
  bannedStrings: readonly string[];
  /** See {@linkcode SamplingOptions.logprobs}. */
  logprobs: number | undefined;
}

/** The largest seed; the next number is `LLAMA_DEFAULT_SEED`, which asks for a random one. */
export const LARGEST_SEED = 0xffff_fffe;
const SMALLEST_PENALTY = 0.01;
const LONGEST_LOOK_BACK = 1 << 20;
const MAX_BREAKERS = 64;
const MAX_BANNED_STRINGS = 1000;
const LARGEST_INTEGER = 0x7fff_ffff;

const defaults = {
  temperature: 0.8,
  dynatempRange: 0,
  dynatempExponent: 1,
  topK: 40,
  topP: 0.95,
  minP: 0.05,
  typicalP: 1,
  topNSigma: 0,
  minKeep: 0,
  xtcProbability: 0,
  xtcThreshold: 0.1,
  dryMultiplier: 0,
  dryBase: 1.75,
  dryAllowedLength: 2,
  dryPenaltyLastN: 64,
  repeatPenalty: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  penaltyLastN: 64,
  mirostat: 0,
  mirostatTau: 5,
  mirostatEta: 0.1,
  adaptiveDecay: 0.9,
  minTokens: 0,
};

/** The ranges of the numbers; `true` behind one asks for a whole number. */
const ranges: Readonly<Record<keyof typeof defaults, readonly [min: number, max: number, whole?: true]>> = {
  temperature: [0, 100],
  dynatempRange: [0, 100],
  dynatempExponent: [0.01, 100],
  topK: [0, LARGEST_INTEGER, true],
  topP: [0, 1],
  minP: [0, 1],
  typicalP: [0, 1],
  topNSigma: [0, 100],
  minKeep: [0, 1_000_000, true],
  xtcProbability: [0, 1],
  xtcThreshold: [0, 1],
  dryMultiplier: [0, 100],
  dryBase: [1, 100],
  dryAllowedLength: [0, LONGEST_LOOK_BACK, true],
  dryPenaltyLastN: [-1, LONGEST_LOOK_BACK, true],
  repeatPenalty: [SMALLEST_PENALTY, 100],
  frequencyPenalty: [-100, 100],
  presencePenalty: [-100, 100],
  penaltyLastN: [-1, LONGEST_LOOK_BACK, true],
  mirostat: [0, 2, true],
  mirostatTau: [0, 100],
  mirostatEta: [0, 10],
  adaptiveDecay: [0, 0.99],
  minTokens: [0, LARGEST_INTEGER, true],
};

/** Checks sampling options and fills in the defaults. Throws {@linkcode InvalidArgumentError}. */
export function checkSampling(options: SamplingOptions): SamplingSettings {
  const numbers = { ...defaults };
  for (const name of Object.keys(defaults) as (keyof typeof defaults)[]) {
    const [min, max, whole] = ranges[name];
    const value = options[name];
    if (value !== undefined) numbers[name] = (whole ? checkInteger : checkNumber)(name, value, { min, max });
  }
  const { adaptiveTarget, seed = randomSeed(), ignoreEos = false, logprobs } = options;
  return {
    ...numbers,
    mirostat: numbers.mirostat as 0 | 1 | 2,
    adaptiveTarget: adaptiveTarget === undefined
      ? undefined
      : checkNumber("adaptiveTarget", adaptiveTarget, { min: 0, max: 1 }),
    seed: checkInteger("seed", seed, { min: 0, max: LARGEST_SEED }),
    drySequenceBreakers: checkTexts(
      "drySequenceBreakers",
      options.drySequenceBreakers ?? ["\n", ":", '"', "*"],
      MAX_BREAKERS,
    ),
    samplers: checkOrder(options),
    logitBias: checkBias(options.logitBias),
    ignoreEos: checkBoolean("ignoreEos", ignoreEos),
    bannedStrings: checkTexts("bannedStrings", options.bannedStrings ?? [], MAX_BANNED_STRINGS),
    logprobs: logprobs === undefined ? undefined : checkInteger("logprobs", logprobs, { min: 0, max: 1000 }),
  };
}

function checkTexts(name: string, texts: unknown, most: number): readonly string[] {
  if (!Array.isArray(texts) || texts.length > most) {
    throw new InvalidArgumentError(`${name} is ${show(texts)}; give an array of at most ${most} strings`, {
      value: texts,
      expected: `at most ${most} strings`,
    });
  }
  return texts.map((text: unknown, index) => checkNoNul(`${name}[${index}]`, checkSome(`${name}[${index}]`, text)));
}

/** C strings end at a NUL. */
function checkNoNul(name: string, text: string): string {
  if (!text.includes("\0")) return checkText(name, text);
  throw new InvalidArgumentError(`${name} holds a NUL character; leave it out`, {
    value: text,
    expected: "text without \\0",
  });
}

function randomSeed(): number {
  const [value = 0] = crypto.getRandomValues(new Uint32Array(1));
  return Math.min(value, LARGEST_SEED);
}
