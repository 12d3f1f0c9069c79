/**
 * The tokenizer of a loaded model, on the calling thread. Token ids must have been checked.
 *
 * @module
 */

import { InvalidArgumentError } from "../../../base/errors.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { Lib } from "../../../ffi/tables.ts";

type Vocab = Pointer<"llama_vocab">;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
/** `LLAMA_TOKEN_NULL`. */
const NO_TOKEN = -1;
const OVERFLOW = -0x8000_0000;
/** Tokens beside one per byte: a space before the text, a token at each end. */
const SLACK = 4;

/** Flags of {@linkcode tokenize}. */
export interface TokenizeFlags {
  /** Add the start and end tokens that the model wants. */
  addSpecial: boolean;
  /** Read the text of control tokens as those tokens. */
  parseSpecial: boolean;
}

/** Returns the tokens of a text. */
export function tokenize(
  lib: Lib,
  vocab: Vocab,
  text: string,
  { addSpecial, parseSpecial }: TokenizeFlags,
): Int32Array {
  const bytes = encoder.encode(`${text}\0`);
  const special = addSpecial && hasSpecialTokens(lib, vocab);
  let tokens = new Int32Array(bytes.length + SLACK);
  let count = lib.llama_tokenize(vocab, bytes, bytes.length - 1, tokens, tokens.length, special, parseSpecial);
  if (count < 0 && count !== OVERFLOW) {
    tokens = new Int32Array(-count);
    count = lib.llama_tokenize(vocab, bytes, bytes.length - 1, tokens, tokens.length, special, parseSpecial);
  }
  if (count >= 0) return tokens.slice(0, count);
  throw new InvalidArgumentError(
    `a text of ${bytes.length - 1} bytes has too many tokens; split it`,
    {
      value: bytes.length - 1,
      expected: "fewer than 2^31 tokens",
    },
  );
}

/** Whether the vocabulary has the start and end tokens that the model wants; C aborts if one is missing. */
function hasSpecialTokens(lib: Lib, vocab: Vocab): boolean {
  if (lib.llama_vocab_get_add_bos(vocab) && lib.llama_vocab_bos(vocab) === NO_TOKEN) return false;
  if (lib.llama_vocab_get_add_eos(vocab) && lib.llama_vocab_eos(vocab) === NO_TOKEN) return false;
  return lib.llama_vocab_type(vocab) !== WORD_PIECE ||
    (lib.llama_vocab_bos(vocab) !== NO_TOKEN && lib.llama_vocab_sep(vocab) !== NO_TOKEN);
}

/** `LLAMA_VOCAB_TYPE_WPM`, which always adds its two tokens. */
const WORD_PIECE = 3;

/** Flags of {@linkcode detokenize}. */
export interface DetokenizeFlags {
  /** Leave out a start token at the beginning and an end token at the end. */
  removeSpecial: boolean;
  /** Write control tokens as their text. */
  renderSpecial: boolean;
}

/**
 * Returns the text of tokens, without the space that the tokenizer puts before a text. Works token by token, since `llama_detokenize` drops spaces before
 * punctuation for some vocabularies.
 */
export function detokenize(lib: Lib, vocab: Vocab, tokens: Int32Array, flags: DetokenizeFlags): string {
  const kept = flags.removeSpecial ? withoutSpecial(lib, vocab, tokens) : tokens;
  const pieces = new TokenBytes(lib, vocab, flags.renderSpecial);
  let bytes = new Uint8Array(kept.length * 8 + 64);
  let length = 0;
  for (const [index, token] of kept.entries()) {
    const piece = pieces.of(token);
    const from = index === 0 && piece[0] === SPACE && addsSpace(lib, vocab) ? 1 : 0;
    if (length + piece.length > bytes.length) bytes = enlarged(bytes, length + piece.length);
    bytes.set(from === 0 ? piece : piece.subarray(from), length);
    length += piece.length - from;
  }
  return decoder.decode(bytes.subarray(0, length));
}

const SPACE = 0x20;

/** Whether the tokenizer puts a space before a text. */
function addsSpace(lib: Lib, vocab: Vocab): boolean {
  const [first] = tokenize(lib, vocab, "x", { addSpecial: false, parseSpecial: false });
  return first !== undefined && new TokenBytes(lib, vocab, false).of(first)[0] === SPACE;
}

function enlarged(bytes: Uint8Array, least: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(least, bytes.length * 2));
  larger.set(bytes);
  return larger;
}

function withoutSpecial(lib: Lib, vocab: Vocab, tokens: Int32Array): Int32Array {
  const inWordPiece = lib.llama_vocab_type(vocab) === WORD_PIECE;
  const starts = inWordPiece || lib.llama_vocab_get_add_bos(vocab);
  const ends = inWordPiece || lib.llama_vocab_get_add_eos(vocab);
  const end = inWordPiece ? lib.llama_vocab_sep(vocab) : lib.llama_vocab_eos(vocab);
  const from = starts && tokens.length > 0 && tokens[0] === lib.llama_vocab_bos(vocab) ? 1 : 0;
  const to = ends && tokens.length > from && tokens.at(-1) === end ? tokens.length - 1 : tokens.length;
  return tokens.slice(from, to);
}

/** Reads the bytes of single tokens into a buffer that is reused and grows as needed. */
export class TokenBytes {
  readonly #lib: Lib;
  readonly #vocab: Vocab;
  readonly #special: boolean;
  #buffer = new Uint8Array(256);

  /** Reads tokens of a vocabulary; control tokens have their text, or none. */
  constructor(lib: Lib, vocab: Vocab, special: boolean) {
    this.#lib = lib;
    this.#vocab = vocab;
    this.#special = special;
  }

  /** Returns the bytes of a token, valid until the next call. */
  of(token: number): Uint8Array {
    const length = this.#lib.llama_token_to_piece(
      this.#vocab,
      token,
      this.#buffer,
      this.#buffer.length,
      0,
      this.#special,
    );
    if (length >= 0) return this.#buffer.subarray(0, length);
    this.#buffer = new Uint8Array(-length);
    return this.of(token);
  }
}
