import assert from "node:assert/strict";
import test from "node:test";
import { ChatTemplateError } from "../../../lib/errors.ts";
import { startChat } from "../../../lib/llama/chat/chat.ts";
import type { ChatOptions } from "../../../lib/llama/chat/options.ts";
import type { ChatMessage } from "../../../lib/llama/chat/message.ts";
import { templateTraits } from "../../../lib/llama/thread/template/traits.ts";
import { adding, call, scripted } from "./scripted_model.ts";

/** The prompts of a chat with these options for some questions. */
async function promptsOf(options: ChatOptions, ...questions: string[]): Promise<string[]> {
  const model = scripted("A", "A", "A");
  const chat = startChat(model.host, options);
  for (const question of questions) await chat.send(question);
  return model.asked;
}

async function fails(options: ChatOptions, words: RegExp): Promise<void> {
  const model = scripted("A");
  await assert.rejects(
    startChat(model.host, options).send("x").then(),
    (error) => error instanceof ChatTemplateError && words.test(error.message),
  );
  assert.deepEqual(model.asked, []);
}

const plain = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";
/** It says nothing of a system message. */
const silent = "{% for m in messages if m.role != 'system' %}<{{ m.role }}>{{ m.content }}{% endfor %}";
/** It refuses one. */
const refusing =
  "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system role') }}{% endif %}" +
  "<{{ m.role }}>{{ m.content }}{% endfor %}";
const scripts = ["Отвечай по-русски", "请用中文回答", "أجب بالعربية", "🙂🙃", "...", "Answer briefly"];

test("without a place for it a system message in any script goes before the first question", async () => {
  for (const template of [silent, refusing]) {
    for (const system of scripts) {
      assert.deepEqual(await promptsOf({ template, system }, "Q", "R"), [
        `<user>${system}\nQ`,
        `<user>${system}\nQ<assistant>A<user>R`,
      ]);
    }
  }
  for (const system of scripts) {
    assert.deepEqual(await promptsOf({ template: plain, system }, "Q"), [`<system>${system}<user>Q`]);
  }
});

test("an empty system message is none", async () => {
  for (const template of [plain, refusing]) {
    assert.deepEqual(await promptsOf({ template, system: "" }, "Q"), ["<user>Q"]);
  }
  const history: ChatMessage[] = [{ role: "system", content: "old" }];
  assert.deepEqual(await promptsOf({ template: plain, system: "", history }, "Q"), ["<system>old<user>Q"]);
});

test("a late system message goes to the template where it stands, and what refuses it says so", async () => {
  const history: ChatMessage[] = [
    { role: "user", content: "Q" },
    { role: "assistant", content: "A" },
    { role: "system", content: "späť" },
  ];
  assert.deepEqual(await promptsOf({ template: plain, history }, "R"), ["<user>Q<assistant>A<system>späť<user>R"]);
  await fails({ template: refusing, history }, /refused the messages: no system role/);
  await fails({ template: refusing, history, system: "first" }, /refused the messages: no system role/);
  // The template's own doing: it shows none.
  assert.deepEqual(await promptsOf({ template: silent, history }, "R"), ["<user>Q<assistant>A<user>R"]);
});

test("system replaces the system message of another chat's history", async () => {
  const model = scripted("A");
  const other = startChat(model.host, { template: plain, system: "old" });
  await other.send("Q");
  const history = other.history;
  assert.deepEqual(await promptsOf({ template: plain, system: "new", history }, "R"), [
    "<system>new<user>Q<assistant>A<user>R",
  ]);
  assert.deepEqual(await promptsOf({ template: plain, history }, "R"), ["<system>old<user>Q<assistant>A<user>R"]);
});

/** They take contents as lists of parts, as templates of models that see pictures do. */
const partTemplates = {
  "looks at the first part":
    "{% for m in messages %}{{ m.role }}:{% if m.content[0]['type'] == 'image' %}{{ '' }}{% else %} {% endif %}" +
    "{% for line in m.content %}{% if line['type'] == 'text' %}{{ line['text'] }}{% endif %}{% endfor %};{% endfor %}",
  "selects parts":
    "{% for m in messages %}{{ m.role }}: {% for c in m.content | selectattr('type', 'equalto', 'text') %}" +
    "{{ c.text }}{% endfor %};{% endfor %}",
};

test("a template that wants contents as parts gets them so", async () => {
  for (const [name, template] of Object.entries(partTemplates)) {
    assert.deepEqual(await promptsOf({ template, system: "S" }, "Q", "R"), [
      "system: S;user: Q;",
      "system: S;user: Q;assistant: A;user: R;",
    ], name);
  }
  // One that asks for either form gets text.
  const either =
    "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}parts{% endif %}{% endfor %}";
  assert.deepEqual(await promptsOf({ template: either }, "Q"), ["Q"]);
});

test("a template that fails on tools says so: they aren't told in another form", async () => {
  const failing = `{% for t in tools %}{{ t.function.nothing.name }}{% endfor %}${plain}`;
  await fails(
    { template: failing, tools: adding },
    /^the tool add can't be shown: the chat template failed: .*has no attribute 'nothing'/,
  );
  const refusingTools = `{% if tools %}{{ raise_exception('no tools') }}{% endif %}${plain}`;
  const [prompt = ""] = await promptsOf({ template: refusingTools, tools: adding }, "Q");
  assert.match(prompt, /You can call these tools/);
  const listed =
    `{% for t in tools %}{{ t.function.name }}{{ t.function.parameters.required | string }}{% endfor %}${plain}`;
  assert.deepEqual(await promptsOf({ template: listed, tools: adding }, "Q"), ["add['a', 'b']<user>Q"]);
});

test("a template that fails on one of the tools says on which", async () => {
  const template =
    `{% macro type(s) %}{% if s.type is string %}{{ s.type }}{% else %}{{ type(s.type) }}{% endif %}{% endmacro %}` +
    `{% for t in tools %}{{ t.function.name }}{% for k, v in t.function.parameters.properties | items %}{{ type(v) }}` +
    `{% endfor %}{% endfor %}${plain}`;
  const odd = { parameters: { type: "object", properties: { a: { type: ["string", "null"] } } }, handler: () => "" };
  const tools = { ...adding, odd } as unknown as NonNullable<ChatOptions["tools"]>;
  await fails(
    { template, tools },
    /^the tool odd can't be shown: the chat template failed: 'list object' .*; simplify the schema of its parameters, or/,
  );
  // The tools aren't at fault where the messages fail without them.
  await fails(
    { template: `${template}{{ raise_exception('no') }}`, tools: adding },
    /^the chat template refused the messages: no/,
  );
});

test("a template that goes through the properties gets them also of a tool that has none", async () => {
  const template = `{% for t in tools %}{{ t.function.name }}{{ t.function.parameters.properties.items() | list }}` +
    `{% endfor %}${plain}`;
  const tools = { bare: { parameters: { type: "object" }, handler: () => "" }, none: { handler: () => "" } };
  const given = tools as unknown as NonNullable<ChatOptions["tools"]>;
  assert.deepEqual(await promptsOf({ template, tools: given }, "Q"), ["bare[]none[]<user>Q"]);
});

/** A history with two calls at once. */
const called: ChatMessage[] = [
  { role: "user", content: "Q" },
  {
    role: "assistant",
    content: "",
    toolCalls: [
      { id: "aaaaaaaaa", name: "add", arguments: { a: 1, b: 'é "q"' } },
      { id: "bbbbbbbbb", name: "add", arguments: { a: [1, null], b: {} } },
    ],
  },
  { role: "tool", content: "R1", toolCallId: "aaaaaaaaa", name: "add" },
  { role: "tool", content: "R2", toolCallId: "bbbbbbbbb", name: "add" },
];

test("calls that a template leaves to the text are written as the model writes them, and results keep their role", async () => {
  const listed = "{% for t in tools %}[{{ t.function.name }}]{% endfor %}" + plain;
  const results = "<tool>R1<tool>R2<user>R";
  for (
    const [sign, calls] of [
      [
        "<|tool_call_start|>",
        '<|tool_call_start|>[add(a=1, b="é \\"q\\""), add(a=[1,null], b={})]<|tool_call_end|>',
      ],
      [
        "<|tool_call|>",
        '<|tool_call|>[{"name": "add", "arguments": {"a":1,"b":"é \\"q\\""}}, {"name": "add", "arguments": {"a":[1,null],"b":{}}}]',
      ],
      // Only its own template writes the calls of this one: they have ids.
      [
        "<|tool_calls_section_begin|>",
        '<tool_call>\n{"name": "add", "arguments": {"a":1,"b":"é \\"q\\""}}\n</tool_call>\n' +
        '<tool_call>\n{"name": "add", "arguments": {"a":[1,null],"b":{}}}\n</tool_call>',
      ],
    ]
  ) {
    const template = `${listed}{# ${sign} #}`;
    assert.deepEqual(await promptsOf({ template, tools: adding, history: called }, "R"), [
      `[add]<user>Q<assistant>${calls}${results}`,
    ]);
  }
});

test("several calls are shown one after another, each with its result, to a template that refuses them at once", async () => {
  const template = "{% for t in tools %}[{{ t.function.name }}]{% endfor %}{% for m in messages %}<{{ m.role }}>" +
    "{% if m.tool_calls and m.tool_calls | length != 1 %}{{ raise_exception('one at once') }}{% endif %}" +
    "{{ m.content }}{% for c in m.tool_calls %}<tool_call>{{ c.function | tojson }}</tool_call>{% endfor %}{% endfor %}";
  const [question, calls, ...results] = called as [ChatMessage, ChatMessage, ...ChatMessage[]];
  const history = [question, { ...calls, content: "I add." }, ...results.toReversed()];
  assert.deepEqual(await promptsOf({ template, tools: adding, history }, "R"), [
    '[add]<user>Q<assistant>I add.<tool_call>{"name": "add", "arguments": {"a": 1, "b": "é \\"q\\""}}</tool_call><tool>R1' +
    '<assistant><tool_call>{"name": "add", "arguments": {"a": [1, null], "b": {}}}</tool_call><tool>R2<user>R',
  ]);
  // Calls that the model made at once.
  const model = scripted(call({ a: 1, b: 2 }) + call({ a: 3, b: 4 }), "Done.");
  const chat = startChat(model.host, { template, tools: adding });
  assert.equal((await chat.send("Q")).text, "Done.");
  assert.match(
    model.asked[1] ?? "",
    /"b": 2}}<\/tool_call><tool>{"sum":3}<assistant>.*"b": 4}}<\/tool_call><tool>{"sum":7}/,
  );
});

test("results of several calls, and what the user says after them, are one message where a template has no role for them", async () => {
  const alternating =
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}" +
    "<{{ m.role }}>{{ m.content }}{% endfor %}";
  const [prompt = ""] = await promptsOf({ template: alternating, tools: adding, history: called }, "R");
  assert.ok(
    prompt.endsWith(
      "<user>The tool add gave this, use it to answer: R1\n\nThe tool add gave this, use it to answer: R2\n\nR",
    ),
    prompt,
  );
});

test("a template that fails on a call's arguments says so in the round that has one", async () => {
  const template =
    "{% for t in tools %}[{{ t.function.name }}]{% endfor %}{% for m in messages %}<{{ m.role }}>{{ m.content }}" +
    "{% for c in m.tool_calls %}{{ c.function.name }}{{ c.function.arguments.a.b.c }}{% endfor %}{% endfor %}{# <tool_call> #}";
  const model = scripted(call({ a: 1, b: 2 }), "3");
  await assert.rejects(
    startChat(model.host, { template, tools: adding }).send("x").then(),
    (error) => error instanceof ChatTemplateError && /failed on the messages/.test(error.message),
  );
  assert.equal(model.asked.length, 1);
});

test("traits tell what a template can do", async () => {
  const source = (template: string) => ({ source: template, startToken: "", endToken: "" });
  const none = { system: true, parts: false, tools: false, calls: undefined, parallel: true, results: false };
  assert.deepEqual(await templateTraits(source(plain)), none);
  assert.deepEqual(await templateTraits(source(refusing)), { ...none, system: false });
  assert.equal((await templateTraits(source(partTemplates["selects parts"]))).parts, true);
  // Tools that don't matter aren't looked for.
  assert.equal((await templateTraits({ ...source(plain), withTools: false })).tools, true);
  const textual = `{% for t in tools %}{{ t.function.name }}{% endfor %}{% for m in messages %}{{ m.content }}` +
    `{% for c in m.tool_calls %}{{ c.function.name ~ ' ' + c.function.arguments }}{% endfor %}{% endfor %}`;
  assert.deepEqual(await templateTraits(source(textual)), { ...none, tools: true, calls: "text", results: true });
});
