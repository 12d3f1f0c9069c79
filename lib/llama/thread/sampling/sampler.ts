import type { Pointer } from "../../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../../ffi/thread/task.ts";
import { DecodeError, GrammarError, NoTokenLeftError } from "../../../errors.ts";
import type { SamplingSettings } from "../../sampling/options.ts";
import { BannedStrings } from "./banned_strings.ts";
import { candidateMemory, Candidates } from "./candidates.ts";
import { Chain, type CustomSettings } from "./chain.ts";
import type { ContextState } from "../context_state.ts";
import { assertFiniteLogits } from "./finite_logits.ts";
import { Grammar } from "./grammar.ts";
import { Logprobs } from "./logprobs.ts";
import type { CustomSamplers } from "./custom_samplers.ts";
import type { GenerateInput, GenerateMessage, TokenLogprobs } from "../protocol.ts";
import { unlike } from "../token_healing.ts";
import { type Vocabulary, vocabularyOf } from "../vocabulary.ts";

/** How often a token is chosen again at one place before that is given up. */
const MAX_TRIES = 100;
/** How many of the likeliest tokens a grammar is asked about before it is asked about more. */
const LIKELIEST = 256;

/** Chooses the next token of a generation, time after time. */
export class TokenSampler implements Disposable {
  readonly #task: TaskContext<GenerateMessage>;
  readonly #state: ContextState;
  readonly #settings: SamplingSettings;
  readonly #vocabulary: Vocabulary;
  readonly #own: CustomSamplers;
  readonly #chain: Chain;
  readonly #grammar: Grammar | undefined;
  readonly #banned: BannedStrings | undefined;
  readonly #logprobs: Logprobs | undefined;
  /** There is none when llama.cpp can do it all. */
  readonly #candidates: Candidates | undefined;
  readonly #likeliest: Pointer<"llama_sampler"> | undefined;
  /** What the text must begin with: what is left of it. */
  #begin: string;
  #logits: { readonly at: Pointer; readonly view: Float32Array } | undefined;
  /** How often the grammar refused what the chain chose. */
  refused = 0;
  /** The tokens that were chosen, but for one that ends the text. */
  readonly tokens: number[] = [];

  /** Throws GrammarError when llama.cpp can't use the grammar, and what else the settings don't fit to the model. */
  constructor(
    task: TaskContext<GenerateMessage>,
    state: ContextState,
    { sampling, grammar }: GenerateInput,
    own: CustomSamplers,
    begin: string,
  ) {
    const { native, lib } = task;
    const { vocab, contextSize } = state;
    this.#task = task;
    this.#state = state;
    this.#settings = sampling;
    this.#own = own;
    this.#begin = begin;
    this.#vocabulary = vocabularyOf(state, lib);
    const { logprobs, bannedStrings, minTokens } = sampling;
    this.#logprobs = logprobs === undefined ? undefined : new Logprobs(logprobs, state.bytes);
    this.#banned = bannedStrings.length === 0 ? undefined : new BannedStrings(bannedStrings, this.#vocabulary.pieces);
    this.#chain = new Chain({ native, vocab, vocabulary: this.#vocabulary, contextSize, settings: sampling });
    const simple = grammar === undefined && this.#banned === undefined && minTokens === 0 && begin === "" &&
      this.#chain.native;
    this.#candidates = simple
      ? undefined
      : new Candidates(native, own.memory ?? candidateMemory(this.#vocabulary.size));
    try {
      this.#grammar = grammar === undefined ? undefined : new Grammar(native, vocab, this.#vocabulary, grammar);
    } catch (error) {
      this.#chain[Symbol.dispose]();
      throw error;
    }
    const { limit } = this.#chain;
    if (this.#grammar !== undefined && limit !== undefined && limit <= LIKELIEST / 2) {
      this.#likeliest = lib.llama_sampler_init_top_k(LIKELIEST);
    }
  }

  /** Shows the prompt's end to the samplers that look back. */
  read(prompt: Int32Array): void {
    const { lib } = this.#task;
    for (const token of prompt.subarray(Math.max(0, prompt.length - this.#chain.lookBack))) {
      lib.llama_sampler_accept(this.#chain.whole, token);
    }
  }

  /** The token that comes next, after the last decode; `undefined` when the text ends here. */
  sample(): number | undefined {
    const { lib } = this.#task;
    const { whole } = this.#chain;
    assertFiniteLogits(this.#read(), this.#state);
    const token = this.#candidates === undefined
      ? lib.llama_sampler_sample(whole, this.#state.context, -1)
      : this.#choose(this.#candidates);
    if (token === undefined) return undefined;
    if (this.#candidates !== undefined) lib.llama_sampler_accept(whole, token);
    return this.#keep(token);
  }

  /** Takes a token that isn't the model's choice; `undefined` when the text ends by it. Throws GrammarError for one that the grammar doesn't allow. */
  take(token: number): number | undefined {
    if (this.#grammar?.counts === true && !this.#grammar.allows(token)) {
      throw new GrammarError("the grammar doesn't allow the text that ends what the model thinks; let it allow that", {
        value: token,
        expected: "a grammar that allows it",
      });
    }
    this.#task.lib.llama_sampler_accept(this.#chain.whole, token);
    return this.#keep(token);
  }

  #keep(token: number): number | undefined {
    if (this.#task.lib.llama_vocab_is_eog(this.#state.vocab, token)) return undefined;
    this.#logprobs?.add(token, this.#read());
    this.#grammar?.accept(token);
    this.#banned?.push(token);
    if (this.#begin !== "") this.#begin = this.#begin.slice(this.#vocabulary.pieces[token]?.length ?? 0);
    this.tokens.push(token);
    return token;
  }

  /** What is reported of each token; `undefined` when that wasn't asked for. */
  get logprobs(): TokenLogprobs[] | undefined {
    return this.#logprobs?.tokens;
  }

  /** Frees its samplers. */
  [Symbol.dispose](): void {
    this.#chain[Symbol.dispose]();
    this.#grammar?.[Symbol.dispose]();
    if (this.#likeliest !== undefined) this.#task.lib.llama_sampler_free(this.#likeliest);
  }

  /** The chain's choice, when the grammar allows it; else the chain chooses again among what the grammar allows. */
  #choose(candidates: Candidates): number | undefined {
    const grammar = this.#grammar;
    const refused = new Set<number>();
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      this.#prepare(candidates, refused);
      const token = this.#run(candidates);
      if (token === undefined) return this.#none();
      if (grammar === undefined || grammar.allows(token)) return token;
      this.refused++;
      if (grammar.counts) return this.#chooseAllowed(candidates, grammar);
      // What triggers the grammar has something behind it that the grammar doesn't begin with.
      refused.add(token);
    }
    throw new GrammarError(
      "the grammar can't go on from what triggers it: every token that the model chose there was refused; let it begin with what follows the trigger",
      { expected: "a grammar that fits to its triggers" },
    );
  }

  /** Every token, with biases and penalties; what is forbidden is impossible. */
  #prepare(candidates: Candidates, refused: ReadonlySet<number>): void {
    candidates.fill(this.#read());
    candidates.forbid(refused);
    if (this.tokens.length < this.#settings.minTokens) candidates.forbid(this.#vocabulary.ends);
    if (this.#begin !== "") candidates.forbid(unlike(this.#begin, this.#vocabulary));
    if (this.#banned !== undefined) {
      candidates.forbid(this.#banned.whole);
      candidates.forbid(this.#banned.completing());
    }
    candidates.apply(this.#chain.first);
  }

  /** To ask the grammar about every token takes long: first the likeliest, when a chain needs no more, then those that begin as they may. */
  #chooseAllowed(candidates: Candidates, grammar: Grammar): number | undefined {
    this.#prepare(candidates, new Set());
    if (this.#likeliest !== undefined) {
      candidates.apply(this.#likeliest);
      grammar.apply(candidates);
      if (candidates.drop() >= (this.#chain.limit ?? Infinity)) return this.#run(candidates);
      this.#prepare(candidates, new Set());
    }
    const next = grammar.nextBytes;
    if (next !== undefined) candidates.keepFirst(next, this.#vocabulary.firstBytes);
    if (candidates.drop() === 0) return this.#none();
    grammar.apply(candidates);
    return candidates.drop() === 0 ? this.#none() : this.#run(candidates) ?? this.#none();
  }

  /** The choice; `undefined` when nothing is possible. */
  #run(candidates: Candidates): number | undefined {
    for (const stage of this.#chain.stages) {
      if (typeof stage === "bigint") candidates.apply(stage);
      else if (candidates.drop() === 0) return undefined;
      else this.#applyOwn(candidates, stage);
    }
    return candidates.chosenLogit > -Infinity ? candidates.chosen : undefined;
  }

  #applyOwn(candidates: Candidates, own: CustomSettings): void {
    this.#own.apply(own, candidates, this.tokens);
    if (candidates.drop() > 0) return;
    throw new NoTokenLeftError("a sampler of your own left no token that may come next; leave one", {
      expected: "at least one token that is possible",
    });
  }

  #read(): Float32Array {
    const { lib, native } = this.#task;
    const at = lib.llama_get_logits_ith(this.#state.context, -1);
    if (at === null) throw new DecodeError("llama.cpp has no logits for the last token", { expected: "logits" });
    if (this.#logits?.at !== at) this.#logits = { at, view: native.viewFloat32(at, this.#vocabulary.size) };
    return this.#logits.view;
  }

  /** Nothing may come next: where the model has no end token, or mustn't use it, that is how a text by a grammar ends. */
  #none(): undefined {
    const { minTokens, ignoreEos } = this.#settings;
    const withoutEnd = this.#vocabulary.ends.length === 0 || ignoreEos || this.tokens.length < minTokens;
    if (this.#grammar === undefined || (this.#banned !== undefined && !withoutEnd)) {
      throw new NoTokenLeftError(
        "every token is forbidden here, by bannedStrings, logitBias, ignoreEos, minTokens or all of them; forbid less",
        {
          expected: "at least one token that is possible",
        },
      );
    }
    if (withoutEnd) return undefined;
    throw new GrammarError(
      "the grammar leaves the model no token to go on with; it asks for characters that none of its tokens has",
      {
        expected: "a grammar of characters that the model has",
      },
    );
  }
}
