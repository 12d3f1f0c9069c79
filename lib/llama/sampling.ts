import { checkInteger, checkNumber } from "../options.ts";

/** How the next token is chosen. The names are the field's; the defaults are upstream's. */
export interface SamplingOptions {
  /** How freely to choose: 0 always takes the likeliest token, 1 follows the model's own probabilities. 0 to 100, default 0.8. C: `llama_sampler_init_temp_ext`. */
  temperature?: number | undefined;
  /** Choose among this many of the likeliest tokens; 0 means all. Default 40. C: `llama_sampler_init_top_k`. */
  topK?: number | undefined;
  /** Choose among the likeliest tokens that have this much probability together; 1 means all. 0 to 1, default 0.95. C: `llama_sampler_init_top_p`. */
  topP?: number | undefined;
  /** Leave out tokens that are less likely than this part of the likeliest one's probability; 0 leaves out none. 0 to 1, default 0.05. C: `llama_sampler_init_min_p`. */
  minP?: number | undefined;
  /** Make tokens that came lately less likely: above 1; 1 means no change. 0.01 to 100, default 1. C: `llama_sampler_init_penalties`, `penalty_repeat`. */
  repeatPenalty?: number | undefined;
  /** How many of the latest tokens {@linkcode SamplingOptions.repeatPenalty} looks at. 0 to 1,048,576, default 64. C: `penalty_last_n`. */
  repeatLastN?: number | undefined;
  /** Where the random numbers start: the same seed gives the same tokens. 0 to 4,294,967,294, default random and reported in the result. C: `llama_sampler_init_dist`. */
  seed?: number | undefined;
}

/** The names of {@linkcode SamplingOptions}. */
export const samplingOptionNames = [
  "temperature",
  "topK",
  "topP",
  "minP",
  "repeatPenalty",
  "repeatLastN",
  "seed",
] as const;

/** Checked sampling parameters, every one of them set. */
export interface SamplingSettings {
  /** See {@linkcode SamplingOptions.temperature}. */
  temperature: number;
  /** See {@linkcode SamplingOptions.topK}. */
  topK: number;
  /** See {@linkcode SamplingOptions.topP}. */
  topP: number;
  /** See {@linkcode SamplingOptions.minP}. */
  minP: number;
  /** See {@linkcode SamplingOptions.repeatPenalty}. */
  repeatPenalty: number;
  /** See {@linkcode SamplingOptions.repeatLastN}. */
  repeatLastN: number;
  /** See {@linkcode SamplingOptions.seed}. */
  seed: number;
}

/** The largest seed; the next number is `LLAMA_DEFAULT_SEED`, which asks for a random one. */
export const largestSeed = 0xffff_fffe;
const smallestPenalty = 0.01;

/** Checks sampling options and fills in the defaults. Throws {@linkcode InvalidArgumentError}. */
export function checkSampling(options: SamplingOptions): SamplingSettings {
  const {
    temperature = 0.8,
    topK = 40,
    topP = 0.95,
    minP = 0.05,
    repeatPenalty = 1,
    repeatLastN = 64,
    seed = randomSeed(),
  } = options;
  return {
    temperature: checkNumber("temperature", temperature, { min: 0, max: 100 }),
    topK: checkInteger("topK", topK, { min: 0, max: 0x7fff_ffff }),
    topP: checkNumber("topP", topP, { min: 0, max: 1 }),
    minP: checkNumber("minP", minP, { min: 0, max: 1 }),
    repeatPenalty: checkNumber("repeatPenalty", repeatPenalty, { min: smallestPenalty, max: 100 }),
    repeatLastN: checkInteger("repeatLastN", repeatLastN, { min: 0, max: 1 << 20 }),
    seed: checkInteger("seed", seed, { min: 0, max: largestSeed }),
  };
}

function randomSeed(): number {
  const [value = 0] = crypto.getRandomValues(new Uint32Array(1));
  return Math.min(value, largestSeed);
}
