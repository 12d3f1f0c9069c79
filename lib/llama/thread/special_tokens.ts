import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";

/** A token that is recognized wherever its text appears. */
export interface SpecialToken {
  /** The id. */
  readonly id: number;
  /** Its text. */
  readonly text: string;
  /** Whether white space before it is dropped. */
  readonly stripBefore: boolean;
  /** Whether white space after it is dropped. */
  readonly stripAfter: boolean;
}

/** `LLAMA_TOKEN_ATTR_UNKNOWN | LLAMA_TOKEN_ATTR_CONTROL`. */
const SPECIAL_ATTRIBUTES = 1 | 1 << 3;
/** `LLAMA_TOKEN_ATTR_USER_DEFINED`. */
const USER_DEFINED_ATTRIBUTE = 1 << 4;
/** `LLAMA_TOKEN_ATTR_LSTRIP` and `_RSTRIP`. */
const STRIP_BEFORE_ATTRIBUTE = 1 << 7;
const STRIP_AFTER_ATTRIBUTE = 1 << 8;

/** Returns the control and unknown tokens of a vocabulary, the longest text first, as llama.cpp searches for them. */
export function specialTokens(native: Native, vocab: Pointer<"llama_vocab">): SpecialToken[] {
  const { lib } = native;
  const found: SpecialToken[] = [];
  const size = lib.llama_vocab_n_tokens(vocab);
  for (let id = 0; id < size; id++) {
    const attributes = lib.llama_vocab_get_attr(vocab, id);
    if ((attributes & SPECIAL_ATTRIBUTES) === 0) continue;
    const text = native.readCString(lib.llama_vocab_get_text(vocab, id));
    if (text === "") continue;
    found.push({
      id,
      text,
      stripBefore: (attributes & STRIP_BEFORE_ATTRIBUTE) !== 0,
      stripAfter: (attributes & STRIP_AFTER_ATTRIBUTE) !== 0,
    });
  }
  return found.sort((a, b) => b.text.length - a.text.length);
}

/** The part of a vocabulary that chats need. */
export interface ChatVocabulary {
  /** The control tokens. */
  special: readonly SpecialToken[];
  /** The texts of the tokens that the model's makers defined beside: they are text, and tell how it writes calls of tools. Default none. */
  userDefined?: readonly string[];
  /** The text of the start token, or "". */
  startToken: string;
  /** The text of the end token, or "". */
  endToken: string;
}

/** Returns the texts of user-defined tokens. */
function userDefinedTokens(native: Native, vocab: Pointer<"llama_vocab">): string[] {
  const { lib } = native;
  return Array.from({ length: lib.llama_vocab_n_tokens(vocab) }, (_, id) => id)
    .filter((id) => (lib.llama_vocab_get_attr(vocab, id) & USER_DEFINED_ATTRIBUTE) !== 0)
    .map((id) => native.readCString(lib.llama_vocab_get_text(vocab, id)));
}

/** Returns the part of a vocabulary that chats need. */
export function chatVocabulary(native: Native, vocab: Pointer<"llama_vocab">): ChatVocabulary {
  const { lib } = native;
  const text = (token: number) => token < 0 ? "" : native.readCString(lib.llama_vocab_get_text(vocab, token));
  return {
    special: specialTokens(native, vocab),
    userDefined: userDefinedTokens(native, vocab),
    startToken: text(lib.llama_vocab_bos(vocab)),
    endToken: text(lib.llama_vocab_eos(vocab)),
  };
}
