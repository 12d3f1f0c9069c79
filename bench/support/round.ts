/** The options of one generation, the same for the C loop and for ours. */
export interface Round {
  maxTokens: number;
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
  repeatPenalty: number;
  seed: number;
  /** One line of text. */
  prompt: string;
}

/** The time and the tokens of a generation. */
export interface Measured {
  promptTokens: number;
  /** From before the first decode of the prompt to after the last, in milliseconds. */
  promptMs: number;
  /** From there to the last token, in milliseconds. */
  generateMs: number;
  /** As the caller sees it, from the call to the result, in milliseconds. */
  wholeMs: number;
  /** The ids of the tokens made. */
  tokens: number[];
}

/** A round as the line that the C loop and our own child understand. */
export function toLine(round: Round): string {
  const { maxTokens, temperature, topK, topP, minP, repeatPenalty, seed, prompt } = round;
  return `run ${maxTokens} ${temperature} ${topK} ${topP} ${minP} ${repeatPenalty} ${seed} ${prompt}`;
}

/** The round that a line asks for. */
export function fromLine(line: string): Round {
  const [, ...parts] = line.split(" ");
  const [maxTokens = NaN, temperature = NaN, topK = NaN, topP = NaN, minP = NaN, repeatPenalty = NaN, seed = NaN] =
    parts.map(Number);
  return { maxTokens, temperature, topK, topP, minP, repeatPenalty, seed, prompt: parts.slice(7).join(" ") };
}

/** Upstream's default sampling, with a fixed seed. */
export const DEFAULT_SAMPLING = {
  temperature: 0.8,
  topK: 40,
  topP: 0.95,
  minP: 0.05,
  repeatPenalty: 1,
  seed: 7,
} as const;
/** Always the likeliest token. */
export const GREEDY = { ...DEFAULT_SAMPLING, temperature: 0 } as const;
