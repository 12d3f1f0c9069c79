import assert from "node:assert/strict";
import test from "node:test";
import { ArgumentType } from "../../../lib/llama/tools/argument_type.ts";
import { argumentJson } from "../../../lib/llama/tools/parsers/argument_value.ts";
import { AnswerParser } from "../../../lib/llama/tools/parsers/answer_parser.ts";
import { answerForm } from "../../../lib/llama/tools/parsers/detect.ts";
import { toolShapes } from "../../../lib/llama/tools/parsers/shapes.ts";

const text = { type: "string" };
const none = { type: "null" };

test("markup has no quotes: the schema decides what a value is", () => {
  const defs = { $defs: { code: { anyOf: [text, none] }, loop: { $ref: "#/$defs/loop" } } };
  const cases: readonly (readonly [schema: unknown, written: string, value: unknown])[] = [
    [{ anyOf: [text, none] }, "123", "123"],
    [{ anyOf: [text, none] }, "null", null],
    [{ anyOf: [text, none] }, "None", null],
    [{ type: ["string", "null"] }, "true", "true"],
    [{ type: "string", nullable: true }, "1.5", "1.5"],
    [{ oneOf: [none, text] }, '"quoted"', '"quoted"'],
    [{ enum: ["1", "2"] }, "1", "1"],
    [{ const: "1" }, "1", "1"],
    [{ enum: ["1", 2] }, "2", 2],
    [{ $ref: "#/$defs/code", ...defs }, "123", "123"],
    [{ $ref: "#/$defs/loop", ...defs }, "123", 123],
    [{ allOf: [{ type: ["string", "integer"] }, { type: ["string", "null"] }] }, "7", "7"],
    [{ anyOf: [text, { type: "integer" }] }, "7", 7],
    [{ anyOf: [text, { type: "integer" }] }, "7.5", "7.5"],
    [{ anyOf: [text, { type: "number" }] }, "7.5", 7.5],
    [{ anyOf: [text, { type: "array" }] }, "[1, 'a']", [1, "a"]],
    [{ type: "integer" }, "7", 7],
    [{ type: "integer" }, "seven", "seven"],
    [{ type: "boolean" }, "True", true],
    [{ type: "object" }, '{"a": 1}', { a: 1 }],
    [true, "plain", "plain"],
  ];
  for (const [schema, written, value] of cases) {
    assert.deepEqual(JSON.parse(argumentJson(written, new ArgumentType(schema))), value, JSON.stringify(schema));
  }
});

test("a schema that refers to itself, or that isn't one, ends", () => {
  const loop = { $ref: "#" };
  assert.equal(new ArgumentType(loop).kinds.size, 7);
  assert.equal(new ArgumentType(loop).property("a").kinds.size, 7);
  for (const odd of [undefined, null, 5, "x", [], { type: 5 }, { anyOf: 5 }, { properties: [] }, { $ref: "#/%E0" }]) {
    assert.equal(typeof new ArgumentType(odd).property("a").allowsText, "boolean");
  }
});

test("text like a number stays text in every family that writes arguments as markup", () => {
  const shapes = toolShapes([{
    name: "find",
    parameters: { type: "object", properties: { name: { anyOf: [text, none] } } },
  }]);
  const answers: readonly (readonly [template: string, answer: string])[] = [
    [
      "<tool_call><function=<parameter=",
      "<tool_call>\n<function=find>\n<parameter=name>\n123\n</parameter>\n</function>\n</tool_call>",
    ],
    ["<tool_call><arg_key>", "<tool_call>find\n<arg_key>name</arg_key>\n<arg_value>123</arg_value>\n</tool_call>"],
    [
      "<minimax:tool_call>",
      '<minimax:tool_call>\n<invoke name="find">\n<parameter name="name">123</parameter>\n</invoke>\n</minimax:tool_call>',
    ],
    [
      "]<]minimax[>[",
      ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="find">]<]minimax[>[<name>123]<]minimax[>[</name>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>',
    ],
    [
      "<atem:function_calls><|message|>",
      ' to=find<|message|><atem:function_calls><atem:invoke name="find"><atem:parameter name="name">123</atem:parameter></atem:invoke></atem:function_calls>',
    ],
  ];
  for (const [template, answer] of answers) {
    const parser = new AnswerParser(answerForm(template), shapes);
    parser.push(answer);
    parser.finish();
    assert.deepEqual(parser.calls.map((call) => JSON.parse(call.arguments)), [{ name: "123" }], answer);
  }
});

test("a family is told by the tokens of the vocabulary where the template says nothing of calls", () => {
  assert.equal(answerForm("{{ messages }}").family.name, "json");
  assert.equal(answerForm("{{ messages }}", { tokens: ["<|tool_call_start|>"] }).family.name, "lfm");
  assert.equal(answerForm("{{ messages }}", { tokens: ["[TOOL_CALLS]"] }).family.name, "mistral");
  assert.equal(answerForm("<tool_call>", { tokens: ["[TOOL_CALLS]"] }).family.name, "hermes");
});
