import assert from "node:assert/strict";
import test from "node:test";
import { defaultModelPath, librariesInfo, loadModel } from "../../mod.ts";
import { ask } from "./questions.ts";

const model = await loadModel(await defaultModelPath(), { threads: 1, contextSize: 256 });

test("the default question is answered", async () => {
  const answer = await ask(model);
  console.log(`answer: ${JSON.stringify(answer)}`);
  assert.match(answer, /Paris/);
});

test("a question is cancelled, and the next one answered", async () => {
  const controller = new AbortController();
  const pending = ask(model, controller.signal);
  controller.abort(new Error("enough"));
  await assert.rejects(pending, /enough/);
  assert.match(await ask(model), /Paris/);
});

test("the libraries say what they are", async () => {
  const info = await librariesInfo();
  console.log(`answer: ${JSON.stringify(info)}`);
  await model.dispose();
});
