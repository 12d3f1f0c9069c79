/** Tools and long conversations with a real model: one load for all. */

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { InvalidArgumentError, type Model, PromptTooLongError, UnsupportedKeywordError } from "../../../mod.ts";
import { slow, testModel } from "../support.ts";

let model: Model;
before(async () => {
  model = await testModel({ contextSize: 768 });
}, slow);
after(() => model.dispose(), slow);

const quick = { temperature: 0, maxTokens: 60, parallelToolCalls: false, toolChoice: "required" } as const;

/** Keywords and formats that no grammar can express, each in one argument. */
const parameters = {
  type: "object",
  properties: {
    ids: { type: "array", items: { type: "integer" }, uniqueItems: true, minItems: 1, maxItems: 2 },
    code: { type: "integer", format: "int32", minimum: 0, maximum: 99 },
    word: { enum: ["red", "green"], "x-note": 1 },
  },
  required: ["ids", "code", "word"],
};

test(
  "a tool with keywords that no grammar can express is called, and its handler gets valid arguments",
  slow,
  async () => {
    const got: Record<string, unknown>[] = [];
    const pick = {
      description: "Picks",
      parameters,
      handler: (args: Record<string, unknown>) => {
        got.push(args);
        return "picked";
      },
    };
    const turn = await model.chat({ tools: { pick } }).send("Pick something.", { ...quick, maxToolRounds: 1 });
    assert.equal(got.length + turn.failedToolCalls.length >= 1, true);
    for (const { ids, code, word } of got) {
      assert.equal(new Set(ids as number[]).size, (ids as number[]).length);
      assert.ok(Number.isInteger(code) && Number(code) <= 99 && ["red", "green"].includes(String(word)));
    }
    assert.throws(
      () => model.chat({ tools: { pick }, schemaMode: "strict" }),
      (error) => error instanceof UnsupportedKeywordError && /the tool pick/.test(error.message),
    );
  },
);

test("a call is forced in the form of a template that nobody has described", slow, async () => {
  const template = `{% for t in tools %}{{ t | tojson }}{% endfor %}{% for m in messages %}<|im_start|>{{ m.role }}\n` +
    `{{ m.content }}{% for c in m.tool_calls %}<do name="{{ c.function.name }}">` +
    `{% for k, v in c.function.arguments.items() %}<with name="{{ k }}">{{ v }}</with>{% endfor %}</do>{% endfor %}` +
    `<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}`;
  const add = {
    parameters: {
      type: "object",
      properties: { a: { type: "integer", minimum: 0, maximum: 9 }, kind: { enum: ["sum", "product"] } },
      required: ["a", "kind"],
    },
  };
  const { toolCalls, text } = await model.chat({ template, tools: { add } }).send("Add.", quick);
  assert.deepEqual(toolCalls.map(({ name }) => name), ["add"]);
  const { a, kind } = toolCalls[0]?.arguments ?? {};
  assert.ok(Number.isInteger(a) && ["sum", "product"].includes(String(kind)), JSON.stringify(toolCalls));
  assert.equal(text, "");
});

test("more attempts have seeds of their own, and nothing of those that don't count is streamed", slow, async () => {
  const tools = { pick: { parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } } };
  const send = async () => {
    const turn = model.chat({ tools }).send("Pick.", {
      ...quick,
      temperature: 1.5,
      seed: 3,
      maxAttempts: 3,
      constrainToolCalls: false,
      toolChoice: "auto",
      maxTokens: 24,
    });
    let streamed = "";
    for await (const piece of turn) streamed += piece;
    const { text, seed } = await turn;
    assert.equal(streamed, text);
    return [text, seed];
  };
  assert.deepEqual(await send(), await send());
});

test("a chat whose context is full can be read and gone on with in another chat", slow, async () => {
  const chat = model.chat();
  const options = { temperature: 0, maxTokens: 4 } as const;
  await chat.send("Hello", options);
  const before = chat.history;
  for (const _ of [1, 2]) {
    await assert.rejects(
      chat.send("word ".repeat(2000), options),
      (error) => error instanceof PromptTooLongError && /begin another chat/.test(error.message),
    );
    assert.deepEqual(chat.history, before);
  }
  assert.equal((await chat.send("Again", options)).rounds, 1);
  const other = model.chat({ history: chat.history.slice(-2) });
  assert.equal((await other.send("And again", options)).rounds, 1);
  assert.equal(other.history.length, 4);
});

test("what isn't plain data is refused before the native thread sees it", slow, () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const options of [{ tools: proxy }, { history: [proxy] }, { templateVariables: { f: () => 1 } }]) {
    assert.throws(() => model.chat(options as never), InvalidArgumentError);
  }
});
