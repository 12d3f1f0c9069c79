import assert from "node:assert/strict";
import test from "node:test";
import { DisposedError } from "../../mod.ts";
import { rounds } from "./memory_rounds.ts";
import { slow, system, testModel } from "./support.ts";

test("dispose waits for what is under way and queued, then everything is refused", slow, async () => {
  const model = await testModel();
  const chat = model.chat({ system });
  const running = model.complete("Once upon a time", { maxTokens: 16 });
  const queued = model.complete("Once upon a time", { maxTokens: 16 });
  const disposed = model.dispose();
  assert.throws(() => model.complete("x"), DisposedError);
  assert.throws(() => model.chat(), DisposedError);
  assert.throws(() => model.tokenize("x"), DisposedError);
  assert.throws(() => model.detokenize([1]), DisposedError);
  await assert.rejects(model.tokenizeAsync("x"), DisposedError);
  await assert.rejects(model.detokenizeAsync([1]), DisposedError);
  await assert.rejects(chat.send("x").then(), DisposedError);
  assert.equal((await running).tokens.length, 16);
  assert.equal((await queued).tokens.length, 16);
  await disposed;
  await model.dispose();
  assert.equal(model.info.vocabularySize, 49152);
  assert.deepEqual(chat.history, [{ role: "system", content: system }]);
});

test(
  "chat turns that were asked for before a dispose end well, queued ones and those with tools too",
  slow,
  async () => {
    const model = await testModel();
    const options = { temperature: 0, maxTokens: 4 } as const;
    const chat = model.chat({ system });
    const first = chat.send("one", options);
    const second = chat.send("two", options);
    const iterated = (async () => {
      let text = "";
      for await (const piece of model.chat({ system }).send("three", options)) text += piece;
      return text;
    })();
    const completed = model.complete("Once upon a time", options);
    const clock = {
      description: "Tells the time.",
      parameters: { type: "object", properties: {} },
      handler: () => "12:00",
    };
    const withTools = model.chat({ system, tools: { clock } }).send("What time is it?", {
      temperature: 0,
      maxTokens: 60,
      toolChoice: "required",
      parallelToolCalls: false,
    });
    assert.equal(model.disposed, false);
    const disposed = model.dispose();
    assert.equal(model.disposed, true);
    const late = chat.send("four", options);
    await assert.rejects(late, DisposedError);
    assert.equal((await first).tokens.length, 4);
    assert.equal((await second).tokens.length, 4);
    assert.ok((await iterated).length > 0);
    assert.equal((await completed).tokens.length, 4);
    assert.ok((await withTools).rounds >= 2);
    await disposed;
    assert.deepEqual(chat.history.filter(({ role }) => role === "user").map(({ content }) => content), ["one", "two"]);
  },
);

test("two models at once, each with all threads, answer as one alone", slow, async () => {
  await using one = await testModel({ threads: 4096 });
  await using other = await testModel({ threads: 4096 });
  const options = { temperature: 0, maxTokens: 3 };
  const alone = await one.complete("The capital of France is", options);
  const both = await Promise.all([one, other].map((model) => model.complete("The capital of France is", options)));
  for (const { tokens } of both) assert.deepEqual(tokens, alone.tokens);
});

test("loading and disposing again and again leaves nothing behind", slow, async () => {
  const samples = await rounds(12);
  const [warm, last] = [samples[5], samples.at(-1)];
  assert.ok(warm !== undefined && last !== undefined);
  assert.ok(last.residentMB < warm.residentMB + 30, JSON.stringify(samples));
  // The runtimes start threads of their own for a moment; a thread that a round leaves behind is there in every later sample.
  const late = samples.slice(-3).map(({ threads }) => threads).filter((threads) => threads !== undefined);
  if (warm.threads !== undefined) {
    assert.equal(late.length, 3);
    assert.ok(Math.min(...late) <= warm.threads + 2, JSON.stringify(samples));
  }
});
