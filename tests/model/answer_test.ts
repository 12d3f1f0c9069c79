import assert from "node:assert/strict";
import test from "node:test";
import type { GenerationResult } from "../../mod.ts";
import { command, run, sharedModel, slow, system } from "./support.ts";

const shared = sharedModel();

test("the default model names the capital of France, streamed and whole", slow, async () => {
  const model = await shared();
  const chat = model.chat({ system });
  const generation = chat.send("What is the capital of France?", { temperature: 0, maxTokens: 32 });
  let streamed = "";
  for await (const piece of generation) {
    assert.notEqual(piece, "");
    streamed += piece;
  }
  const { text, tokens, stopReason, timings } = await generation;
  assert.match(text, /Paris/);
  assert.equal(streamed, text);
  assert.equal(stopReason, "eos");
  assert.equal(model.detokenize(tokens), text);
  assert.equal(timings.generatedTokens, tokens.length);
  assert.ok(timings.promptTokens > 20 && timings.promptMs > 0 && timings.generationMs > 0);
  assert.ok(timings.firstPieceMs !== undefined && timings.firstPieceMs > 0);
  assert.deepEqual(chat.history, [
    { role: "system", content: system },
    { role: "user", content: "What is the capital of France?" },
    { role: "assistant", content: text },
  ]);
});

test("results are plain data", slow, async () => {
  const model = await shared();
  const result = await model.complete("1, 2, 3,", { temperature: 0, maxTokens: 4 });
  assert.deepEqual(JSON.parse(JSON.stringify(result)), result);
  assert.deepEqual(structuredClone(result), result);
  assert.deepEqual(JSON.parse(JSON.stringify(model.info)), model.info);
  // What is checked against it would reach native code otherwise.
  assert.throws(() => Object.assign(model.info, { vocabularySize: 1e9 }), TypeError);
});

test("the same seed gives the same tokens, another seed others; the seed is reported", slow, async () => {
  const model = await shared();
  const complete = (seed?: number) =>
    model.complete("Once upon a time", { maxTokens: 16, temperature: 1, ...(seed === undefined ? {} : { seed }) });
  const one = await complete(1);
  assert.equal(one.seed, 1);
  assert.deepEqual((await complete(1)).tokens, one.tokens);
  assert.notDeepEqual((await complete(2)).tokens, one.tokens);
  const random = await complete();
  assert.deepEqual((await complete(random.seed)).tokens, random.tokens);
});

test("sampling options do what they say", slow, async () => {
  const model = await shared();
  const tokens = async (options: Record<string, number>) =>
    (await model.complete("Once upon a time", { maxTokens: 12, seed: 3, ...options })).tokens;
  const greedy = await tokens({ temperature: 0 });
  assert.deepEqual(await tokens({ topK: 1 }), greedy);
  assert.deepEqual(await tokens({ topP: 0.0001 }), greedy);
  assert.deepEqual(await tokens({ minP: 1 }), greedy);
  assert.deepEqual(await tokens({ temperature: 0.01 }), greedy);
  assert.notDeepEqual(await tokens({ temperature: 2, topK: 0, topP: 1, minP: 0 }), greedy);
  const repeated = (list: number[]) => list.length - new Set(list).size;
  const { tokens: plain } = await model.complete("a a a a a a a a", { maxTokens: 24, temperature: 0 });
  const { tokens: penalised } = await model.complete("a a a a a a a a", {
    maxTokens: 24,
    temperature: 0,
    repeatPenalty: 2,
  });
  assert.ok(repeated(penalised) < repeated(plain), `${repeated(penalised)} ${repeated(plain)}`);
});

test("Deno and Bun give the same tokens, greedy and by seed", slow, async () => {
  const runs = await Promise.all(
    (["deno", "bun"] as const).map((which) => run(command(which, "tests/model/tokens_child.ts", []))),
  );
  for (const one of runs) assert.equal(one.code, 0, one.stderr);
  const [deno, bun] = runs.map((one) => JSON.parse(one.stdout) as GenerationResult["tokens"][]);
  assert.equal(deno?.length, 4);
  assert.deepEqual(deno, bun);
});

test("a conversation goes on, and what it has in memory isn't computed again", slow, async () => {
  const model = await shared();
  const chat = model.chat({ system });
  const first = await chat.send("My name is Ada.", { temperature: 0, maxTokens: 24 });
  assert.equal(first.timings.reusedTokens, 0);
  const copy = model.chat({ history: chat.history });
  const second = await chat.send("What is my name?", { temperature: 0, maxTokens: 24 });
  assert.ok(second.timings.reusedTokens >= first.timings.promptTokens - 1, String(second.timings.reusedTokens));
  const fresh = await copy.send("What is my name?", { temperature: 0, maxTokens: 24 });
  assert.equal(fresh.timings.reusedTokens, 0);
  assert.equal(fresh.timings.promptTokens, second.timings.promptTokens);
  const third = await chat.send("Thanks.", { temperature: 0, maxTokens: 8 });
  assert.equal(third.timings.reusedTokens, 0);
  assert.equal(chat.history.length, 7);
});

test("turns of one chat that are asked for at once come one after another", slow, async () => {
  const model = await shared();
  const chat = model.chat({ system });
  const sent = ["one", "two", "three"].map((text) => chat.send(text, { temperature: 0, maxTokens: 4 }));
  await Promise.all(sent);
  assert.deepEqual(chat.history.filter((message) => message.role === "user").map((message) => message.content), [
    "one",
    "two",
    "three",
  ]);
});

test("control tokens in what the user says are text", slow, async () => {
  const model = await shared();
  const template = "{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}";
  const count = async (content: string) =>
    (await model.chat({ template }).send(content, { maxTokens: 1 })).timings.promptTokens;
  for (
    const content of ["hello", "a<|im_end|>b", "<|im_start|>", "im_end|>", "<|im_end|><|im_end|>", "x <|endoftext|> y"]
  ) {
    assert.equal(await count(content), 2 + model.tokenize(content, { addSpecial: false }).length, content);
  }
});
