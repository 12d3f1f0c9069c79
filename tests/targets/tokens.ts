import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import process from "node:process";
import test from "node:test";
import { defaultModelPath, loadModel } from "../../mod.ts";
import { tokenizations } from "./questions.ts";
import { texts } from "./texts.ts";

const reference = JSON.parse(readFileSync(process.env["GGML_FFI_REFERENCE"]!, "utf8")) as { tokens: number[][] };
const model = await loadModel(await defaultModelPath(), { threads: 1, contextSize: 64 });

test("texts have the tokens that the reference has", () => {
  assert.deepEqual(tokenizations(model), reference.tokens);
});

test("tokens give the texts back", () => {
  for (const text of texts) assert.equal(model.detokenize(model.tokenize(text)), text);
});

test("the model is disposed", async () => {
  await model.dispose();
  assert.throws(() => model.tokenize("text"));
});
