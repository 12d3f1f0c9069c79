import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import { Lora, Model } from "../../mod.ts";
import { slow, testModel } from "./support.ts";
import { randomLora, temporary, tinyWeights, writeLora, writeTinyModel } from "./tiny_model.ts";

test("a model's picture has its name, size, context and devices", slow, async () => {
  const model = await testModel();
  const picture = /^Model \S.*, \d+ MB, context 512, \S+/;
  assert.match(String(model), picture);
  assert.equal(inspect(model), String(model));
  assert.deepEqual(model.info.devices.length > 0, true);
  await model.dispose();
  assert.match(String(model), /^Model \S.* \(disposed\)$/);
});

test("a generation's and a turn's pictures have their text and their state", slow, async () => {
  await using model = await testModel();
  const generation = model.complete("1, 2, 3,", { temperature: 0, maxTokens: 4 });
  assert.equal(String(generation), "Generation in progress");
  const { text } = await generation;
  assert.equal(String(generation), `Generation done, ${JSON.stringify(text)}`);
  assert.equal(inspect(generation), String(generation));
  const turn = model.chat().send("Hello", { maxTokens: 1, signal: AbortSignal.abort(new Error("no")) });
  assert.equal(String(turn), "ChatTurn in progress");
  await assert.rejects(turn);
  assert.equal(String(turn), "ChatTurn failed");
});

test("a LoRA adapter's picture has its name and its rank", slow, async () => {
  await using base = temporary();
  await using file = temporary();
  await writeTinyModel(base.path, tinyWeights());
  await writeLora(file.path, randomLora(["blk.0.attn_q.weight"], 4, 8, 1));
  await using model = await testModel();
  assert.ok(model instanceof Model);
  const { loadModel } = await import("../../mod.ts");
  await using tiny = await loadModel(base.path, { threads: 1 });
  const lora = await tiny.loadLora(file.path);
  assert.ok(lora instanceof Lora);
  assert.equal(String(lora), `Lora ${file.path}, rank 4`);
  assert.equal(lora.disposed, false);
  await lora.dispose();
  assert.equal(lora.disposed, true);
  assert.equal(inspect(lora), `Lora ${file.path}, rank 4 (disposed)`);
});
