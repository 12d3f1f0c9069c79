import assert from "node:assert/strict";
import process from "node:process";
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
  const { cpuBackend, target } = await librariesInfo();
  assert.ok(target === (process.env["GGML_FFI_TARGET"] ?? target) && cpuBackend.includes("ggml-cpu-"));
  console.log(`answer: kernels of ${cpuBackend}`);
  await model.dispose();
});
