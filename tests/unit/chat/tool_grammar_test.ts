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

test("schemas that refer to themselves many times make small grammars", () => {
  const names = [..."abcdefgh"];
  const node = {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { $ref: "#/$defs/node" }])),
  };
  const tree = [{ name: "grow", parameters: { type: "object", properties: node.properties, $defs: { node } } }];
  for (const template of ["<|tool_call>call:", "]<]minimax[>["]) {
    const { source = "" } = toolGrammar(input(template, { tools: tree, shapes: toolShapes(tree) })) ?? {};
    assert.ok(source.length < 20_000, `${template}: ${source.length}`);
    checkGbnf(source, "root");
  }
});

/** A tool whose arguments have parts of every kind. */
const inner = {
  name: "plan",
  parameters: {
    type: "object",
    properties: {
      title: { type: "string" },
      Area: { $ref: "#/$defs/area" },
      days: { type: "array", items: { type: "integer", maximum: 31 } },
      kind: { enum: ["short", "long"] },
      limit: { anyOf: [{ type: "number" }, { type: "null" }] },
      level: { enum: [1, 2] },
      notes: { type: "object" },
    },
    required: ["title", "days"],
    $defs: {
      area: {
        type: "object",
        properties: { near: { type: "boolean" }, parts: { type: "array", items: { $ref: "#/$defs/area" } } },
      },
    },
  },
};

function innerGrammar(template: string): ReturnType<typeof parseGrammar> {
  const given = input(template, { tools: [inner], shapes: toolShapes([inner]) });
  return parseGrammar(toolGrammar(given)?.source ?? "");
}

test("arguments in braces keep to their schema, whichever are there, in the order of the alphabet", () => {
  const grammar = innerGrammar("<|tool_call>call:");
  const call = (args: string): string => `<|tool_call>call:plan{${args.replaceAll("'", '<|"|>')}}<tool_call|>`;
  for (
    const args of [
      "days:[],title:''",
      "days:[1,31],title:'a \"b\" {c}'",
      "Area:{near:true,parts:[{},{near:false}]},days:[2],kind:'long',level:2,limit:null,notes:{a:[1,'x',{b:null}]},title:'t'",
      "days:[1],limit:1.5e3,title:'t'",
    ]
  ) {
    assert.ok(matchesGrammar(grammar, call(args)), args);
  }
  assert.ok(matchesGrammar(grammar, `${call("days:[],title:''")}${call("days:[],title:''")}<|tool_response>`));
  for (
    const args of [
      "",
      "days:[]",
      "title:'t',days:[]",
      "days:[32],title:'t'",
      "days:[1,],title:'t'",
      "days:1,title:'t'",
      "days:[],title:t",
      "days:[],kind:'medium',title:'t'",
      "days:[],level:3,title:'t'",
      "days:[],limit:'1',title:'t'",
      "Area:{far:true},days:[],title:'t'",
      "days:[],notes:5,title:'t'",
      "days:[],title:'t',",
      "days:[] title:'t'",
    ]
  ) {
    assert.equal(matchesGrammar(grammar, call(args)), false, args);
  }
});

test("arguments as elements within elements keep to their schema", () => {
  const mark = "]<]minimax[>[";
  const grammar = innerGrammar(mark);
  const marked = (text: string): string => text.replaceAll("<", `${mark}<`);
  const call = (args: string): string =>
    `${mark}<tool_call>\n${marked(`<invoke name="plan">${args}</invoke>`)}\n${mark}</tool_call>`;
  const title = "<title>a ]<] b\n</title>";
  for (
    const args of [
      `${title}<days></days>`,
      `${title}<days><item>1</item><item>31</item></days>`,
      `${title}<Area><near>true</near><parts><item></item><item><near>false</near></item></parts></Area><days></days><kind>long</kind><limit>null</limit><level>2</level><notes>{"a": [1]}</notes>`,
      `${title}<days></days><limit>1.5</limit>`,
    ]
  ) {
    // The text's own mark is no tag.
    assert.ok(matchesGrammar(grammar, call(args).replace(`]${mark}<]`, "]<]")), args);
  }
  for (
    const args of [
      "",
      title,
      "<days></days>",
      `<days></days>${title}`,
      `${title}<days><item>32</item></days>`,
      `${title}<days>1</days>`,
      `${title}<days><one>1</one></days>`,
      `${title}<days></days><kind>medium</kind>`,
      `${title}<days></days><level>3</level>`,
      `${title}<Area><far>true</far></Area><days></days>`,
      `${title}<days></days><notes>5</notes>`,
    ]
  ) {
    assert.equal(matchesGrammar(grammar, call(args).replace(`]${mark}<]`, "]<]")), false, args);
  }
});

test("a required call in braces or elements is the first thing that is written", () => {
  for (const name of ["gemma", "minimax-3"] as const) {
    const [template, text] = answers[name] ?? ["", ""];
    const { source = "", triggers = [] } = toolGrammar(input(template, { required: true })) ?? {};
    assert.deepEqual(triggers, [], name);
    const call = text.slice(begin(text, toolGrammar(input(template))?.triggers ?? []));
    assert.ok(matchesGrammar(parseGrammar(source), call), name);
    assert.equal(matchesGrammar(parseGrammar(source), `So. ${call}`), false, name);
  }
});
