import assert from "node:assert/strict";
import test from "node:test";
import {
  InvalidArgumentError,
  JsonSchemaError,
  SchemaContradictionError,
  ToolHandlerError,
  UnsupportedKeywordError,
} from "../../../lib/errors.ts";
import { startChat } from "../../../lib/llama/chat/chat.ts";
import type { ChatOptions, ChatSendOptions } from "../../../lib/llama/chat/options.ts";
import type { ChatEvent } from "../../../lib/llama/chat/turn.ts";
import { parseGrammar } from "../../../lib/gbnf/mod.ts";
import { call, numbers, scripted } from "./scripted_model.ts";

/** Schemas of one argument: with a value that is valid and one that isn't; none where nothing is invalid. */
const schemas: Readonly<Record<string, readonly [schema: unknown, valid: unknown, invalid?: unknown]>> = {
  "an unknown format": [{ type: "integer", format: "int32" }, 5, "five"],
  nullable: [{ type: "string", nullable: true }, "x", 5],
  uniqueItems: [{ type: "array", items: { type: "integer" }, uniqueItems: true }, [1, 2], [1, 1]],
  not: [{ type: "string", not: { pattern: "^x" } }, "y", "xy"],
  patternProperties: [{ type: "object", patternProperties: { "^n": { type: "integer" } } }, { n: 1 }, { n: "one" }],
  multipleOf: [{ type: "number", multipleOf: 0.5 }, 1.5, 1.25],
  dependentRequired: [
    { type: "object", properties: { a: {}, b: {} }, dependentRequired: { a: ["b"] } },
    { a: 1, b: 2 },
    { a: 1 },
  ],
  minProperties: [{ type: "object", minProperties: 2 }, { a: 1, b: 2 }, { a: 1 }],
  "a long maxLength": [{ type: "string", maxLength: 100_000 }, "x"],
  annotations: [{ type: "string", title: "T", examples: [1], deprecated: true, "x-order": 3, $comment: "c" }, "x", 5],
};

test("a keyword that no grammar can express refuses nothing: the arguments are validated after they were read", async () => {
  for (const [name, [schema, valid, invalid]] of Object.entries(schemas)) {
    for (const constrainToolCalls of [true, false]) {
      const got: unknown[] = [];
      const handler = ({ v }: { v: unknown }): string => {
        got.push(v);
        return "fine";
      };
      const parameters = { type: "object", properties: { v: schema }, required: ["v"] };
      const calls = [valid, ...(invalid === undefined ? [] : [invalid])].map((v) => call({ v }, "odd"));
      const model = scripted(calls.join("\n"), "Done.");
      const chat = startChat(model.host, { tools: { odd: { parameters, handler } } } as unknown as ChatOptions);
      const { text, failedToolCalls } = await chat.send("x", { constrainToolCalls });
      assert.equal(text, "Done.", name);
      assert.deepEqual(got, [valid], name);
      assert.equal(model.settings[0]?.grammar !== undefined, constrainToolCalls);
      if (constrainToolCalls) parseGrammar(model.settings[0]?.grammar?.source ?? "");
      assert.equal(failedToolCalls.length, calls.length - 1, name);
      for (const { message } of failedToolCalls) assert.match(message, /^Error: the arguments of odd are wrong at \/v/);
    }
  }
});

test("schemaMode strict refuses at model.chat, by tool and path, what no grammar can express", () => {
  const { host } = scripted();
  const unique = { type: "array", items: { type: "integer" }, uniqueItems: true };
  const parameters = { type: "object", properties: { a: unique } };
  assert.throws(
    () => startChat(host, { tools: { good: {}, odd: { parameters } }, schemaMode: "strict" }),
    (error) =>
      error instanceof UnsupportedKeywordError && error.path.startsWith("/properties/a") &&
      /the tool odd/.test(error.message),
  );
  assert.throws(() => startChat(host, { schemaMode: "loose" as never }), /schemaMode is "loose"/);
});

test("a broken schema is refused at model.chat, with its tool and path, in both modes", () => {
  const { host } = scripted();
  const broken: readonly (readonly [schema: object, error: typeof JsonSchemaError, path: string])[] = [
    [{ properties: { a: { type: "objekt" } } }, JsonSchemaError, "/properties/a"],
    [{ properties: { a: { $ref: "#/$defs/none" } } }, JsonSchemaError, "/properties/a"],
    [{ properties: { a: { enum: "x" } } }, JsonSchemaError, "/properties/a"],
    [
      { properties: { a: { type: "integer", minimum: 5, maximum: 4 } }, required: ["a"] },
      SchemaContradictionError,
      "",
    ],
  ];
  for (const [parameters, type, path] of broken) {
    for (const schemaMode of ["strict", "validate"] as const) {
      assert.throws(
        () => startChat(host, { tools: { odd: { parameters: { ...parameters } } }, schemaMode }),
        (error) => error instanceof type && error.path.startsWith(path) && error.message.includes("the tool odd"),
        JSON.stringify(parameters),
      );
    }
  }
});

const cyclic: Record<string, unknown> = { type: "object" };
cyclic["properties"] = { a: cyclic };
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();

test("what isn't plain data is refused with its place: in tools, history, results and variables", () => {
  const { host } = scripted();
  // deno-lint-ignore no-sparse-arrays
  const holes = [1, , 2];
  const user = { role: "user" as const, content: "x" };
  const withCall = (args: unknown) => ({
    history: [{ role: "assistant", content: "", toolCalls: [{ id: "1", name: "f", arguments: args }] }],
  });
  const self: Record<string, unknown> = {};
  self["self"] = self;
  let deep: unknown = {};
  for (let level = 0; level < 300; level++) deep = { items: deep };
  let shared: unknown = { type: "string" };
  for (let level = 0; level < 60; level++) shared = { a: shared, b: shared };
  const cases: readonly (readonly [options: unknown, message: RegExp])[] = [
    [{ tools: proxy }, /^tools is/],
    [{ tools: new Map() }, /^tools is/],
    [{ tools: { f: proxy } }, /tools\.f/],
    [{ tools: { f: null } }, /tools\.f/],
    [{ tools: { f: { parameters: cyclic } } }, /tools\.f\.parameters\.properties\.a .*doesn't hold itself/],
    [{ tools: { f: { parameters: proxy } } }, /tools\.f\.parameters/],
    [{ tools: { f: { parameters: { properties: { a: () => 1 } } } } }, /tools\.f\.parameters\.properties\.a is a fun/],
    [{ tools: { f: { parameters: { properties: { a: { enum: holes } } } } } }, /properties\.a\.enum has a hole at/],
    [{ tools: { f: { parameters: { properties: { a: { default: 1n } } } } } }, /properties\.a\.default is 1n/],
    [{ tools: { f: { parameters: { properties: { a: { default: NaN } } } } } }, /properties\.a\.default is NaN/],
    [{ tools: { f: { parameters: { properties: shared } } } }, /tools\.f\.parameters.*at most 1000000 values/],
    [{ tools: { f: { parameters: [] } } }, /tools\.f\.parameters is .*expected a JSON Schema of an object/],
    [{ tools: { f: { parameters: true } } }, /tools\.f\.parameters is true; expected a JSON Schema of an object/],
    [{ tools: { f: { parameters: { enum: [undefined] } } } }, /tools\.f\.parameters\.enum\[0\] is undefined/],
    [{ tools: { f: { parameters: { enum: new Array(1_000_001) } } } }, /enum is .*at most 1000000 values/],
    [{ tools: { f: { parameters: deep } } }, /expected plain data of at most 256 levels/],
    [{ tools: { f: { parameters: { toJSON: () => undefined } } } }, /tools\.f\.parameters is .*expected plain data/],
    [{ tools: Object.fromEntries(Array.from({ length: 257 }, (_, at) => [`f${at}`, {}])) }, /there are 257 tools/],
    [{ tools: { f: { description: "\ud800" } } }, /tools\.f\.description isn't valid UTF-16/],
    [{ history: holes }, /history has a hole at index 1/],
    [{ history: [user, , user] }, /history has a hole at index 1/],
    [{ history: [proxy] }, /history\[0\]/],
    [{ history: proxy }, /^history is/],
    [{ history: [{ ...user, content: null }] }, /history\[0\]\.content/],
    [{ history: [{ role: "assistant", content: "", toolCalls: [, {}] }] }, /history\[0\]\.toolCalls has a hole/],
    [{ history: [{ role: "assistant", content: "", toolCalls: proxy }] }, /history\[0\]\.toolCalls/],
    [withCall(self), /toolCalls\[0\]\.arguments\.self .*doesn't hold itself/],
    [withCall({ f: () => 1 }), /toolCalls\[0\]\.arguments\.f is a function/],
    [withCall({ list: holes }), /toolCalls\[0\]\.arguments\.list has a hole/],
    [withCall({ when: new Map() }), /toolCalls\[0\]\.arguments\.when/],
    [withCall([]), /toolCalls\[0\]\.arguments/],
    [withCall(proxy), /toolCalls\[0\]\.arguments/],
    [{ templateVariables: { v: self } }, /templateVariables\.v\.self/],
    [{ templateVariables: { v: holes } }, /templateVariables\.v has a hole/],
    [{ templateVariables: proxy }, /templateVariables/],
    [proxy, /model\.chat/],
    [Promise.resolve({}), /model\.chat/],
    [new AbortController().signal, /model\.chat/],
  ];
  for (const [options, message] of cases) {
    assert.throws(
      () => startChat(host, options as ChatOptions),
      (error) => error instanceof InvalidArgumentError && message.test(error.message),
      String(message),
    );
  }
  const chat = startChat(host, {});
  for (const options of [proxy, Promise.resolve({}), new AbortController().signal, new Map(), [], "x", null]) {
    for (
      const send of [
        () => chat.send("x", options as never),
        () => chat.sendToolResults([{ id: "1", content: 1 }], options as never),
      ]
    ) {
      assert.throws(
        send,
        (error) => error instanceof InvalidArgumentError && /the options of chat\.send/.test(error.message),
      );
    }
  }
  const sends: readonly unknown[] = [{ toolChoice: proxy }, { reasoning: proxy }, { stop: proxy }, { lora: proxy }, {
    stop: holes,
  }];
  for (const options of sends) assert.throws(() => chat.send("x", options as never), InvalidArgumentError);
  const results: readonly (readonly [results: unknown, message: RegExp])[] = [
    [[], /results/],
    [holes, /results has a hole at index 1/],
    [proxy, /^results is/],
    [[proxy], /results\[0\]/],
    [[{ id: 1, content: "x" }], /results\[0\]\.id/],
    [[{ content: "x" }], /results\[0\]\.id/],
    [[{ id: "1", content: holes }], /results\[0\]\.content has a hole/],
    [[{ id: "1", content: () => 1 }], /results\[0\]\.content is a function/],
    [[{ id: "1", content: self }], /results\[0\]\.content\.self/],
    [[{ id: "1", content: 1n }], /results\[0\]\.content is 1n/],
    [[{ id: "1", content: proxy }], /results\[0\]\.content/],
  ];
  for (const [given, message] of results) {
    assert.throws(
      () => chat.sendToolResults(given as never),
      (error) => error instanceof InvalidArgumentError && message.test(error.message),
      String(message),
    );
  }
});

test("the system message is given once, and an empty one is none", () => {
  const { host } = scripted();
  const history = [{ role: "system" as const, content: "Old." }, { role: "user" as const, content: "x" }];
  const contents = (options: ChatOptions): string[] => startChat(host, options).history.map(({ content }) => content);
  assert.deepEqual(contents({ system: "New.", history }), ["New.", "x"]);
  assert.deepEqual(contents({ history }), ["Old.", "x"]);
  assert.deepEqual(contents({ system: "", history }), ["Old.", "x"]);
  assert.deepEqual(contents({ system: "" }), []);
});

/** A chat with a tool whose handler is this, and what the turn ends with. */
async function handled(handler: () => unknown, options: ChatSendOptions = {}) {
  const model = scripted(call({}, "f"), "Done.");
  const chat = startChat(model.host, { tools: { f: { handler } } });
  const turn = chat.send("x", options);
  const events: ChatEvent[] = [];
  const failure = await (async () => {
    for await (const event of turn.events) events.push(event);
  })().catch((error: unknown) => error);
  return { failure, events, chat, model };
}

test("what a handler returns that JSON can't express is the program's error, and the chat can be used further", async () => {
  const self: unknown[] = [];
  self.push(self);
  // deno-lint-ignore no-sparse-arrays
  for (const value of [1n, self, () => 1, Symbol("s"), [1, , 2]]) {
    const { failure, chat } = await handled(() => value);
    assert.ok(failure instanceof ToolHandlerError, String(failure));
    assert.match(failure.message, /the tool f returned what JSON can't express: the result of the tool f/);
    assert.equal(failure.value, "f");
    assert.deepEqual(chat.history, []);
    assert.equal((await chat.send("again")).text, "Done.");
  }
});

test("an exception of a handler goes to the model and is in event and result, or rejects the turn", async () => {
  const bug = new TypeError("x is undefined");
  const fail = (): never => {
    throw bug;
  };
  const told = await handled(fail);
  assert.equal(told.failure, undefined);
  const event = told.events.find(({ type }) => type === "toolResult");
  assert.deepEqual(event, {
    type: "toolResult",
    id: "call00000",
    name: "f",
    content: "Error: x is undefined",
    isError: true,
    error: bug,
  });
  assert.match(told.model.asked[1] ?? "", /Error: x is undefined/);
  const { failedToolCalls } = await startChat(scripted(call({}, "f"), "ok").host, { tools: { f: { handler: fail } } })
    .send("x");
  assert.deepEqual(failedToolCalls, [{ id: "call00000", name: "f", message: "Error: x is undefined" }]);
  const thrown = await handled(fail, { toolErrors: "throw" });
  assert.ok(thrown.failure instanceof ToolHandlerError);
  assert.equal(thrown.failure.cause, bug);
  assert.deepEqual(thrown.chat.history, []);
});

test("a validator that throws is the program's error", async () => {
  const parameters = {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      validate: (): never => {
        throw new RangeError("broken validator");
      },
      jsonSchema: { input: () => ({ type: "object" }) },
    },
  };
  const chat = startChat(scripted(call({}, "f"), "Done.").host, { tools: { f: { parameters, handler: () => 1 } } });
  await assert.rejects(
    chat.send("x"),
    (error) => error instanceof ToolHandlerError && /validator of the tool f failed: broken/.test(error.message),
  );
});

test("with more attempts an answer with bad calls is made again by a seed of its own; only the one that counts is seen", async () => {
  const tools = { add: { parameters: numbers, handler: () => 3 } } as unknown as NonNullable<ChatOptions["tools"]>;
  const answers = [`One. ${call({ a: 1 })}`, `Two. ${call({}, "sub")}`, `Three. ${call({ a: 1, b: 2 })}`, "Done."];
  const model = scripted(...answers);
  const turn = startChat(model.host, { tools }).send("x", { maxAttempts: 3, seed: 7 });
  let streamed = "";
  for await (const piece of turn) streamed += piece;
  const { text, failedToolCalls } = await turn;
  assert.deepEqual([text, streamed], ["Three.\n\nDone.", "Three.\n\nDone."]);
  assert.deepEqual(failedToolCalls, []);
  const seeds = model.settings.map(({ sampling }) => sampling.seed);
  assert.equal(seeds[0], 7);
  assert.equal(new Set(seeds.slice(0, 3)).size, 3);
  const again = scripted(...answers);
  await startChat(again.host, { tools }).send("x", { maxAttempts: 3, seed: 7 });
  assert.deepEqual(again.settings.map(({ sampling }) => sampling.seed), seeds);

  const last = scripted(`One. ${call({ a: 1 })}`, `Two. ${call({ a: 2 })}`, "Sorry.");
  const result = await startChat(last.host, { tools }).send("x", { maxAttempts: 2 });
  assert.equal(result.text, "Two.\n\nSorry.");
  assert.match(result.failedToolCalls[0]?.message ?? "", /the arguments of add are wrong/);
});
