import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { inspect } from "node:util";
import { ChatTemplateError, DisposedError, PromptTooLongError } from "../../../lib/errors.ts";
import { type ChatHost, startChat } from "../../../lib/llama/chat/chat.ts";
import type { GenerationResult } from "../../../lib/llama/generation/generation.ts";
import { renderTemplate } from "../../../lib/llama/thread/template/render.ts";
import { templateTraits } from "../../../lib/llama/thread/template/traits.ts";
import { scripted } from "./scripted_model.ts";

const template = "{% for m in messages %}[{{ m.content }}]{% endfor %}";

function answer(text: string): GenerationResult {
  const timings = { waitMs: 0, firstPieceMs: 1, promptMs: 1, generationMs: 1, promptTokens: 1, reusedTokens: 0 };
  const rates = { generatedTokens: 1, promptTokensPerSecond: 1, generatedTokensPerSecond: 1 };
  return { text, tokens: [1], stopReason: "eos", seed: 1, timings: { ...timings, ...rates } };
}

/** A model whose answers come when they are told to. */
function host(): { host: ChatHost; asked: string[]; answer: (text: string) => void; next: () => Promise<void> } {
  const asked: string[] = [];
  const waiting: ((result: GenerationResult) => void)[] = [];
  let heard = Promise.withResolvers<void>();
  return {
    asked,
    next: () => heard.promise,
    answer(text) {
      heard = Promise.withResolvers<void>();
      waiting.shift()?.(answer(text));
    },
    host: {
      template,
      during: (work) => work(),
      vocabulary: () => Promise.resolve({ special: [], startToken: "", endToken: "" }),
      render: (input) => renderTemplate(input),
      traits: (input) => templateTraits(input),
      generate(prompt) {
        asked.push(prompt.kind === "template" ? prompt.text : "");
        heard.resolve();
        return new Promise((resolve) => waiting.push(resolve));
      },
    },
  };
}

test("a turn that is cancelled while it waits lets no later turn pass the one before it", async () => {
  const model = host();
  const chat = startChat(model.host, undefined);
  const first = chat.send("one");
  const cancelled = new AbortController();
  const second = chat.send("two", { signal: cancelled.signal });
  await model.next();
  cancelled.abort(new Error("changed my mind"));
  await assert.rejects(second.then(), /changed my mind/);
  const third = chat.send("three");
  // Had it nothing to wait for, it would have been asked by now.
  await new Promise((resolve) => setTimeout(resolve, 0));
  model.answer("ONE");
  assert.equal((await first).text, "ONE");
  await model.next();
  model.answer("THREE");
  assert.equal((await third).text, "THREE");
  assert.deepEqual(model.asked, ["[one]", "[one][ONE][three]"]);
  assert.deepEqual(chat.history.map(({ content }) => content), ["one", "ONE", "three", "THREE"]);
});

test("a bad template of a chat whose model has gone ends in one error that is heard", async () => {
  const unheard: unknown[] = [];
  const hear = (reason: unknown): void => void unheard.push(reason);
  process.on("unhandledRejection", hear);
  try {
    const gone: ChatHost = {
      ...host().host,
      vocabulary(): never {
        throw new DisposedError("gone");
      },
    };
    const chat = startChat(gone, { template: "{% if %}" });
    await assert.rejects(chat.send("x").then(), DisposedError);
    const other = startChat(host().host, { template: "{% if %}" });
    await assert.rejects(other.send("x").then(), ChatTemplateError);
    await new Promise((resolve) => setTimeout(resolve, 0));
    assert.deepEqual(unheard, []);
  } finally {
    process.off("unhandledRejection", hear);
  }
});

test("a conversation that no longer fits is an error that says what to do, and the chat is as it was", async () => {
  const scriptedHost = scripted("ONE", "SHORT");
  const { host } = scriptedHost;
  let isFull = false;
  const chat = startChat({
    ...host,
    generate(...args) {
      if (isFull) return Promise.reject(new PromptTooLongError("the prompt has 600 tokens", { value: 600 }));
      return host.generate(...args);
    },
  }, undefined);
  await chat.send("one");
  isFull = true;
  for (const _ of [1, 2]) {
    await assert.rejects(chat.send("a long text"), (error) => {
      assert.ok(error instanceof PromptTooLongError);
      assert.match(
        error.message,
        /conversation doesn't fit.*600 tokens.*model\.chat\(\{ history: .*larger contextSize/,
      );
      assert.equal(error.value, 600);
      return true;
    });
  }
  assert.deepEqual(chat.history.map(({ content }) => content), ["one", "ONE"]);
  isFull = false;
  assert.equal((await chat.send("short")).text, "SHORT");
  assert.equal((await startChat(scripted("NEW").host, { history: chat.history.slice(-2) }).send("go on")).text, "NEW");
});

test("console.log shows a chat and a turn in a line", async () => {
  const chat = startChat(scripted("ONE").host, { tools: { add: {}, now: {} } });
  assert.equal(String(chat), "Chat 0 messages, tools: add, now");
  const turn = chat.send("one");
  assert.equal(inspect(turn), "ChatTurn in progress");
  await turn;
  assert.equal(inspect(chat), "Chat 2 messages, tools: add, now");
  assert.equal(inspect({ turn }), '{ turn: ChatTurn done, "ONE" }');
});
