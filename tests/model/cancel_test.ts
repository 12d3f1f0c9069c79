import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import process from "node:process";
import test from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  type CompletionOptions,
  defaultModelPath,
  GenerationCancelledError,
  loadModel,
  type SamplerFunction,
} from "../../mod.ts";
import { longPrompt, sharedModel, slow, system } from "./support.ts";

// Not mapped: a test below looks for mapped models.
const shared = sharedModel({ mmap: false });
const sharedLarge = sharedModel({ mmap: false, contextSize: 4096 });

const question = { temperature: 0, maxTokens: 12 } as const;

/** The reason that something rejects with. */
async function reasonOf(work: PromiseLike<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  return assert.fail("it wasn't rejected");
}

/** Greedy sampling that calls back before a token is chosen. */
function atToken(count: number, call: () => void): CompletionOptions {
  const sampler: SamplerFunction = ({ generated }) => {
    if (generated.length === count) call();
  };
  return { topK: 1, samplers: ["topK", sampler] };
}

test("a long prompt that is cancelled at any moment leaves the context as a fresh one", slow, async () => {
  const fresh = await shared();
  const expected = await fresh.complete("The capital of France is", question);
  const model = await sharedLarge();
  const prompt = longPrompt(model, 2000);
  for (const moment of [0, 1, 30, 100, 300]) {
    const controller = new AbortController();
    const reason = new Error(`cancelled after ${moment} ms`);
    const generation = model.complete(prompt, { maxTokens: 1, signal: controller.signal });
    await delay(moment);
    controller.abort(reason);
    assert.equal(await reasonOf(generation), reason);
    const after = await model.complete("The capital of France is", question);
    assert.deepEqual(after.tokens, expected.tokens, `after ${moment} ms`);
  }
});

test("a generation that is cancelled after its first piece leaves the context as a fresh one", slow, async () => {
  const model = await shared();
  const expected = await model.complete("The capital of France is", question);
  const controller = new AbortController();
  const reason = { any: "thing" };
  const pieces: string[] = [];
  const loop = (async () => {
    for await (const piece of model.complete("Once upon a time", { signal: controller.signal })) {
      pieces.push(piece);
      controller.abort(reason);
    }
  })();
  assert.equal(await reasonOf(loop), reason);
  assert.ok(pieces.length >= 1);
  assert.deepEqual((await model.complete("The capital of France is", question)).tokens, expected.tokens);
});

test("leaving a loop stops the generation", slow, async () => {
  const model = await shared();
  const generation = model.complete("Once upon a time");
  for await (const _ of generation) break;
  assert.ok(await reasonOf(generation) instanceof GenerationCancelledError);
  assert.equal((await model.complete("Once upon a time", { maxTokens: 3 })).tokens.length, 3);
});

test("a cancelled turn stays out of the history, and the chat goes on", slow, async () => {
  const model = await shared();
  const chat = model.chat({ system });
  for await (const _ of chat.send("Tell me a long story.")) break;
  assert.equal(chat.history.length, 1);
  const { text } = await chat.send("What is the capital of France?", { temperature: 0, maxTokens: 16 });
  assert.match(text, /Paris/);
  assert.equal(chat.history.length, 3);
});

test(
  "generations that are asked for at once come in order; one that is cancelled while it waits doesn't hold up the others",
  slow,
  async () => {
    const model = await shared();
    const ended: string[] = [];
    const controller = new AbortController();
    const ask = (name: string, signal?: AbortSignal) => {
      const generation = model.complete("Once upon a time", { temperature: 0, maxTokens: 12, signal });
      return generation.then((result) => {
        ended.push(name);
        return result;
      });
    };
    const first = ask("first");
    const second = ask("second", controller.signal);
    const third = ask("third");
    const reason = new Error("not wanted");
    controller.abort(reason);
    assert.equal(await reasonOf(second), reason);
    assert.deepEqual((await first).tokens, (await third).tokens);
    assert.deepEqual(ended, ["first", "third"]);
  },
);

test("a signal that was aborted before", slow, async () => {
  const model = await shared();
  const reason = new Error("before");
  const signal = AbortSignal.abort(reason);
  assert.equal(await reasonOf(model.complete("x", { signal })), reason);
  assert.equal(await reasonOf(model.chat({ system }).send("x", { signal })), reason);
  assert.equal(await reasonOf(loadModel(model.info.path, { signal })), reason);
});

test("AbortSignal.timeout and AbortSignal.any work as reasons", slow, async () => {
  const model = await sharedLarge();
  const prompt = longPrompt(model, 2000);
  const timeout = AbortSignal.timeout(20);
  const error = await reasonOf(
    model.complete(prompt, { signal: AbortSignal.any([timeout, new AbortController().signal]) }),
  );
  assert.equal(error, timeout.reason);
  assert.equal((error as DOMException).name, "TimeoutError");
});

test("a load is cancelled with the signal's reason, and reports progress when it isn't", slow, async () => {
  const model = await shared();
  const parts: number[] = [];
  const controller = new AbortController();
  const reason = new Error("no longer wanted");
  const load = loadModel(model.info.path, {
    threads: 1,
    signal: controller.signal,
    onProgress(part) {
      parts.push(part);
      controller.abort(reason);
    },
  });
  assert.equal(await reasonOf(load), reason);
  const early = new AbortController();
  const loading = loadModel(model.info.path, { threads: 1, signal: early.signal });
  early.abort(reason);
  assert.equal(await reasonOf(loading), reason);
  parts.length = 0;
  await using _ = await loadModel(model.info.path, { threads: 1, onProgress: (part) => parts.push(part) });
  assert.ok(parts.length > 1);
  assert.equal(parts.at(-1), 1);
  assert.deepEqual(parts, parts.toSorted((a, b) => a - b));
});

test("an onProgress that throws ends the load with its error, and nothing stays loaded", slow, async () => {
  const path = await defaultModelPath();
  for (const moment of [0, 1]) {
    const reason = new Error("no progress");
    const load = loadModel(path, {
      threads: 1,
      mmap: true,
      onProgress(part) {
        if (part >= moment) throw reason;
      },
    });
    assert.equal(await reasonOf(load), reason);
    if (process.platform === "linux") assert.doesNotMatch(await readFile("/proc/self/maps", "utf8"), /\.gguf/);
  }
});

test("a cancelled generation keeps its text, iterated or not", slow, async () => {
  const model = await shared();
  const { text } = await model.complete("Once upon a time", { temperature: 0, maxTokens: 40 });
  const left = model.complete("Once upon a time", { temperature: 0 });
  let seen = "";
  for await (const piece of left) {
    seen += piece;
    if (seen.length > 10) break;
  }
  const error = await reasonOf(left);
  assert.ok(error instanceof GenerationCancelledError);
  assert.ok(error.partial.startsWith(seen));
  assert.ok(error.partial.startsWith(text.slice(0, 10)));
  assert.equal(left.partial, error.partial);
  const controller = new AbortController();
  const reason = new Error("enough");
  const options = { ...atToken(6, () => controller.abort(reason)), signal: controller.signal };
  const awaited = model.complete("Once upon a time", options);
  assert.equal(await reasonOf(awaited), reason);
  assert.ok(awaited.partial.length > 0);
  assert.ok(awaited.partial.startsWith(text.slice(0, awaited.partial.length)), awaited.partial);
});

test("keepPartial keeps the answer of a cancelled turn in the history, iterated or not", slow, async () => {
  const model = await shared();
  const chat = model.chat({ system });
  const turn = chat.send("Tell me a long story.", { temperature: 0, keepPartial: true });
  for await (const _ of turn) break;
  const left = await reasonOf(turn);
  assert.ok(left instanceof GenerationCancelledError);
  assert.deepEqual(chat.history.slice(1), [
    { role: "user", content: "Tell me a long story." },
    { role: "assistant", content: left.partial },
  ]);
  const controller = new AbortController();
  const reason = new Error("enough");
  const options = { ...atToken(6, () => controller.abort(reason)), signal: controller.signal };
  const awaited = chat.send("Go on.", { ...options, keepPartial: true, prefill: "So" });
  assert.equal(await reasonOf(awaited), reason);
  assert.ok(awaited.partial.length > 0);
  assert.deepEqual(chat.history.slice(3), [
    { role: "user", content: "Go on." },
    { role: "assistant", content: `So${awaited.partial}` },
  ]);
  await chat.send("What is the capital of France?", { temperature: 0, maxTokens: 8 });
  assert.equal(chat.history.length, 7);
});

test("keepPartial of a turn that is cancelled before its text leaves no trace", slow, async () => {
  const model = await shared();
  const chat = model.chat({ system });
  const reason = new Error("at once");
  const signal = AbortSignal.abort(reason);
  assert.equal(await reasonOf(chat.send("Hello", { keepPartial: true, prefill: "So", signal })), reason);
  assert.equal(chat.history.length, 1);
});
