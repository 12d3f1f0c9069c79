import assert from "node:assert/strict";
import test from "node:test";
import { GrammarMatcher, matchesGrammar, parseGrammar } from "../../../lib/gbnf/mod.ts";
import { checkGbnf } from "../../../lib/gbnf/check.ts";
import { callsForm } from "../../../lib/llama/tools/call_forms.ts";
import { answerForm } from "../../../lib/llama/tools/parsers/detect.ts";
import { toolShapes } from "../../../lib/llama/tools/parsers/shapes.ts";
import { toolGrammar, type ToolGrammarInput } from "../../../lib/llama/tools/grammar.ts";
import { answers, tools } from "./tool_call_texts.ts";

function input(template: string, more: Partial<ToolGrammarInput> = {}): ToolGrammarInput {
  return {
    form: answerForm(template),
    template,
    tools,
    shapes: toolShapes(tools),
    parallel: true,
    required: false,
    inReasoning: false,
    ...more,
  };
}

/** Where the grammar begins to count. */
function begin(text: string, triggers: readonly (string | RegExp)[]): number {
  const starts = triggers.map((trigger) => {
    if (typeof trigger === "string") return text.indexOf(trigger);
    const match = new RegExp(trigger.source, "d").exec(text);
    return match?.indices?.[1]?.[0] ?? -1;
  });
  return Math.min(...starts.filter((start) => start >= 0));
}

const constrained = Object.entries(answers).filter(([name, [template]]) =>
  callsForm(name as never, template) !== undefined
);

test("grammars of calls take the calls of their families, from where they are triggered", () => {
  assert.ok(constrained.length >= 14);
  for (const [name, [template, text]] of constrained) {
    const grammar = toolGrammar(input(template));
    assert.ok(grammar !== undefined, name);
    checkGbnf(grammar.source, "root");
    // Marks that end a turn are no text of the answer; lists may be indented.
    const call = text.slice(begin(text, grammar.triggers)).replace(/<\|(call|eot)\|>$/, "");
    assert.ok(matchesGrammar(parseGrammar(grammar.source), call), `${name}: ${call}\n${grammar.source}`);
  }
});

test("grammars of calls refuse other tools, arguments that the schema doesn't allow, and a second call where there may be one", () => {
  for (const [name, [template, text, count]] of constrained) {
    const { source = "", triggers = [] } = toolGrammar(input(template)) ?? {};
    const grammar = parseGrammar(source);
    const call = text.slice(begin(text, triggers)).replace(/<\|(call|eot)\|>$/, "");
    for (const [from, to] of [["get_weather", "get_whether"], ["3", "three"], ["days", "day"]] as const) {
      assert.equal(matchesGrammar(grammar, call.replace(from, to)), false, `${name}: ${from} as ${to}`);
    }
    if (count < 2) continue;
    const single = parseGrammar(toolGrammar(input(template, { parallel: false }))?.source ?? "");
    assert.equal(matchesGrammar(single, call), false, name);
  }
});

test("where a call is required the model may think first, and nothing else comes before the call", () => {
  const template = "<tool_call> <think>";
  const call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome", "days": 3}}\n</tool_call>';
  const closed = parseGrammar(toolGrammar(input(template, { required: true }))?.source ?? "");
  for (const text of [call, `<think>\na </th> b\n</think>\n\n${call}`]) assert.ok(matchesGrammar(closed, text), text);
  for (const text of [`Well. ${call}`, "<think>a</think>", "", "Hello"]) {
    assert.equal(matchesGrammar(closed, text), false);
  }
  const opened = parseGrammar(toolGrammar(input(template, { required: true, inReasoning: true }))?.source ?? "");
  for (const text of [`I think.</think>${call}`, `</think>\n${call}`, `</</think>${call}`]) {
    assert.ok(matchesGrammar(opened, text), text);
  }
  assert.equal(matchesGrammar(opened, call), false);
});

test("where a call is required, a family of messages may reason first", () => {
  const required = (template: string): ReturnType<typeof parseGrammar> =>
    parseGrammar(toolGrammar(input(template, { required: true }))?.source ?? "");
  const cases = [
    [
      "<atem:function_calls><|message|>",
      " to=self<|message|>Hm.<|eom|><|start|>assistant",
      ' to=get_weather<|message|><atem:function_calls>\n<atem:invoke name="get_weather">\n<atem:parameter name="city">Rome</atem:parameter>\n<atem:parameter name="days">3</atem:parameter>\n</atem:invoke>\n</atem:function_calls>',
    ],
    [
      "<|channel|><|message|>",
      "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant",
      ' to=functions.get_weather<|channel|>commentary json<|message|>{"city": "Rome", "days": 3}',
    ],
  ] as const;
  for (const [template, reasoning, call] of cases) {
    const grammar = required(template);
    for (const text of [call, reasoning + call]) assert.ok(matchesGrammar(grammar, text), text);
    for (const text of [reasoning, `${reasoning}${reasoning}`, call.replaceAll("get_weather", "now")]) {
      assert.equal(matchesGrammar(grammar, text), false, text);
    }
  }
});

test("text in markup goes on until the very mark that ends it", () => {
  const template = "<tool_call><function=<parameter=";
  const { source = "" } = toolGrammar(input(template)) ?? {};
  const call = (city: string): string =>
    `<tool_call>\n<function=get_weather>\n<parameter=city>\n${city}\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>`;
  for (const city of ["", "Rome", "a\n\nb", "</parameter", "\n</para\n", "🌍 <b>"]) {
    assert.ok(matchesGrammar(parseGrammar(source), call(city)), JSON.stringify(city));
  }
  const matcher = new GrammarMatcher(parseGrammar(source));
  assert.equal(matcher.accept(call("a\n</parameter>\nb")), false);
});

test("arguments written as Python are separated, whichever of them are there", () => {
  const parameters = {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "integer" }, c: { type: ["boolean", "null"] }, d: { enum: ["x"] } },
    required: ["b"],
  };
  const template = "<|tool_call_start|>";
  const odd = [{ name: "f", parameters }, { name: "g", parameters: {} }];
  const given = input(template, { tools: odd, shapes: toolShapes(odd) });
  const grammar = parseGrammar(toolGrammar(given)?.source ?? "");
  const call = (args: string): string => `<|tool_call_start|>[${args}]<|tool_call_end|>`;
  for (
    const args of ["f(b=1)", "f(a='x y', b=1)", 'f(a="x", b=1, c=null, d="x")', 'f(b=1, d="x")', "g(), f(b=1, c=true)"]
  ) {
    assert.ok(matchesGrammar(grammar, call(args)), args);
  }
  for (const args of ["f()", "f(a='x')", "f(b=1,)", "f(, b=1)", 'f(b=1 d="x")', 'f(d="x", b=1)', "f(b=x)", ""]) {
    assert.equal(matchesGrammar(grammar, call(args)), false, args);
  }
});
