import assert from "node:assert/strict";
import test from "node:test";
import { ChatTemplateError, GenerationCancelledError, InvalidArgumentError } from "../../../lib/errors.ts";
import { startChat } from "../../../lib/llama/chat/chat.ts";
import type { ChatOptions } from "../../../lib/llama/chat/options.ts";
import type { ChatEvent } from "../../../lib/llama/chat/turn.ts";
import { defineTool } from "../../../lib/llama/tools/tool.ts";
import { adding, call, numbers, scripted } from "./scripted_model.ts";

test("handlers run, what they give goes to the model, and the answer to it ends the turn", async () => {
  const model = scripted(`<think>I add.</think>I add. ${call({ a: 1, b: 2 })}\n${call({ a: 3, b: 4 })}`, "3 and 7.");
  const chat = startChat(model.host, { tools: adding });
  const turn = chat.send("Add.");
  const events: ChatEvent[] = [];
  for await (const event of turn.events) events.push(event);
  const { text, reasoning, toolCalls, rounds, tokens } = await turn;
  assert.deepEqual([text, reasoning, toolCalls, rounds, tokens.length], ["I add.\n\n3 and 7.", "I add.", [], 2, 2]);
  assert.equal(events.map((event) => event.type === "text" ? event.text : "").join(""), text);
  assert.deepEqual(events.filter((event) => event.type === "toolCall" || event.type === "toolResult"), [
    { type: "toolCall", id: "call00000", call: { id: "call00000", name: "add", arguments: { a: 1, b: 2 } } },
    { type: "toolCall", id: "call00001", call: { id: "call00001", name: "add", arguments: { a: 3, b: 4 } } },
    { type: "toolResult", id: "call00000", name: "add", content: '{"sum":3}', isError: false },
    { type: "toolResult", id: "call00001", name: "add", content: '{"sum":7}', isError: false },
  ]);
  assert.match(model.asked[1] ?? "", /<tool>\{"sum":3\}#call00000<tool>\{"sum":7\}#call00001<assistant>/);
  assert.deepEqual(chat.history.map(({ role }) => role), ["user", "assistant", "tool", "tool", "assistant"]);
  assert.equal(chat.history[1]?.reasoning, "I add.");
});

test("what goes wrong with a call is told to the model", async () => {
  const model = scripted(
    [
      call({ a: 1 }),
      call({ a: 1, b: "x" }),
      call({}, "subtract"),
      '<tool_call>{"name": "add", "arguments": {"a": ]}</tool_call>',
      call({ a: 0, b: 0 }),
    ].join("\n"),
    "Sorry.",
  );
  const handler = ({ a }: { a: number }): number => {
    if (a === 0) throw new RangeError("zero is not allowed");
    return a;
  };
  const tools = { add: { parameters: numbers, handler } } as unknown as NonNullable<ChatOptions["tools"]>;
  const chat = startChat(model.host, { tools });
  const { text, malformedToolCalls } = await chat.send("Add.");
  assert.equal(text, "Sorry.");
  assert.deepEqual(malformedToolCalls, []);
  const results = chat.history.filter(({ role }) => role === "tool").map(({ content }) => content);
  assert.equal(results.length, 5);
  assert.match(results[0] ?? "", /^Error: the arguments of add are wrong at their root: they break \/required/);
  assert.match(results[1] ?? "", /^Error: .*at \/b/);
  assert.equal(results[2], "Error: there is no tool subtract; the tools are add");
  assert.match(results[3] ?? "", /^Error: the arguments aren't a whole JSON object: \{"a": /);
  assert.equal(results[4], "Error: zero is not allowed");
});

test("calls without a handler wait for results, in the order of the calls", async () => {
  const model = scripted(`${call({ a: 1, b: 2 })}${call({ a: 3, b: 4 })}`, "Done.", "Hello.");
  const chat = startChat(model.host, { tools: { add: { parameters: numbers } } });
  const { toolCalls, rounds } = await chat.send("Add.");
  assert.deepEqual([toolCalls.map(({ id }) => id), rounds], [["call00000", "call00001"], 1]);
  await assert.rejects(chat.send("Hello?").then(), /calls of tools wait for their results \(add, add\)/);
  for (const wrong of [[{ id: "call00000", content: 1 }], [{ id: "x", content: 1 }, { id: "call00001", content: 2 }]]) {
    await assert.rejects(chat.sendToolResults(wrong).then(), InvalidArgumentError);
  }
  const results = [{ id: "call00001", content: { sum: 7 } }, { id: "call00000", content: "three" }];
  assert.equal((await chat.sendToolResults(results)).text, "Done.");
  assert.match(model.asked[1] ?? "", /three#call00000<tool>\{"sum":7\}#call00001/);
  assert.equal((await chat.send("Hello?")).text, "Hello.");
  await assert.rejects(chat.sendToolResults(results).then(), /none/);
});

test("a model that calls tools for ever is stopped after its rounds, and its calls wait", async () => {
  const model = scripted(...Array.from({ length: 20 }, () => call({ a: 1, b: 1 })));
  const chat = startChat(model.host, { tools: adding });
  const { rounds, toolCalls } = await chat.send("Add.", { maxToolRounds: 3 });
  assert.deepEqual([rounds, toolCalls.length], [4, 1]);
  assert.equal(
    (await startChat(scripted(call({ a: 1, b: 1 })).host, { tools: adding }).send("x", { maxToolRounds: 0 })).rounds,
    1,
  );
});

test("after the last round a broken call is an error for the model, and the others wait", async () => {
  const broken = '<tool_call>{"name": "add", "arguments": {"a": ]}</tool_call>';
  const chat = startChat(scripted(`${call({ a: 1, b: 1 })}${broken}`).host, { tools: adding });
  const { toolCalls, failedToolCalls } = await chat.send("Add.", { maxToolRounds: 0 });
  assert.deepEqual(toolCalls.map(({ id }) => id), ["call00000"]);
  assert.match(failedToolCalls[0]?.message ?? "", /^Error: the arguments aren't a whole JSON object/);
});

test("a call that is cut off is reported, and isn't kept", async () => {
  const model = scripted(`Well. ${call({ a: 1, b: 2 }).slice(0, 45)}…`);
  const chat = startChat(model.host, { tools: adding });
  const { text, toolCalls, malformedToolCalls, stopReason } = await chat.send("Add.");
  assert.deepEqual([text, toolCalls, stopReason], ["Well.", [], "maxTokens"]);
  assert.deepEqual(malformedToolCalls.map(({ name }) => name), ["add"]);
  assert.deepEqual(chat.history.at(-1), { role: "assistant", content: "Well." });
});

test("toolChoice decides on the grammar, the tools told of, and is free once a tool was called", async () => {
  const choose = async (toolChoice: "auto" | "required" | "none" | { name: string }) => {
    const model = scripted(call({ a: 1, b: 2 }), "3");
    await startChat(model.host, { tools: { ...adding, now: {} } }).send("x", { toolChoice });
    return model;
  };
  const auto = await choose("auto");
  assert.deepEqual(auto.settings[0]?.grammar?.triggers?.words, ["<tool_call>"]);
  const required = await choose("required");
  assert.equal(required.settings[0]?.grammar?.triggers, undefined);
  assert.match(required.settings[0]?.grammar?.source ?? "", /^root ::= \(/);
  assert.deepEqual(required.settings[1]?.grammar?.triggers?.words, ["<tool_call>"]);
  const named = await choose({ name: "add" });
  assert.match(named.asked[0] ?? "", /^\[tool add\]</);
  assert.doesNotMatch(named.settings[0]?.grammar?.source ?? "", /"now"/);
  const none = await choose("none");
  assert.equal(none.settings[0]?.grammar, undefined);
  assert.match(none.asked[0] ?? "", /^<user>/);
});

test("a prefill is in the prompt and the history, and not in the text", async () => {
  const model = scripted("blue.");
  const chat = startChat(model.host, {});
  const turn = chat.send("Colour?", { prefill: "It is " });
  let streamed = "";
  for await (const piece of turn) streamed += piece;
  assert.deepEqual([streamed, (await turn).text], ["blue.", "blue."]);
  assert.ok(model.asked[0]?.endsWith("<assistant>It is "));
  assert.equal(chat.history.at(-1)?.content, "It is blue.");
});

test("thoughts come in a stream of their own, and what limits them goes to the model", async () => {
  const model = scripted("<think>a b c</think>d", "e");
  const chat = startChat(model.host, {});
  const turn = chat.send("x", { reasoning: { budget: 3 } });
  let thought = "";
  for await (const piece of turn.reasoning) thought += piece;
  assert.deepEqual([thought, (await turn).text, (await turn).reasoning], ["a b c", "d", "a b c"]);
  assert.deepEqual(model.settings[0]?.marks?.budget, {
    tokens: 3,
    open: "<think>",
    close: "</think>",
    closing: "\n</think>\n\n",
    opened: false,
  });
  await chat.send("x", { reasoning: false });
  assert.equal(model.settings[1]?.marks?.budget?.tokens, 0);
});

test("a turn that is cancelled while a handler runs ends at once, and leaves no trace", async () => {
  const model = scripted(call({}, "wait"), "never");
  const controller = new AbortController();
  let told: AbortSignal | undefined;
  const tools: NonNullable<ChatOptions["tools"]> = {
    wait: {
      handler(_, { signal }) {
        told = signal;
        controller.abort(new Error("enough"));
        return new Promise(() => {});
      },
    },
  };
  const chat = startChat(model.host, { tools });
  await assert.rejects(chat.send("x", { signal: controller.signal }).then(), /enough/);
  assert.equal(told?.aborted, true);
  assert.deepEqual(chat.history, []);
});

test("leaving the loop over the events cancels the turn", async () => {
  const chat = startChat(scripted("a long answer").host, {});
  const turn = chat.send("x");
  for await (const _ of turn.events) break;
  await turn.then(() => {}, (error) => assert.ok(error instanceof GenerationCancelledError));
  await assert.rejects(async () => {
    for await (const _ of turn.events) break;
  }, InvalidArgumentError);
});

test("a Standard Schema gives its JSON Schema, and what the handler gets", async () => {
  const schema = {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      validate: (value: unknown) => {
        const { a } = value as { a: number };
        return a > 5 ? { issues: [{ message: "too large", path: ["a"] }] } : { value: { a: `<${a}>` } };
      },
      jsonSchema: { input: () => ({ type: "object", properties: { a: { type: "integer" } }, required: ["a"] }) },
      types: undefined as { input: unknown; output: { a: string } } | undefined,
    },
  };
  const model = scripted(`${call({ a: 1 }, "show")}${call({ a: 9 }, "show")}`, "ok");
  const chat = startChat(model.host, { tools: { show: defineTool({ parameters: schema, handler: ({ a }) => a }) } });
  await chat.send("x");
  const results = chat.history.filter(({ role }) => role === "tool").map(({ content }) => content);
  assert.deepEqual(results, ["<1>", "Error: the arguments of show are wrong: a: too large"]);
});

test("a call can't be forced where nothing is known of the grammar of calls", async () => {
  const { host } = scripted("x");
  const template = "{{ tools }}{% for m in messages %}{{ m.content }}{% endfor %}{# <tool_call:opensource> #}";
  const chat = startChat(host, { template, tools: adding });
  await assert.rejects(
    chat.send("x", { toolChoice: "required" }),
    (error) =>
      error instanceof InvalidArgumentError &&
      /can't be forced .*\(hunyuan\); set toolChoice to auto/.test(error.message),
  );
  assert.equal((await chat.send("x")).text, "x");
});

test("a model without a template says how to give one", async () => {
  const chat = startChat({ ...scripted("x").host, template: undefined }, {});
  await assert.rejects(
    chat.send("x"),
    (error) => error instanceof ChatTemplateError && /has no chat template; give one/.test(error.message),
  );
});

test("wrong tools and options are refused by name", () => {
  const { host } = scripted();
  const chats: readonly (readonly [unknown, RegExp])[] = [
    [{ tools: [] }, /tools is/],
    [{ tools: { "a b": {} } }, /tool name "a b"/],
    [{ tools: { a: { parameters: { type: "string" } } } }, /arguments of a tool are an object/],
    [{ tools: { a: { handler: 1 } } }, /tools\.a\.handler/],
    [{ tools: { a: { jsonSchema: {} } } }, /jsonSchema goes with a Standard Schema/],
    [{ templateVariables: { f: () => 1 } }, /plain data/],
    [{ templateVariables: [1] }, /templateVariables is an array of 1; expected an object/],
    [{ history: [{ role: "tool", content: "x", toolCalls: 1 }] }, /history\[0\]\.toolCalls/],
  ];
  for (const [options, words] of chats) {
    assert.throws(
      () => startChat(host, options as never),
      (error) => error instanceof InvalidArgumentError && words.test(error.message),
    );
  }
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const odd of [proxy, null, 5, []]) assert.throws(() => defineTool(odd as never), InvalidArgumentError);
  const chat = startChat(host, { tools: adding });
  const sends: readonly (readonly [unknown, RegExp])[] = [
    [{ toolChoice: "always" }, /toolChoice/],
    [{ toolChoice: { name: "sub" } }, /toolChoice\.name/],
    [{ maxToolRounds: -1 }, /maxToolRounds/],
    [{ reasoning: { budget: 1.5 } }, /reasoning\.budget/],
    [{ reasoning: 5 }, /reasoning is 5; expected true, false or \{ budget \}/],
    [{ prefill: "x", toolChoice: "required" }, /prefill doesn't go with/],
    [{ grammar: 'root ::= "x"' }, /a grammar doesn't go with tools/],
    [{ toolchoice: "auto" }, /did you mean toolChoice/],
  ];
  for (const [options, words] of sends) {
    assert.throws(
      () => chat.send("x", options as never),
      (error) => error instanceof InvalidArgumentError && words.test(error.message),
      String(words),
    );
  }
  assert.throws(() => startChat(host, {}).send("x", { toolChoice: "required" }), /no tools/);
});
