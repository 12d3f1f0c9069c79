/**
 * The grammar of a generation, from the start or from a trigger on. llama.cpp aborts when a grammar accepts a token that it doesn't allow, so each token is
 * checked before.
 *
 * @module
 */

import type { Native } from "../../../../ffi/native.ts";
import type { Pointer } from "../../../../ffi/types/pointer.ts";
import { GrammarError, InvalidArgumentError } from "../../../errors.ts";
import type { GrammarSettings, GrammarTriggers } from "../../sampling/grammar.ts";
import { candidateMemory, Candidates } from "./candidates.ts";
import { loggedErrors } from "../../../support/native_log.ts";
import { TokenBytes, tokenize } from "../tokenizer.ts";
import { TriggerText } from "./trigger_text.ts";
import type { Vocabulary } from "../vocabulary.ts";

type Sampler = Pointer<"llama_sampler">;
type Vocab = Pointer<"llama_vocab">;

/** A grammar and its state after the text so far. */
export class Grammar implements Disposable {
  readonly #native: Native;
  readonly #vocab: Vocab;
  readonly #vocabulary: Vocabulary;
  readonly #settings: GrammarSettings;
  readonly #one: Candidates;
  readonly #text: TriggerText | undefined;
  readonly #triggerTokens: ReadonlySet<number>;
  #sampler: Sampler | undefined;
  /** A grammar that has accepted its trigger, for when the trigger is chosen. */
  #ready: { readonly token: number; readonly sampler: Sampler } | undefined;
  #pieces: TokenBytes | undefined;

  /** Throws GrammarError when llama.cpp can't use it. */
  constructor(native: Native, vocab: Vocab, vocabulary: Vocabulary, settings: GrammarSettings) {
    this.#native = native;
    this.#vocab = vocab;
    this.#vocabulary = vocabulary;
    this.#settings = settings;
    this.#one = new Candidates(native, candidateMemory(256));
    for (const name of settings.tokenNames) this.#checkName(`<${name}>`);
    const { triggers } = settings;
    this.#triggerTokens = new Set(triggers?.tokens.map((token) => triggerToken(native, vocab, token)));
    this.#text = triggers === undefined ? undefined : new TriggerText(triggers);
    if (triggers === undefined) this.#sampler = this.#create();
    else this.#checkTriggers(triggers);
  }

  /** Throws GrammarError if the grammar can't begin with one of its triggers. */
  #checkTriggers({ words, tokens }: GrammarTriggers): void {
    this.#native.lib.llama_sampler_free(this.#create());
    const begins = (trigger: number | string): boolean =>
      typeof trigger === "number"
        ? this.#readAfter(trigger, [], [trigger])
        : this.#readAfter(-1, new TextEncoder().encode(trigger), []);
    for (const trigger of [...words, ...this.#triggerTokens]) {
      if (begins(trigger)) continue;
      const name = typeof trigger === "number"
        ? `the token ${JSON.stringify(tokens.find((one) => one === trigger) ?? trigger)}`
        : JSON.stringify(trigger);
      throw new GrammarError(
        `the grammar is triggered by ${name}, but can't begin with it; its start rule must begin with the trigger`,
        {
          value: trigger,
          expected: "a grammar that begins with its triggers",
        },
      );
    }
    this.#dropReady();
  }

  /** Whether it applies: from the start, or once it was triggered. */
  get counts(): boolean {
    return this.#sampler !== undefined;
  }

  /** Makes the tokens impossible that it doesn't allow. */
  apply(candidates: Candidates): void {
    if (this.#sampler !== undefined) candidates.apply(this.#sampler);
  }

  /**
   * The bytes that may come next, for a quick check of all tokens; `undefined` if the grammar doesn't apply yet or names tokens. Found by checking the tokens
   * of a single byte.
   */
  get nextBytes(): Uint8Array | undefined {
    if (this.#sampler === undefined || this.#settings.namesTokens) return undefined;
    const { byteTokens } = this.#vocabulary;
    const one = this.#one;
    // A byte without a token of its own may come next.
    const next = Uint8Array.from(byteTokens, (token) => token < 0 ? 1 : 0);
    const known = [...byteTokens.keys()].filter((byte) => (byteTokens[byte] ?? -1) >= 0);
    one.fillTokens(known.map((byte) => byteTokens[byte] ?? -1));
    if (known.length > 0) one.apply(this.#sampler);
    for (const [index, byte] of known.entries()) if (one.logitAt(index) !== -Infinity) next[byte] = 1;
    return next;
  }

  /** Whether a token may come next. For a trigger: whether the grammar can begin with it. */
  allows(token: number): boolean {
    if (this.#sampler !== undefined) return this.#allows(this.#sampler, token);
    if (this.#triggerTokens.has(token)) return this.#readAfter(token, [], [token]);
    const found = this.#text?.find(token, this.#bytes(token));
    return found === undefined || this.#readAfter(token, found.bytes, found.tokens);
  }

  /** Accepts a token that it allows. */
  accept(token: number): void {
    if (this.#sampler !== undefined) return this.#native.lib.llama_sampler_accept(this.#sampler, token);
    if (this.#ready?.token === token) {
      this.#sampler = this.#ready.sampler;
      this.#ready = undefined;
      return;
    }
    this.#text?.add(token, this.#bytes(token));
  }

  /** Frees it. */
  [Symbol.dispose](): void {
    const { lib } = this.#native;
    if (this.#sampler !== undefined) lib.llama_sampler_free(this.#sampler);
    this.#dropReady();
  }

  #create(): Sampler {
    const { source, root } = this.#settings;
    const mark = this.#native.logMark();
    const sampler = this.#native.lib.llama_sampler_init_grammar(this.#vocab, source, root);
    if (sampler !== null) return sampler;
    const words = loggedErrors(this.#native, mark);
    throw new GrammarError(
      `llama.cpp can't use the grammar${
        words === undefined ? "; a <token> in it must be one token of the model" : `: ${words}`
      }`,
      {
        value: source,
        expected: "a grammar in GBNF",
      },
    );
  }

  #allows(sampler: Sampler, token: number): boolean {
    this.#one.fillTokens([token]);
    this.#one.apply(sampler);
    return this.#one.logitAt(0) !== -Infinity;
  }

  /** Starts the grammar with these bytes and tokens, and keeps it for when `token` is accepted. Returns false if it doesn't allow them. */
  #readAfter(token: number, bytes: ArrayLike<number>, tokens: readonly number[]): boolean {
    this.#dropReady();
    const sampler = this.#create();
    const all = [...Array.from(bytes, (byte) => this.#byteToken(byte)), ...tokens];
    for (const next of all) {
      if (!this.#allows(sampler, next)) {
        this.#native.lib.llama_sampler_free(sampler);
        return false;
      }
      this.#native.lib.llama_sampler_accept(sampler, next);
    }
    this.#ready = { token, sampler };
    return true;
  }

  /** Returns the token of a byte. A grammar reads bytes, so any tokens with the right bytes work. */
  #byteToken(byte: number): number {
    const token = this.#vocabulary.byteTokens[byte] ?? -1;
    if (token >= 0) return token;
    throw new GrammarError(
      `a grammar can't begin inside a token of this model: it has no token for the byte ${byte}; use a trigger that is a token`,
      { value: byte, expected: "a model with a token for each byte" },
    );
  }

  #checkName(name: string): void {
    const { lib } = this.#native;
    if (tokenize(lib, this.#vocab, name, { addSpecial: false, parseSpecial: true }).length === 1) return;
    throw new GrammarError(
      `the grammar names the token ${name}, but this model has no such token; write it as text: ${
        JSON.stringify(name)
      }`,
      {
        value: name,
        expected: "a token of the model",
      },
    );
  }

  #dropReady(): void {
    if (this.#ready !== undefined) this.#native.lib.llama_sampler_free(this.#ready.sampler);
    this.#ready = undefined;
  }

  #bytes(token: number): Uint8Array {
    return (this.#pieces ??= new TokenBytes(this.#native.lib, this.#vocab, true)).of(token);
  }
}

function triggerToken(native: Native, vocab: Vocab, token: number | string): number {
  const size = native.lib.llama_vocab_n_tokens(vocab);
  if (typeof token === "number") {
    if (token < size) return token;
    throw new InvalidArgumentError(
      `the grammar's trigger token ${token} isn't in the vocabulary; expected an integer from 0 to ${size - 1}`,
      {
        value: token,
        expected: `an integer from 0 to ${size - 1}`,
      },
    );
  }
  const [first, ...more] = tokenize(native.lib, vocab, token, { addSpecial: false, parseSpecial: true });
  if (first !== undefined && more.length === 0) return first;
  throw new InvalidArgumentError(
    `the grammar's trigger ${JSON.stringify(token)} isn't a single token of this model; use a word trigger`,
    {
      value: token,
      expected: "the text of one token",
    },
  );
}
