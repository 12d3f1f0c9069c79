import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/pointer.ts";
import { DecodeError } from "../../errors.ts";
import type { SamplingSettings } from "../sampling.ts";

type Sampler = Pointer<"llama_sampler">;

/**
 * The chain of samplers for some settings, in upstream's usual order: suppressed tokens, penalties, top-k, top-p, min-p, temperature, and the choice by
 * the seed. Samplers that would change nothing are left out. With temperature 0 it takes the likeliest token. Free it with `llama_sampler_free`.
 */
export function createSampler(native: Native, vocab: Pointer<"llama_vocab">, settings: SamplingSettings): Sampler {
  const { lib } = native;
  const chain = made(lib.llama_sampler_chain_init(native.defaults("llama_sampler_chain_params")));
  const add = (sampler: Sampler | null) => lib.llama_sampler_chain_add(chain, made(sampler));
  const { temperature, topK, topP, minP, repeatPenalty, repeatLastN, seed } = settings;
  const vocabularySize = lib.llama_vocab_n_tokens(vocab);
  const suppressed = suppressedTokens(native, vocab);
  if (suppressed.length > 0) {
    add(lib.llama_sampler_init_logit_bias(vocabularySize, suppressed.length, forbid(suppressed)));
  }
  if (repeatPenalty !== 1 && repeatLastN > 0) {
    add(lib.llama_sampler_init_penalties(vocabularySize, repeatLastN, repeatPenalty, 0, 0));
  }
  if (temperature === 0) {
    add(lib.llama_sampler_init_greedy());
    return chain;
  }
  if (topK > 0) add(lib.llama_sampler_init_top_k(topK));
  if (topP < 1) add(lib.llama_sampler_init_top_p(topP, 0n));
  if (minP > 0) add(lib.llama_sampler_init_min_p(minP, 0n));
  if (temperature !== 1) add(lib.llama_sampler_init_temp_ext(temperature, 0, 1));
  add(lib.llama_sampler_init_dist(seed));
  return chain;
}

/** C gives NULL only when there is no memory; a chain with NULL in it would abort. */
function made(sampler: Sampler | null): Sampler {
  if (sampler !== null) return sampler;
  throw new DecodeError("llama.cpp can't make a sampler; is there memory left?", { expected: "a sampler" });
}

/** Tokens that a model's file says must never be generated. */
function suppressedTokens(native: Native, vocab: Pointer<"llama_vocab">): Int32Array {
  const count = new Int32Array(1);
  const tokens = native.lib.llama_vocab_get_suppress_tokens(vocab, count);
  if (tokens === null || count[0] === undefined || count[0] <= 0) return new Int32Array(0);
  return native.viewInt32(tokens, count[0]);
}

/** An array of `llama_logit_bias` that makes tokens impossible. */
function forbid(tokens: Int32Array): Uint8Array {
  const bytes = new Uint8Array(tokens.length * 8);
  const view = new DataView(bytes.buffer);
  tokens.forEach((token, index) => {
    view.setInt32(index * 8, token, true);
    view.setFloat32(index * 8 + 4, -Infinity, true);
  });
  return bytes;
}
