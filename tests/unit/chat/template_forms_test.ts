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
  await fails({ template: failing, tools: adding }, /failed on the messages: .*has no attribute 'nothing'/);
  const refusingTools = `{% if tools %}{{ raise_exception('no tools') }}{% endif %}${plain}`;
  const [prompt = ""] = await promptsOf({ template: refusingTools, tools: adding }, "Q");
  assert.match(prompt, /You can call these tools/);
  const listed =
    `{% for t in tools %}{{ t.function.name }}{{ t.function.parameters.required | string }}{% endfor %}${plain}`;
  assert.deepEqual(await promptsOf({ template: listed, tools: adding }, "Q"), ["add['a', 'b']<user>Q"]);
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
  const none = { system: true, parts: false, tools: false, calls: undefined, results: false };
  assert.deepEqual(await templateTraits(source(plain)), none);
  assert.deepEqual(await templateTraits(source(refusing)), { ...none, system: false });
  assert.equal((await templateTraits(source(partTemplates["selects parts"]))).parts, true);
  // Tools that don't matter aren't looked for.
  assert.equal((await templateTraits({ ...source(plain), withTools: false })).tools, true);
  const textual = `{% for t in tools %}{{ t.function.name }}{% endfor %}{% for m in messages %}{{ m.content }}` +
    `{% for c in m.tool_calls %}{{ c.function.name ~ ' ' + c.function.arguments }}{% endfor %}{% endfor %}`;
  assert.deepEqual(await templateTraits(source(textual)), { ...none, tools: true, calls: "text", results: true });
});
