import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { ChatTemplateError, DisposedError } from "../../../lib/errors.ts";
import { Chat, type ChatHost } from "../../../lib/llama/chat/chat.ts";
import type { GenerationResult } from "../../../lib/llama/generation/generation.ts";
import { renderTemplate } from "../../../lib/llama/thread/template/render.ts";
import { templateTraits } from "../../../lib/llama/thread/template/traits.ts";

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
  const chat = new Chat(model.host, undefined);
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
    const chat = new Chat(gone, { template: "{% if %}" });
    await assert.rejects(chat.send("x").then(), DisposedError);
    const other = new Chat(host().host, { template: "{% if %}" });
    await assert.rejects(other.send("x").then(), ChatTemplateError);
    await new Promise((resolve) => setTimeout(resolve, 0));
    assert.deepEqual(unheard, []);
  } finally {
    process.off("unhandledRejection", hear);
  }
});
