import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { AnswerParser, type AnswerStart } from "../../../lib/llama/tools/parsers/answer_parser.ts";
import { answerForm } from "../../../lib/llama/tools/parsers/detect.ts";
import { families } from "../../../lib/llama/tools/parsers/families.ts";
import { toolShapes } from "../../../lib/llama/tools/parsers/shapes.ts";
import type { ParsedToolCall, ParseEvent } from "../../../lib/llama/tools/parsers/sink.ts";
import { randomNumbers } from "../../support/random.ts";
import { answers, tools } from "./tool_call_texts.ts";

const shapes = toolShapes(tools);
/** How many mutations of right answers are read; the full number is 10,000. */
const mutations = Number(process.env["GGML_FFI_MUTATIONS"] ?? 1500);

interface Read {
  text: string;
  reasoning: string;
  calls: ParsedToolCall[];
  spans: string;
}

/** Reads an answer in pieces, and checks that the events tell the same as the calls, and that nothing is lost. */
function read(template: string, text: string, cut: (rest: number) => number, start: AnswerStart = {}): Read {
  const parser = new AnswerParser(answerForm(template), shapes, start);
  const characters = [...text];
  const events: ParseEvent[] = [];
  for (let at = 0; at < characters.length;) {
    const length = Math.max(1, cut(characters.length - at));
    events.push(...parser.push(characters.slice(at, at + length).join("")));
    at += length;
  }
  events.push(...parser.finish());
  const told = new Map<number, string>();
  for (const event of events) {
    if (event.type === "callStart") told.set(event.index, "");
    if (event.type === "callArguments") told.set(event.index, (told.get(event.index) ?? "") + event.text);
    if (event.type === "callEnd") assert.equal(told.get(event.index), event.call.arguments);
  }
  assert.equal(told.size, parser.calls.length);
  for (const call of parser.calls) if (call.complete) JSON.parse(call.arguments);
  const said = events.map((event) => event.type === "text" ? event.text : "").join("");
  const textSpans = kept(parser, text, "text");
  // White space before a call, or behind one at the end, is all that isn't given out.
  assert.equal(said.replaceAll(/\s/g, ""), textSpans.replaceAll(/\s/g, ""), JSON.stringify(text));
  assert.equal(parser.spans.at(-1)?.to ?? 0, text.length, `all of ${JSON.stringify(text)} was taken for something`);
  return {
    text: said,
    reasoning: events.map((event) => event.type === "reasoning" ? event.text : "").join(""),
    calls: parser.calls,
    spans: JSON.stringify(parser.spans),
  };
}

function kept({ spans }: AnswerParser, text: string, kind: string): string {
  return spans.map((span, index) => span.kind === kind ? text.slice(spans[index - 1]?.to ?? 0, span.to) : "").join("");
}

const all = (rest: number): number => rest;
const one = (): number => 1;

test("a list of JSON objects in place of Python's calls is taken whole", () => {
  const text =
    '<|tool_call_start|>[{"name": "get_weather", "arguments": {"city": "Rome", "days": 3}}]<|tool_call_end|>Fine.';
  for (const cut of [all, one]) {
    const found = read("<|tool_call_start|>", text, cut);
    assert.equal(found.text, "Fine.");
    assert.deepEqual(found.calls.map((call) => JSON.parse(call.arguments)), [{ city: "Rome", days: 3 }]);
  }
});

test("the calls of every family are found, whole or character by character", () => {
  const known = new Set(families.map(({ name }) => name));
  assert.deepEqual([...known].filter((name) => answers[name] === undefined), []);
  for (const [name, [template, text, count]] of Object.entries(answers)) {
    assert.equal(answerForm(template).family.name, name);
    for (const cut of [all, one]) {
      const found = read(template, text, cut);
      const expected = [{ city: "Rome", days: 3 }, { city: "Oslo", days: 1 }].slice(0, count);
      assert.deepEqual(
        found.calls.map((call) => [call.name, JSON.parse(call.arguments), call.complete]),
        expected.map((args) => ["get_weather", args, true]),
        `${name}: ${JSON.stringify(found)}`,
      );
      assert.doesNotMatch(found.text, /get_weather|Rome/);
    }
  }
});

test("arguments come while they are written", () => {
  const parser = new AnswerParser(answerForm("<tool_call>"), shapes);
  assert.deepEqual(parser.push('<tool_call>{"name": "get_wea'), []);
  assert.deepEqual(parser.push('ther", "arguments": {"city": "Ro'), [
    { type: "callStart", index: 0, name: "get_weather", id: undefined },
    { type: "callArguments", index: 0, text: '{"city": "Ro' },
  ]);
  assert.deepEqual(parser.push('me"'), [{ type: "callArguments", index: 0, text: 'me"' }]);
  assert.deepEqual(parser.finish(), [
    {
      type: "callEnd",
      index: 0,
      call: { id: undefined, name: "get_weather", arguments: '{"city": "Rome"', complete: false },
    },
  ]);
});

test("text comes at once, but for what may be the beginning of a call", () => {
  const parser = new AnswerParser(answerForm("<tool_call>"), shapes);
  assert.deepEqual(parser.push("a < b <tool"), [{ type: "text", text: "a < b" }]);
  assert.deepEqual(parser.push("box>"), [{ type: "text", text: " <toolbox>" }]);
  assert.deepEqual(parser.push(" <tool_call>no call"), [{ type: "text", text: " <tool_call>no call" }]);
  assert.deepEqual(parser.finish(), []);
});

test("what isn't a call is text", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["<tool_call>", "<tool_call>\nnot JSON\n</tool_call>"],
    ["<tool_call>", '<tool_call>{"arguments": {}}</tool_call>'],
    ["<tool_call>", "<tool_call>[]</tool_call>"],
    ["<tool_call>", '<tool_call>{"name": 1}</tool_call>'],
    ["[TOOL_CALLS]", "[TOOL_CALLS] and so on"],
    ["<|python_tag|>", '{"name": "unknown", "parameters": {}}'],
    ["<|python_tag|>", '{"name": "get_weather"}'],
    ["<|python_tag|>", '{"answer": [1, 2]}'],
    ["Action: ```json tool_name", "Action: none is needed"],
    ["<｜tool▁calls▁begin｜>", "<｜tool▁calls▁begin｜>nothing"],
    [">>>all", "all\n1 >>> 2 and >>>so on"],
    ["<|channel|><|message|>", "plain <|start|> text"],
  ];
  for (const [template, text] of cases) {
    for (const cut of [all, one]) {
      const found = read(template, text, cut);
      assert.deepEqual([found.text, found.calls], [text.replace(/^all\n/, ""), []], text);
    }
  }
});

test("a call that is cut off or broken is told as such, and what follows is read", () => {
  const cut = read("<tool_call>", '<tool_call>{"name": "get_weather", "arguments": {"city": "Ro', one);
  assert.deepEqual(cut.calls.map(({ complete, arguments: args }) => [complete, args]), [[false, '{"city": "Ro']]);
  const broken = read(
    "<tool_call>",
    `<tool_call>{"name": "get_weather", "arguments": {"city": }}</tool_call> well <tool_call>{"name": "get_weather", "arguments": {}}</tool_call>`,
    one,
  );
  assert.deepEqual(broken.calls.map(({ complete }) => complete), [false, true]);
  assert.equal(broken.text, " well");
});

test("arguments may be text that holds JSON, come before the name, or have line breaks in their texts", () => {
  const first = (text: string) => read("<tool_call>", `<tool_call>${text}</tool_call>`, one).calls[0];
  assert.equal(
    first('{"name": "get_weather", "arguments": "{\\"city\\": \\"Rome\\"}"}')?.arguments,
    '{"city": "Rome"}',
  );
  assert.equal(
    first('{"arguments": {"city": "Rome"}, "name": "get_weather", "id": "x1"}')?.arguments,
    '{"city": "Rome"}',
  );
  assert.equal(first('{"arguments": {"city": "Rome"}, "name": "get_weather", "id": "x1"}')?.id, "x1");
  assert.equal(first('{"name": "get_weather", "arguments": {"city": "a\nb"}}')?.arguments, '{"city": "a\\nb"}');
  assert.equal(first('{"type": "function", "function": {"name": "get_weather", "arguments": null}}')?.arguments, "{}");
  assert.equal(first('{"name": "get_weather"}')?.arguments, "{}");
});

test("Kimi K3's arguments may be one JSON object, and names have escapes", () => {
  const call = (inner: string): string =>
    `<|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|>${inner}<|close|>call<|sep|><|close|>tools<|sep|>`;
  const args = (inner: string) => read("<|open|><|close|><|end_of_msg|>", call(inner), one).calls[0]?.arguments ?? "";
  const block = '<|open|>json type="object"<|sep|>{"city": "Oslo", "days": 1}<|close|>json<|sep|>';
  assert.deepEqual(JSON.parse(args(block)), { city: "Oslo", days: 1 });
  const odd = '<|open|>argument key="a&quot;&amp;b" type="string"<|sep|>12<|close|>argument<|sep|>';
  assert.deepEqual(JSON.parse(args(odd)), { 'a"&b': "12" });
});

test("what the model thinks is told apart, also when the prompt began it, and when it never ends", () => {
  const template = "<tool_call> <think>";
  const thought = "a <tool_call> is not needed";
  for (const cut of [all, one]) {
    assert.deepEqual(pick(read(template, `<think>\n${thought}\n</think>\n\nHello`, cut)), [thought, "Hello"]);
    assert.deepEqual(pick(read(template, `${thought}</think>Hello`, cut, { inReasoning: true })), [thought, "Hello"]);
    assert.deepEqual(pick(read(template, `</think>Hello`, cut)), ["", "Hello"]);
    assert.deepEqual(pick(read(template, `${thought}`, cut, { inReasoning: true })), [thought, ""]);
    assert.deepEqual(pick(read("", `<think>Hello</think>`, cut)), ["", "<think>Hello</think>"]);
  }
});

function pick({ reasoning, text }: Read): [string, string] {
  return [reasoning, text];
}

test("mutations of right answers are read to the same end however they are cut; nothing throws, nothing is lost", () => {
  const next = randomNumbers(7);
  const texts = Object.values(answers);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  const marks = texts.flatMap(([, text]) => text.match(/<[^>]{1,40}>|\[[A-Z_/]+\]|[{}[\]",:]/g) ?? []);
  let broken = 0;
  let whole = 0;
  for (let count = 0; count < mutations; count++) {
    const [template, right] = pick(texts);
    let letters = [...right];
    for (let change = Math.floor(next() * 4); change >= 0; change--) {
      const at = Math.floor(next() * (letters.length + 1));
      const kind = Math.floor(next() * 6);
      if (kind === 0) letters = letters.slice(0, at);
      else if (kind === 1) letters.splice(at, 1 + Math.floor(next() * 8));
      else if (kind === 2) letters.splice(at, 0, ...pick(marks));
      else if (kind === 3) letters.splice(at, 0, pick(["\\", '"', "\0", "🌍", "\n", "\u2028", "}", "{", "<", "\\u12"]));
      else if (kind === 4) letters.splice(at, 0, ...letters.slice(at, at + 40));
      else letters.splice(at, 0, ...[...pick(texts)[1]].slice(0, 60));
    }
    const text = letters.join("");
    const [first, ...others] = [all, one, () => 1 + Math.floor(next() * 9)].map((cut) => read(template, text, cut));
    for (const other of others) assert.deepEqual(other, first, JSON.stringify(text));
    for (const call of first?.calls ?? []) call.complete ? whole++ : broken++;
  }
  console.log(`${mutations} mutations: ${whole} whole calls, ${broken} broken ones`);
  assert.ok(whole > mutations / 10 && broken > mutations / 20);
});

test("text made to be slow to read is read in time that grows with its length", () => {
  const hostile = [
    "<tool_call>".repeat(20_000),
    '<tool_call>{"a": "'.repeat(10_000),
    "{".repeat(200_000),
    `<tool_call>{"name": "get_weather", "arguments": ${"[".repeat(200_000)}`,
    `<tool_call>{"name": "${"x".repeat(300_000)}`,
    "<|channel|>".repeat(20_000),
    "<|start|>assistant".repeat(10_000),
    "<tool_call><function=get_weather><parameter=city>".repeat(4000),
    `<|tool_call_start|>[get_weather(city=${"[".repeat(100_000)}`,
  ];
  const templates = [
    "",
    "<tool_call>",
    "<|channel|><|message|>",
    "<tool_call><function=<parameter=",
    "<|tool_call_start|>",
  ];
  for (const template of templates) {
    for (const text of hostile) {
      const parser = new AnswerParser(answerForm(template), shapes);
      let length = 0;
      for (let at = 0; at < text.length; at += 1000) {
        for (const event of parser.push(text.slice(at, at + 1000))) length += size(event);
      }
      for (const event of parser.finish()) length += size(event);
      assert.ok(length <= 8 * text.length + 1000, `${template}: ${text.slice(0, 40)}: ${length}`);
    }
  }
});

function size(event: ParseEvent): number {
  return "text" in event ? event.text.length : event.type === "callEnd" ? event.call.arguments.length : 0;
}
