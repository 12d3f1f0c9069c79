/**
 * llama.cpp's samplers for sampling settings.
 *
 * @module
 */

import type { Native } from "../../../../ffi/native.ts";
import type { Pointer } from "../../../../ffi/types/pointer.ts";
import { DecodeError, InvalidArgumentError, NoTokenLeftError, UnsupportedModelError } from "../../../errors.ts";
import type { SamplingSettings } from "../../sampling/options.ts";
import type { OrderSettings, SamplerName } from "../../sampling/order.ts";
import { tokenize } from "../tokenizer.ts";
import type { Vocabulary } from "../vocabulary.ts";

type Sampler = Pointer<"llama_sampler">;
type Vocab = Pointer<"llama_vocab">;
/** A custom sampler. */
export type CustomSettings = Exclude<OrderSettings, { readonly kind: "name" }>;

/** A chain of llama.cpp's samplers, or a custom sampler. */
export type Stage = Sampler | CustomSettings;

/** A lower temperature makes the likeliest token certain, and logits divided by it may become infinite. */
const MIN_TEMPERATURE = 1e-5;
/** Removes impossible tokens, which typical and Mirostat can't handle. */
const BARELY_POSSIBLE = 1e-30;
/** Number of tokens that Mirostat looks at; llama.cpp's default. */
const MIROSTAT_TOKENS = 100;
/** Longest piece of a token that `llama_sampler_init_infill` can compare. */
const LONGEST_INFILL_PIECE = 512;

/** The input of a chain. */
interface ChainInit {
  readonly native: Native;
  readonly vocab: Vocab;
  readonly vocabulary: Vocabulary;
  readonly contextSize: number;
  readonly settings: SamplingSettings;
}

/**
 * The samplers for some settings. Samplers that would change nothing are left out; with temperature 0 also those that remove tokens, and the likeliest token
 * is taken.
 */
export class Chain implements Disposable {
  readonly #makings: ChainInit;
  /** C strings, kept alive while C reads them. */
  #breakers: readonly Uint8Array<ArrayBuffer>[] = [];
  /** All of llama.cpp's samplers as one, which accepts each chosen token. */
  readonly whole: Sampler;
  /** The first samplers, which change each token's logit on its own: biases, penalties, DRY. */
  readonly first: Sampler;
  /** The other samplers, of which the last makes the choice. */
  readonly stages: readonly Stage[];
  /** The number of likeliest tokens that the others begin by keeping, if they do. */
  readonly limit: number | undefined;

  /** Throws InvalidArgumentError for tokens outside of the vocabulary, and NoTokenLeftError if no token is possible. */
  constructor(makings: ChainInit) {
    this.#makings = makings;
    this.whole = this.#empty();
    try {
      this.first = this.#empty();
      this.#add(this.whole, this.first);
      this.#addBias();
      const order = this.#order();
      const from = order.findIndex((one) => one.kind !== "name" || (one.name !== "penalties" && one.name !== "dry"));
      const split = from < 0 ? order.length : from;
      for (const one of order.slice(0, split)) if (one.kind === "name") this.#addNamed(this.first, one.name);
      const rest = order.slice(split);
      this.stages = this.#stages(rest);
      this.limit = this.#limit(rest);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Whether llama.cpp can run the whole chain. */
  get native(): boolean {
    return this.stages.every((stage) => typeof stage === "bigint");
  }

  /** The number of latest tokens that it looks at. */
  get lookBack(): number {
    const { penaltyLastN, dryPenaltyLastN } = this.#makings.settings;
    return Math.max(this.#penalizes ? this.#within(penaltyLastN) : 0, this.#dries ? this.#within(dryPenaltyLastN) : 0);
  }

  /** Frees the samplers. */
  [Symbol.dispose](): void {
    this.#makings.native.lib.llama_sampler_free(this.whole);
  }

  get #cold(): boolean {
    return this.#makings.settings.temperature < MIN_TEMPERATURE;
  }

  get #penalizes(): boolean {
    const { repeatPenalty, frequencyPenalty, presencePenalty, penaltyLastN } = this.#makings.settings;
    return penaltyLastN !== 0 && (repeatPenalty !== 1 || frequencyPenalty !== 0 || presencePenalty !== 0);
  }

  get #dries(): boolean {
    const { dryMultiplier, dryPenaltyLastN } = this.#makings.settings;
    return dryMultiplier !== 0 && dryPenaltyLastN !== 0;
  }

  /** Resolves -1, which stands for the whole context. */
  #within(count: number): number {
    return count < 0 ? this.#makings.contextSize : count;
  }

  #empty(): Sampler {
    const { native } = this.#makings;
    return made(native.lib.llama_sampler_chain_init(native.defaults("llama_sampler_chain_params")));
  }

  #add(chain: Sampler, sampler: Sampler | null): void {
    this.#makings.native.lib.llama_sampler_chain_add(chain, made(sampler));
  }

  #order(): readonly OrderSettings[] {
    const { settings } = this.#makings;
    const named = (...names: SamplerName[]): OrderSettings[] => names.map((name) => ({ kind: "name", name }));
    if (settings.mirostat !== 0 && !this.#cold) return named("penalties", "dry", "temperature");
    if (!this.#cold) return settings.samplers;
    const kept: readonly SamplerName[] = ["penalties", "dry", "topK", "infill"];
    const infill = settings.samplers.some((one) => one.kind === "name" && one.name === "infill");
    return settings.samplers.filter((one) =>
      one.kind !== "name" || kept.includes(one.name) && (one.name !== "topK" || infill)
    );
  }

  #stages(order: readonly OrderSettings[]): readonly Stage[] {
    const stages: Stage[] = [];
    let last: Sampler | undefined;
    const chain = (): Sampler => {
      if (last !== undefined) return last;
      last = this.#empty();
      this.#add(this.whole, last);
      stages.push(last);
      return last;
    };
    for (const one of order) {
      if (one.kind === "name") {
        this.#addNamed(chain(), one.name);
        continue;
      }
      stages.push(one);
      last = undefined;
    }
    this.#addChoice(chain());
    return stages;
  }

  #limit(order: readonly OrderSettings[]): number | undefined {
    const first = order.find((one) => one.kind !== "name" || !this.#idle(one.name));
    if (first === undefined) return this.#cold ? 1 : undefined;
    return first.kind === "name" && first.name === "topK" ? this.#makings.settings.topK : undefined;
  }

  /** Whether a sampler would change nothing. */
  #idle(name: SamplerName): boolean {
    const { topNSigma, topK, typicalP, topP, minP, xtcProbability, xtcThreshold } = this.#makings.settings;
    const { temperature, dynatempRange } = this.#makings.settings;
    switch (name) {
      case "penalties":
        return !this.#penalizes;
      case "dry":
        return !this.#dries;
      case "topNSigma":
        return topNSigma === 0;
      case "topK":
        return topK === 0;
      case "typicalP":
        return typicalP === 1;
      case "topP":
        return topP === 1;
      case "minP":
        return minP === 0;
      case "xtc":
        return xtcProbability === 0 || xtcThreshold > 0.5;
      case "temperature":
        return temperature === 1 && dynatempRange === 0;
      case "infill":
        return false;
      case "adaptiveP":
        return true;
    }
  }

  #addNamed(chain: Sampler, name: SamplerName): void {
    if (this.#idle(name)) return;
    const { native: { lib }, settings, vocabulary: { size } } = this.#makings;
    const add = (sampler: Sampler | null): void => this.#add(chain, sampler);
    const keep = BigInt(settings.minKeep);
    switch (name) {
      case "penalties": {
        const { repeatPenalty, frequencyPenalty, presencePenalty, penaltyLastN } = settings;
        const last = this.#within(penaltyLastN);
        return add(lib.llama_sampler_init_penalties(size, last, repeatPenalty, frequencyPenalty, presencePenalty));
      }
      case "dry":
        return add(this.#dry());
      case "topNSigma":
        return add(lib.llama_sampler_init_top_n_sigma(settings.topNSigma));
      case "topK":
        return add(lib.llama_sampler_init_top_k(settings.topK));
      case "typicalP":
        add(lib.llama_sampler_init_min_p(BARELY_POSSIBLE, 1n));
        return add(lib.llama_sampler_init_typical(settings.typicalP, keep));
      case "topP":
        return add(lib.llama_sampler_init_top_p(settings.topP, keep));
      case "minP":
        return add(lib.llama_sampler_init_min_p(settings.minP, keep));
      case "xtc":
        return add(lib.llama_sampler_init_xtc(settings.xtcProbability, settings.xtcThreshold, keep, settings.seed));
      case "temperature":
        return add(
          lib.llama_sampler_init_temp_ext(settings.temperature, settings.dynatempRange, settings.dynatempExponent),
        );
      case "infill":
        return add(this.#infill());
      case "adaptiveP":
        return;
    }
  }

  #addChoice(chain: Sampler): void {
    const { native: { lib }, settings, vocabulary } = this.#makings;
    const { mirostat, mirostatTau, mirostatEta, adaptiveTarget, adaptiveDecay, seed } = settings;
    if (this.#cold) return this.#add(chain, lib.llama_sampler_init_greedy());
    if (mirostat !== 0) {
      this.#add(chain, lib.llama_sampler_init_min_p(BARELY_POSSIBLE, 1n));
      return this.#add(
        chain,
        mirostat === 1
          ? lib.llama_sampler_init_mirostat(vocabulary.size, seed, mirostatTau, mirostatEta, MIROSTAT_TOKENS)
          : lib.llama_sampler_init_mirostat_v2(seed, mirostatTau, mirostatEta),
      );
    }
    const last = settings.samplers.at(-1);
    if (adaptiveTarget !== undefined && last?.kind === "name" && last.name === "adaptiveP") {
      return this.#add(chain, lib.llama_sampler_init_adaptive_p(adaptiveTarget, adaptiveDecay, seed));
    }
    this.#add(chain, lib.llama_sampler_init_dist(seed));
  }

  #dry(): Sampler {
    const { native, vocab, settings } = this.#makings;
    const { dryMultiplier, dryBase, dryAllowedLength, drySequenceBreakers, dryPenaltyLastN } = settings;
    this.#breakers = drySequenceBreakers.map((text) => new TextEncoder().encode(`${text}\0`));
    const count = this.#breakers.length;
    const addresses = BigUint64Array.from(this.#breakers, (bytes) => native.addressOf(bytes));
    return made(native.lib.llama_sampler_init_dry(
      vocab,
      dryMultiplier,
      dryBase,
      dryAllowedLength,
      this.#within(dryPenaltyLastN),
      count === 0 ? null : addresses,
      BigInt(count),
    ));
  }

  #infill(): Sampler {
    const { native: { lib }, vocab, vocabulary } = this.#makings;
    const fits = vocabulary.pieces.every((piece) => piece.length < LONGEST_INFILL_PIECE);
    if (fits && (lib.llama_vocab_eot(vocab) >= 0 || lib.llama_vocab_eos(vocab) >= 0)) {
      return made(lib.llama_sampler_init_infill(vocab));
    }
    throw new UnsupportedModelError(
      "the sampler infill needs a model with an end token and without very long tokens; leave it out",
      {
        value: "infill",
        expected: "a model with an end token",
      },
    );
  }

  /** Returns the biases: of tokens that the model suppresses, of end tokens that are ignored, and those of the options. */
  #addBias(): void {
    const { native, vocab, vocabulary, settings } = this.#makings;
    const biases = new Map<number, number>();
    const add = (token: number, bias: number): unknown => biases.set(token, (biases.get(token) ?? 0) + bias);
    for (const token of suppressedTokens(native, vocab)) add(token, -Infinity);
    if (settings.ignoreEos) { for (const token of vocabulary.ends) add(token, -Infinity); }
    for (const { token, bias } of settings.logitBias) {
      for (const one of this.#tokensOf(token)) add(one, bias);
    }
    if (biases.size === 0) return;
    const forbidden = [...biases.values()].filter((bias) => bias === -Infinity).length;
    if (forbidden >= vocabulary.size) {
      throw new NoTokenLeftError("logitBias makes every token of the model impossible; leave some", {
        value: forbidden,
        expected: `fewer than ${vocabulary.size} tokens that are impossible`,
      });
    }
    this.#add(this.first, native.lib.llama_sampler_init_logit_bias(vocabulary.size, biases.size, biasBytes(biases)));
  }

  #tokensOf(token: number | string): Iterable<number> {
    const { native, vocab, vocabulary } = this.#makings;
    if (typeof token === "string") return tokenize(native.lib, vocab, token, { addSpecial: false, parseSpecial: true });
    if (token < vocabulary.size) return [token];
    throw new InvalidArgumentError(
      `logitBias has the token ${token}, which isn't in the vocabulary; expected an integer from 0 to ${
        vocabulary.size - 1
      }`,
      {
        value: token,
        expected: `an integer from 0 to ${vocabulary.size - 1}`,
      },
    );
  }
}

/** Throws DecodeError for NULL, which C returns without memory; a chain with NULL in it would abort. */
function made(sampler: Sampler | null): Sampler {
  if (sampler !== null) return sampler;
  throw new DecodeError("llama.cpp can't make a sampler; there may be too little memory", { expected: "a sampler" });
}

function suppressedTokens(native: Native, vocab: Vocab): Int32Array {
  const count = new Int32Array(1);
  const tokens = native.lib.llama_vocab_get_suppress_tokens(vocab, count);
  if (tokens === null || count[0] === undefined || count[0] <= 0) return new Int32Array(0);
  return native.viewInt32(tokens, count[0]);
}

/** An array of `llama_logit_bias`. */
function biasBytes(biases: ReadonlyMap<number, number>): Uint8Array {
  const view = new DataView(new ArrayBuffer(biases.size * 8));
  let at = 0;
  for (const [token, bias] of biases) {
    view.setInt32(at, token, true);
    view.setFloat32(at + 4, bias, true);
    at += 8;
  }
  return new Uint8Array(view.buffer);
}
