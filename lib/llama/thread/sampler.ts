import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/pointer.ts";
import type { TaskContext } from "../../../ffi/task.ts";
import { DecodeError, GrammarError } from "../../errors.ts";
import type { SamplingSettings } from "../sampling.ts";
import { Candidates } from "./candidates.ts";
import type { ContextState } from "./context_state.ts";
import { Grammar } from "./grammar.ts";
import type { GenerateInput } from "./protocol.ts";

type Sampler = Pointer<"llama_sampler">;

/** How often a token is chosen again at one place before that is given up. */
const mostTries = 100;

/** Chooses the next token of a generation, time after time. */
export class TokenSampler implements Disposable {
  readonly #task: TaskContext<string>;
  readonly #state: ContextState;
  readonly #settings: SamplingSettings;
  readonly #chain: Sampler;
  readonly #grammar: Grammar | undefined;
  readonly #candidates: Candidates | undefined;

  /** Throws GrammarError when llama.cpp can't use the grammar. */
  constructor(task: TaskContext<string>, state: ContextState, { sampling, grammar }: GenerateInput) {
    const { native, lib } = task;
    this.#task = task;
    this.#state = state;
    this.#settings = sampling;
    this.#candidates = grammar === undefined
      ? undefined
      : new Candidates(native, lib.llama_vocab_n_tokens(state.vocab));
    this.#chain = createSampler(native, state.vocab, sampling);
    try {
      this.#grammar = grammar === undefined ? undefined : new Grammar(native, state.vocab, grammar);
    } catch (error) {
      lib.llama_sampler_free(this.#chain);
      throw error;
    }
  }

  /** Shows the prompt's end to the samplers that look back. */
  read(prompt: Int32Array): void {
    const { repeatPenalty, repeatLastN } = this.#settings;
    if (repeatPenalty === 1) return;
    const { lib } = this.#task;
    for (const token of prompt.subarray(Math.max(0, prompt.length - repeatLastN))) {
      lib.llama_sampler_accept(this.#chain, token);
    }
  }

  /** The token that comes next, after the last decode; `undefined` when the text can only end. */
  sample(): number | undefined {
    const { lib } = this.#task;
    if (this.#candidates === undefined || this.#grammar === undefined) {
      return lib.llama_sampler_sample(this.#chain, this.#state.context, -1);
    }
    const token = this.#choose(this.#candidates, this.#grammar);
    if (token === undefined) return undefined;
    lib.llama_sampler_accept(this.#chain, token);
    if (!lib.llama_vocab_is_eog(this.#state.vocab, token)) this.#grammar.accept(token);
    return token;
  }

  /** The choice of the chain, when the grammar allows it; else the chain chooses again among what the grammar allows. */
  #choose(candidates: Candidates, grammar: Grammar): number | undefined {
    const refused = new Set<number>();
    for (let tries = 0; tries < mostTries; tries++) {
      this.#fill(candidates);
      if (refused.size > 0) {
        grammar.apply(candidates);
        candidates.forbid(refused);
        if (candidates.possible() === 0) return this.#end();
      }
      candidates.apply(this.#chain);
      const token = candidates.idAt(candidates.selected);
      if (grammar.allows(token)) return token;
      refused.add(token);
    }
    throw new GrammarError(
      "the grammar can't begin with what triggers it: every token that the model chose there was refused; let its first rule begin with the trigger",
      { expected: "a grammar that begins with its triggers" },
    );
  }

  #fill(candidates: Candidates): void {
    const { lib, native } = this.#task;
    const logits = lib.llama_get_logits_ith(this.#state.context, -1);
    if (logits === null) throw new DecodeError("llama.cpp has no logits for the last token", { expected: "logits" });
    candidates.fill(native.viewFloat32(logits, lib.llama_vocab_n_tokens(this.#state.vocab)));
  }

  /** Nothing may come next: where the model has no end token that is how a text by a grammar ends. */
  #end(): undefined {
    const { lib } = this.#task;
    const { vocab } = this.#state;
    for (let token = lib.llama_vocab_n_tokens(vocab) - 1; token >= 0; token--) {
      if (!lib.llama_vocab_is_eog(vocab, token)) continue;
      throw new GrammarError(
        "the grammar leaves the model no token to go on with; it asks for characters that none of its tokens has",
        {
          expected: "a grammar of characters that the model has",
        },
      );
    }
    return undefined;
  }

  /** Frees its samplers. */
  [Symbol.dispose](): void {
    this.#task.lib.llama_sampler_free(this.#chain);
    this.#grammar?.[Symbol.dispose]();
  }
}

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
