import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { Lib } from "../../../ffi/tables.ts";
import { UnsupportedModelError } from "../../errors.ts";
import type { Prompt } from "./protocol.ts";
import { tokenize } from "./tokenizer.ts";
import { joined } from "../../../ffi/memory/concat.ts";

type Vocab = Pointer<"llama_vocab">;

/** Returns the tokens of an infill prompt. Its texts are never read as control tokens. Throws UnsupportedModelError for a model without infill tokens. */
export function infillTokens(lib: Lib, vocab: Vocab, prompt: Extract<Prompt, { kind: "infill" }>): Int32Array {
  const plain = (text: string) => tokenize(lib, vocab, text, { addSpecial: false, parseSpecial: false });
  const [before, behind, middle] = [
    lib.llama_vocab_fim_pre(vocab),
    lib.llama_vocab_fim_suf(vocab),
    lib.llama_vocab_fim_mid(vocab),
  ];
  if (before < 0 || behind < 0 || middle < 0) {
    throw new UnsupportedModelError(
      "this model has no tokens for filling in the middle; use one that was made for code, or model.complete",
      {
        expected: "a model with the tokens fim_pre, fim_suf and fim_mid",
      },
    );
  }
  const parts: Int32Array[] = files(lib, vocab, prompt, plain);
  const prefix = [Int32Array.of(before), plain(prompt.prefix)];
  const suffix = [Int32Array.of(behind), plain(prompt.suffix)];
  parts.push(...(prompt.order === "psm" ? [...prefix, ...suffix] : [...suffix, ...prefix]), Int32Array.of(middle));
  return joined(Int32Array, parts);
}

/** Other files of the repository, each with its name. */
function files(
  lib: Lib,
  vocab: Vocab,
  { files, repository, file }: Extract<Prompt, { kind: "infill" }>,
  plain: (text: string) => Int32Array,
): Int32Array[] {
  if (files.length === 0) return [];
  const [repositoryMark, fileMark] = [lib.llama_vocab_fim_rep(vocab), lib.llama_vocab_fim_sep(vocab)];
  if (fileMark < 0) {
    throw new UnsupportedModelError("this model has no token between files; leave out files", {
      expected: "a model with the token fim_sep",
    });
  }
  const parts: Int32Array[] = repositoryMark < 0 ? [] : [Int32Array.of(repositoryMark), plain(`${repository}\n`)];
  for (const { name, text } of files) parts.push(Int32Array.of(fileMark), plain(`${name}\n`), plain(text));
  return [...parts, Int32Array.of(fileMark), plain(`${file}\n`)];
}
