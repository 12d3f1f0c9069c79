import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { Lib } from "../../../ffi/tables.ts";
import { TokenBytes } from "./tokenizer.ts";

type Vocab = Pointer<"llama_vocab">;

/** Tables of a vocabulary, each made on first use. */
export class Vocabulary {
  readonly #lib: Lib;
  readonly #vocab: Vocab;
  /** The number of tokens. */
  readonly size: number;
  #ends: readonly number[] | undefined;
  #pieces: readonly string[] | undefined;
  #firstBytes: Int16Array | undefined;
  #byteTokens: Int32Array | undefined;

  /** Makes the tables of a vocabulary of this thread. */
  constructor(lib: Lib, vocab: Vocab) {
    this.#lib = lib;
    this.#vocab = vocab;
    this.size = lib.llama_vocab_n_tokens(vocab);
  }

  /** The tokens that end a text. */
  get ends(): readonly number[] {
    if (this.#ends !== undefined) return this.#ends;
    const ends: number[] = [];
    for (let token = 0; token < this.size; token++) {
      if (this.#lib.llama_vocab_is_eog(this.#vocab, token)) ends.push(token);
    }
    return this.#ends = ends;
  }

  /** The bytes of each token as a string of one character per byte; empty for control tokens. */
  get pieces(): readonly string[] {
    if (this.#pieces !== undefined) return this.#pieces;
    const bytes = new TokenBytes(this.#lib, this.#vocab, false);
    return this.#pieces = Array.from({ length: this.size }, (_, token) => String.fromCharCode(...bytes.of(token)));
  }

  /** The first byte of each token's text, including control tokens; -1 for a token without text, -2 for an end token. */
  get firstBytes(): Int16Array {
    if (this.#firstBytes !== undefined) return this.#firstBytes;
    const bytes = new TokenBytes(this.#lib, this.#vocab, true);
    const first = Int16Array.from({ length: this.size }, (_, token) => bytes.of(token)[0] ?? -1);
    for (const end of this.ends) first[end] = -2;
    return this.#firstBytes = first;
  }

  /** The token of each single byte; -1 if there is none. */
  get byteTokens(): Int32Array {
    if (this.#byteTokens !== undefined) return this.#byteTokens;
    const found = new Int32Array(256).fill(-1);
    const bytes = new TokenBytes(this.#lib, this.#vocab, true);
    const first = this.firstBytes;
    for (let token = this.size - 1; token >= 0; token--) {
      const byte = first[token] ?? -1;
      if (byte >= 0 && bytes.of(token).length === 1) found[byte] = token;
    }
    return this.#byteTokens = found;
  }
}

const known = new WeakMap<object, Vocabulary>();

/** Returns the vocabulary of a context; kept as long as its state. */
export function vocabularyOf(state: { readonly vocab: Vocab }, lib: Lib): Vocabulary {
  let vocabulary = known.get(state);
  if (vocabulary === undefined) known.set(state, vocabulary = new Vocabulary(lib, state.vocab));
  return vocabulary;
}
