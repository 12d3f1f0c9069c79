import assert from "node:assert/strict";
import test from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { ChatTemplateError, PromptTooLongError } from "../../../mod.ts";
import { sharedModel, slow, system } from "../support.ts";

const shared = sharedModel();

const endless = "{% for i in range(99999) %}".repeat(4) + "{% endfor %}".repeat(4);
const quick = { temperature: 0, maxTokens: 4 } as const;

test("a chat template that never ends is stopped, and the model goes on", slow, async () => {
  const model = await shared();
  for (
    const template of [endless, "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "{{ range(300000000) | length }}"]
  ) {
    const chat = model.chat({ template });
    await assert.rejects(
      chat.send("hello", quick).then(),
      (error) => error instanceof ChatTemplateError && /takes more than/.test(error.message),
      template,
    );
    assert.deepEqual(chat.history, []);
  }
  const { text } = await model.chat({ system }).send("What is the capital of France?", { ...quick, maxTokens: 12 });
  assert.match(text, /Paris/);
});

test("a signal ends the rendering of a chat template", slow, async () => {
  const model = await shared();
  for (const moment of [0, 50]) {
    const controller = new AbortController();
    const reason = new Error("enough");
    const turn = model.chat({ template: endless }).send("hello", { ...quick, signal: controller.signal });
    await delay(moment);
    controller.abort(reason);
    await assert.rejects(turn.then(), (error) => error === reason);
  }
  assert.equal((await model.complete("1, 2, 3,", quick)).tokens.length, 4);
});

test("a conversation of 200 messages is rendered with the model's own template", slow, async () => {
  const model = await shared();
  const history = Array.from({ length: 199 }, (_, index) => ({
    role: index % 2 === 0 ? "user" as const : "assistant" as const,
    content: `number ${index}`,
  }));
  // It was rendered and turned into tokens; to compute them all would take long.
  await assert.rejects(model.chat({ system, history }).send("hello").then(), PromptTooLongError);
});
