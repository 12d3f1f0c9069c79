import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { Lib } from "../../../ffi/tables.ts";
import { TokenBytes } from "./tokenizer.ts";

type Vocab = Pointer<"llama_vocab">;

/** What is asked of a vocabulary again and again, made on the first question. */
export class Vocabulary {
  readonly #lib: Lib;
  readonly #vocab: Vocab;
  /** How many tokens there are. */
  readonly size: number;
  #ends: readonly number[] | undefined;
  #pieces: readonly string[] | undefined;
  #firstBytes: Int16Array | undefined;
  #byteTokens: Int32Array | undefined;

  /** Of a vocabulary of this thread's model. */
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

  /** The bytes of each token as a string of one character a byte; control tokens have none. */
  get pieces(): readonly string[] {
    if (this.#pieces !== undefined) return this.#pieces;
    const bytes = new TokenBytes(this.#lib, this.#vocab, false);
    return this.#pieces = Array.from({ length: this.size }, (_, token) => String.fromCharCode(...bytes.of(token)));
  }

  /** The first byte of each token's text, control tokens too; -1 for one without text, -2 for one that ends a text. */
  get firstBytes(): Int16Array {
    if (this.#firstBytes !== undefined) return this.#firstBytes;
    const bytes = new TokenBytes(this.#lib, this.#vocab, true);
    const first = Int16Array.from({ length: this.size }, (_, token) => bytes.of(token)[0] ?? -1);
    for (const end of this.ends) first[end] = -2;
    return this.#firstBytes = first;
  }

  /** The token that stands for each byte; -1 where there is none. */
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

/** The vocabulary of a context; kept as long as its state. */
export function vocabularyOf(state: { readonly vocab: Vocab }, lib: Lib): Vocabulary {
  let vocabulary = known.get(state);
  if (vocabulary === undefined) known.set(state, vocabulary = new Vocabulary(lib, state.vocab));
  return vocabulary;
}
