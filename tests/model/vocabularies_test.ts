import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { loadModel, UnsupportedModelError } from "../../mod.ts";
import { root, slow } from "./support.ts";

const folder = join(root, "csrc", "upstream", "llama.cpp", "models");

/** Texts and the tokens that upstream expects of them; `undefined` where it says nothing. */
function expectations(file: string): { text: string; tokens: number[] }[] | undefined {
  try {
    const texts = readFileSync(join(folder, `${file}.inp`), "utf8").split("\n__ggml_vocab_test__\n");
    const lines = readFileSync(join(folder, `${file}.out`), "utf8").split("\n");
    return texts.map((text, index) => ({
      text,
      tokens: (lines[index] ?? "").split(" ").filter((word) => word !== "").map(Number),
    }));
  } catch {
    return undefined;
  }
}

/** Tokenizers that change the text before they cut it. */
const lossy = new Set(["ggml-vocab-bert-bge.gguf"]);

test("vocabularies without weights: upstream's expectations, and text comes back exact", slow, async () => {
  const files = readdirSync(folder).filter((file) => file.startsWith("ggml-vocab-") && file.endsWith(".gguf"));
  let compared = 0;
  for (const file of files) {
    await using model = await loadModel(join(folder, file));
    for (const { text, tokens } of expectations(file) ?? []) {
      assert.deepEqual([...model.tokenize(text, { addSpecial: false })], tokens, `${file}: ${JSON.stringify(text)}`);
      if (!lossy.has(file)) assert.equal(model.detokenize(model.tokenize(text)), text, file);
      compared++;
    }
    assert.throws(() => model.complete("x"), UnsupportedModelError);
    assert.throws(() => model.chat(), UnsupportedModelError);
  }
  assert.ok(compared > 500, String(compared));
});
