import { DisposedError, InvalidArgumentError } from "../../errors.ts";
import { definePicture, listPicture } from "../../../base/inspect.ts";

let lend: typeof lendCandidates;

/**
 * The tokens that may come next, as a custom sampler gets them: a view of the memory that llama.cpp works on, valid during the call. Change logits, or
 * remove tokens; at least one must stay possible. C: `llama_token_data_array`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadModel } from "../model/load_model.ts";
 * import { defaultModelPath } from "../../models/default_model.ts";
 *
 * await using model = await loadModel(await defaultModelPath());
 * const [zero] = model.tokenize("0");
 * const { text } = await model.complete("1", {
 *   maxTokens: 4,
 *   samplers: [(candidates) => candidates.keep((token) => token === zero)],
 * });
 * assert.equal(text, "0000");
 * ```
 */
export class SamplerCandidates {
  static {
    lend = (ids, values, size, generated, use) => {
      const candidates = new SamplerCandidates(ids, values, size, generated);
      try {
        use(candidates);
        return candidates.#size;
      } finally {
        candidates.#alive = false;
      }
    };
    definePicture(SamplerCandidates, "SamplerCandidates", (candidates) => {
      if (!candidates.#alive) return "(of an earlier token)";
      const ids = Array.from({ length: candidates.#size }, (_, index) => candidates.token(index));
      return `${candidates.#size} tokens ${listPicture(ids)}`;
    });
  }

  readonly #ids: Int32Array;
  readonly #values: Float32Array;
  #size: number;
  #alive = true;
  /** The tokens generated so far. */
  readonly generated: readonly number[];

  private constructor(ids: Int32Array, values: Float32Array, size: number, generated: readonly number[]) {
    this.#ids = ids;
    this.#values = values;
    this.#size = size;
    this.generated = generated;
  }

  /** The number of tokens. */
  get size(): number {
    return this.#size;
  }

  /** Returns the token at an index from 0. */
  token(index: number): number {
    return this.#ids[this.#at(index)] as number;
  }

  /** Returns the logit of the token at an index: its unnormalized log-probability. */
  logit(index: number): number {
    return this.#values[this.#at(index) + 1] as number;
  }

  /** Sets a logit. -Infinity makes the token impossible. */
  setLogit(index: number, logit: number): void {
    const at = this.#at(index) + 1;
    if (typeof logit !== "number" || Number.isNaN(logit) || logit === Infinity) {
      throw new InvalidArgumentError(
        `a logit can't be ${String(logit)}; expected a finite number, or -Infinity for an impossible token`,
        {
          value: logit,
          expected: "a finite number or -Infinity",
        },
      );
    }
    this.#values[at] = logit;
  }

  /** Keeps the tokens for which `which` returns true, and removes all others. */
  keep(which: (token: number, logit: number) => boolean): void {
    const ids = this.#ids;
    const values = this.#values;
    let kept = 0;
    for (let index = 0; index < this.#size; index++) {
      const at = this.#at(index);
      const id = ids[at] as number;
      const logit = values[at + 1] as number;
      if (!which(id, logit)) continue;
      ids[kept * 3] = id;
      values[kept * 3 + 1] = logit;
      values[kept * 3 + 2] = 0;
      kept++;
    }
    this.#size = kept;
  }

  /** Returns the tokens with their logits, in no particular order. */
  *[Symbol.iterator](): Generator<[token: number, logit: number]> {
    for (let index = 0; index < this.#size; index++) yield [this.token(index), this.logit(index)];
  }

  #at(index: number): number {
    if (!this.#alive) {
      throw new DisposedError("these candidates were those of a token before; use them during the call only", {
        expected: "the candidates of the call",
      });
    }
    if (Number.isInteger(index) && index >= 0 && index < this.#size) return index * 3;
    throw new InvalidArgumentError(
      `there is no candidate ${String(index)}; expected an integer from 0 to ${this.#size - 1}`,
      {
        value: index,
        expected: `an integer from 0 to ${this.#size - 1}`,
      },
    );
  }
}

/**
 * Lends memory of `llama_token_data`, 12 bytes each, to a custom sampler for the length of a call. Returns the number of candidates that are left.
 */
export function lendCandidates(
  ids: Int32Array,
  values: Float32Array,
  size: number,
  generated: readonly number[],
  use: (candidates: SamplerCandidates) => void,
): number {
  return lend(ids, values, size, generated, use);
}
