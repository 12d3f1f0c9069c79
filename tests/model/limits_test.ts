import assert from "node:assert/strict";
import test from "node:test";
import { EmptyPromptError, PromptTooLongError } from "../../mod.ts";
import { longPrompt, sharedModel, slow, testModel } from "./support.ts";

const shared = sharedModel();
const sharedSmall = sharedModel({ contextSize: 256 });

test("a full context ends the generation", slow, async () => {
  const model = await sharedSmall();
  assert.equal(model.info.contextSize, 256);
  const prompt = longPrompt(model, 230);
  const { tokens, stopReason, timings } = await model.complete(prompt, { temperature: 0 });
  assert.equal(stopReason, "context");
  assert.equal(timings.promptTokens + tokens.length, 256 + 1);
});

test("a prompt that just fits gives a token, a longer one is refused with both numbers", slow, async () => {
  const model = await sharedSmall();
  const tokens = model.tokenize(longPrompt(model, 300));
  const fits = model.detokenize(tokens.slice(0, 256));
  const { tokens: generated, stopReason } = await model.complete(fits, { temperature: 0 });
  assert.deepEqual([generated.length, stopReason], [1, "context"]);
  const long = model.detokenize(tokens.slice(0, 257));
  await assert.rejects(model.complete(long).then(), (error) => {
    assert.ok(error instanceof PromptTooLongError);
    assert.equal(error.value, 257);
    assert.match(error.message, /257 tokens.*256/);
    return true;
  });
  const { text } = await model.complete("The capital of France is", { temperature: 0, maxTokens: 1 });
  assert.equal(text, " Paris");
});

test("a prompt longer than a batch gives what it gives in one batch", slow, async () => {
  const whole = await shared();
  await using parts = await testModel({ batchSize: 32 });
  assert.equal(parts.info.batchSize, 32);
  const prompt = longPrompt(whole, 200);
  const options = { temperature: 0, maxTokens: 8 };
  assert.deepEqual((await parts.complete(prompt, options)).text, (await whole.complete(prompt, options)).text);
});

test("a batch of one token works", slow, async () => {
  await using model = await testModel({ batchSize: 1 });
  assert.equal((await model.complete("The capital of France is", { temperature: 0, maxTokens: 1 })).text, " Paris");
});

test("a prompt without tokens is refused", slow, async () => {
  const model = await shared();
  await assert.rejects(model.complete("").then(), EmptyPromptError);
});

test("maxTokens is exact", slow, async () => {
  const model = await shared();
  for (const maxTokens of [1, 2, 7]) {
    const { tokens, stopReason } = await model.complete("Once upon a time", { maxTokens });
    assert.deepEqual([tokens.length, stopReason], [maxTokens, "maxTokens"]);
  }
});

test("a context larger than asked for is told", slow, async () => {
  await using model = await testModel({ contextSize: 100 });
  assert.ok(model.info.contextSize >= 100);
});
