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

/** How many choices are tried for one token. */
const MAX_TRIES = 100;
/** How many of the likeliest tokens are checked against a grammar before all others. */
const LIKELIEST = 256;

/** Chooses the tokens of a generation. */
export class TokenSampler implements Disposable {
  readonly #task: TaskContext<GenerateMessage>;
  readonly #state: ContextState;
  readonly #settings: SamplingSettings;
  readonly #vocabulary: Vocabulary;
  readonly #custom: CustomSamplers;
  readonly #chain: Chain;
  readonly #grammar: Grammar | undefined;
  readonly #banned: BannedStrings | undefined;
  readonly #logprobs: Logprobs | undefined;
  /** `undefined` if llama.cpp does it all. */
  readonly #candidates: Candidates | undefined;
  readonly #likeliest: Pointer<"llama_sampler"> | undefined;
  /** The rest of the bytes that the text must begin with. */
  #begin: string;
  #logits: { readonly at: Pointer; readonly view: Float32Array } | undefined;
  /** How often the grammar refused the choice of the chain. */
  refused = 0;
  /** The chosen tokens, without an end token. */
  readonly tokens: number[] = [];

  /** Throws GrammarError if llama.cpp can't use the grammar, and what {@linkcode Chain} throws. */
  constructor(
    task: TaskContext<GenerateMessage>,
    state: ContextState,
    { sampling, grammar }: GenerateInput,
    custom: CustomSamplers,
    begin: string,
  ) {
    const { native, lib } = task;
    const { vocab, contextSize } = state;
    this.#task = task;
    this.#state = state;
    this.#settings = sampling;
    this.#custom = custom;
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
      : new Candidates(native, custom.memory ?? candidateMemory(this.#vocabulary.size));
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

  /** Gives the end of the prompt to the samplers that look back. */
  read(prompt: Int32Array): void {
    const { lib } = this.#task;
    for (const token of prompt.subarray(Math.max(0, prompt.length - this.#chain.lookBack))) {
      lib.llama_sampler_accept(this.#chain.whole, token);
    }
  }

  /** Chooses the next token after the last decode; `undefined` at the end of the text. */
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

  /** Accepts a forced token; returns `undefined` if it ends the text. Throws GrammarError for one that the grammar doesn't allow. */
  take(token: number): number | undefined {
    if (this.#grammar?.counts === true && !this.#grammar.allows(token)) {
      throw new GrammarError("the grammar doesn't allow the text that ends the reasoning", {
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

  /** The log-probabilities of the tokens; `undefined` if they weren't asked for. */
  get logprobs(): TokenLogprobs[] | undefined {
    return this.#logprobs?.tokens;
  }

  /** Frees its samplers. */
  [Symbol.dispose](): void {
    this.#chain[Symbol.dispose]();
    this.#grammar?.[Symbol.dispose]();
    if (this.#likeliest !== undefined) this.#task.lib.llama_sampler_free(this.#likeliest);
  }

  /** Returns the choice of the chain if the grammar allows it; otherwise its choice among the tokens that the grammar allows. */
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
      // The trigger is followed by text that the grammar doesn't begin with.
      refused.add(token);
    }
    throw new GrammarError(
      "the grammar allows no token that the model chose after the trigger; its start rule must allow the text that follows the trigger",
      { expected: "a grammar that fits to its triggers" },
    );
  }

  /** Fills in every token, with biases and penalties; forbidden tokens are impossible. */
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

  /** Checking every token against the grammar takes long: first the likeliest, if the chain needs no more, then those with an allowed first byte. */
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

  /** Returns the choice; `undefined` if no token is possible. */
  #run(candidates: Candidates): number | undefined {
    for (const stage of this.#chain.stages) {
      if (typeof stage === "bigint") candidates.apply(stage);
      else if (candidates.drop() === 0) return undefined;
      else this.#applyCustom(candidates, stage);
    }
    return candidates.chosenLogit > -Infinity ? candidates.chosen : undefined;
  }

  #applyCustom(candidates: Candidates, settings: CustomSettings): void {
    this.#custom.apply(settings, candidates, this.tokens);
    if (candidates.drop() > 0) return;
    throw new NoTokenLeftError("a custom sampler left no possible token; leave at least one", {
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

  /** No token is possible: if the model has no end token, or mustn't use it, a text by a grammar ends so. */
  #none(): undefined {
    const { minTokens, ignoreEos } = this.#settings;
    const withoutEnd = this.#vocabulary.ends.length === 0 || ignoreEos || this.tokens.length < minTokens;
    if (this.#grammar === undefined || (this.#banned !== undefined && !withoutEnd)) {
      throw new NoTokenLeftError(
        "every token is impossible here because of bannedStrings, logitBias, ignoreEos, minTokens or a combination of them; allow more",
        {
          expected: "at least one token that is possible",
        },
      );
    }
    if (withoutEnd) return undefined;
    throw new GrammarError(
      "the grammar allows none of the model's tokens here; it needs characters that no token has",
      {
        expected: "a grammar of characters that the model has",
      },
    );
  }
}
