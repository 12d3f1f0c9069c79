import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { type Native, open, type Pointer } from "../../ffi/mod.ts";
import { promptTokens, templateParts } from "../../lib/llama/thread/prompt.ts";
import { chatVocabulary, type SpecialToken } from "../../lib/llama/thread/special_tokens.ts";
import { tokenize } from "../../lib/llama/thread/tokenizer.ts";
import { root, slow } from "./support.ts";

type Vocab = Pointer<"llama_vocab">;

const folder = join(root, "csrc", "upstream", "llama.cpp", "models");
const contents = ["Hello, world", "  spaces  ", "\n\nlines\n", "日本語 🌍", "<", "a < b > c", ">", "x|", ""];
/** `LLAMA_VOCAB_TYPE_WPM`: what it doesn't know becomes a control token. */
const wordPiece = 3;

/** A prompt cut at its control tokens is what llama.cpp makes of the whole. */
function compareParts(native: Native, vocab: Vocab, special: readonly SpecialToken[], file: string): void {
  for (const [index, content] of contents.entries()) {
    const token = special[index % special.length];
    const other = special[(index * 7 + 3) % special.length];
    const text = `${token?.text ?? ""}user\n${content}${other?.text ?? ""}\n${content} `;
    const whole = promptTokens(native, vocab, { kind: "template", text, outside: [] });
    const parts = templateParts(native, vocab, text, []);
    const start = native.lib.llama_vocab_bos(vocab);
    const isAdded = native.lib.llama_vocab_get_add_bos(vocab) && whole[0] === start && parts[0] !== start;
    assert.deepEqual(parts, isAdded ? whole.slice(1) : whole, `${file}: ${JSON.stringify(text)}`);
  }
}

/** The text of a control token in a message is tokenized as text. */
function compareText(native: Native, vocab: Vocab, special: readonly SpecialToken[], file: string): void {
  const { lib } = native;
  const ids = new Set(special.map((token) => token.id));
  for (const token of special.slice(0, 20)) {
    const content = `a ${token.text} b`;
    const prompt = { kind: "template", text: content, outside: [0, content.length] } as const;
    const all = promptTokens(native, vocab, prompt);
    const found = lib.llama_vocab_get_add_bos(vocab) && all[0] === lib.llama_vocab_bos(vocab) ? all.slice(1) : all;
    const expected = tokenize(lib, vocab, content, { addSpecial: false, parseSpecial: false });
    assert.deepEqual(found, expected, `${file}: ${content}`);
    if (lib.llama_vocab_type(vocab) !== wordPiece) assert.ok(!found.some((id) => ids.has(id)), `${file}: ${content}`);
  }
}

test("control tokens of templates and of messages, with every vocabulary", slow, async () => {
  const native = await open();
  const { lib } = native;
  const files = readdirSync(folder).filter((name) => name.startsWith("ggml-vocab-") && name.endsWith(".gguf"));
  assert.ok(files.length > 10);
  for (const file of files) {
    const params = native.defaults("llama_model_params");
    params.vocab_only = true;
    const model = lib.llama_model_load_from_file(join(folder, file), params);
    assert.ok(model !== null, file);
    const vocab = lib.llama_model_get_vocab(model);
    assert.ok(vocab !== null);
    const { special } = chatVocabulary(native, vocab);
    compareParts(native, vocab, special, file);
    compareText(native, vocab, special, file);
    lib.llama_model_free(model);
  }
});
