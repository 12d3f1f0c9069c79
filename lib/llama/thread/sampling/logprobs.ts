import type { TokenLogprob, TokenLogprobs } from "../protocol.ts";
import type { TokenBytes } from "../tokenizer.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Collects the log-probability of each token and its likeliest alternatives. */
export class Logprobs {
  readonly #count: number;
  readonly #bytes: TokenBytes;
  /** The report, one entry per token. */
  readonly tokens: TokenLogprobs[] = [];

  /** Reports this number of alternatives. */
  constructor(count: number, bytes: TokenBytes) {
    this.#count = count;
    this.#bytes = bytes;
  }

  /** Reports a token that was chosen from these logits. */
  add(token: number, logits: Float32Array): void {
    const base = logSum(logits);
    const describe = (id: number): TokenLogprob => {
      const bytes = Array.from(this.#bytes.of(id));
      return {
        token: id,
        text: decoder.decode(Uint8Array.from(bytes)),
        bytes,
        logprob: (logits[id] ?? -Infinity) - base,
      };
    };
    this.tokens.push({ ...describe(token), alternatives: largest(logits, this.#count).map(describe) });
  }
}

/** Steps of e^-x from 0 to where it no longer counts. */
const STEPS_IN_ONE = 64;
const SMALLEST = 100;
const steps = Float64Array.from({ length: SMALLEST * STEPS_IN_ONE + 1 }, (_, step) => Math.exp(-step / STEPS_IN_ONE));

/** Returns the log of the sum of the exponentials, to 11 digits. `Math.exp` for each number of a large vocabulary would take a tenth of a token's time. */
export function logSum(logits: Float32Array): number {
  const count = logits.length;
  let most = -Infinity;
  for (let index = 0; index < count; index++) {
    const logit = logits[index] as number;
    if (logit > most) most = logit;
  }
  if (most === -Infinity) return most;
  let sum = 0;
  for (let index = 0; index < count; index++) {
    const below = most - (logits[index] as number);
    if (!(below < SMALLEST)) continue;
    const step = (below * STEPS_IN_ONE) | 0;
    const rest = step / STEPS_IN_ONE - below;
    sum += (steps[step] as number) * (1 + rest * (1 + rest / 2 * (1 + rest / 3 * (1 + rest / 4))));
  }
  return most + Math.log(sum);
}

/** Returns the indices of the largest numbers, the largest first; of equal numbers the first. */
export function largest(values: Float32Array, count: number): number[] {
  const found: number[] = [];
  if (count === 0) return found;
  let least = -Infinity;
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number;
    if (found.length >= count && !(value > least)) continue;
    let at = found.length;
    while (at > 0 && value > (values[found[at - 1] as number] as number)) at--;
    found.splice(at, 0, index);
    if (found.length > count) found.pop();
    least = values[found.at(-1) as number] as number;
  }
  return found;
}
