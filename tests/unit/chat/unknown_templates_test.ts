import assert from "node:assert/strict";
import test from "node:test";
import { checkGbnf } from "../../../lib/gbnf/check.ts";
import { matchesGrammar, parseGrammar } from "../../../lib/gbnf/mod.ts";
import { findAnswerForm } from "../../../lib/llama/chat/answer_forms.ts";
import type { PromptHost } from "../../../lib/llama/chat/prompt.ts";
import { type RenderInput, renderTemplate } from "../../../lib/llama/thread/template/render.ts";
import { templateTraits } from "../../../lib/llama/thread/template/traits.ts";
import { toolGrammar } from "../../../lib/llama/tools/grammar.ts";
import { AnswerParser } from "../../../lib/llama/tools/parsers/answer_parser.ts";
import type { AnswerForm } from "../../../lib/llama/tools/parsers/detect.ts";
import { randomNumbers } from "../../support/random.ts";
import { toolShapes } from "../../../lib/llama/tools/parsers/shapes.ts";

/** A template that nobody has seen: what it writes for the calls of a message is given. */
function templateOf(calls: string, note = ""): string {
  return `{# ${note} #}{% for t in tools %}[{{ t.function.name }}]{% endfor %}{% for m in messages %}` +
    `<|im_start|>{{ m.role }}\n{{ m.content }}{% if m.tool_calls %}${calls}{% endif %}<|im_end|>\n{% endfor %}` +
    `{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}`;
}

const each = "{% for c in m.tool_calls %}";
const args = "{{ c.function.arguments | tojson }}";
const elements = (element: string): string => `{% for k, v in c.function.arguments.items() %}${element}{% endfor %}`;

/** Templates of shapes that are known, with marks that aren't; and whether a grammar is made of what they write. */
const templates: Readonly<Record<string, readonly [template: string, family: string, grammar: boolean]>> = {
  "objects between marks": [
    templateOf(
      `${each}<|fn|>{"name": "{{ c.function.name }}", "arguments": ${args}}<|/fn|>{% endfor %}`,
    ),
    "derived",
    true,
  ],
  "a list between marks, with keys of its own": [
    templateOf(
      `<|calls|>[${each}{"tool": "{{ c.function.name }}", "args": ${args}}{% if not loop.last %}, {% endif %}{% endfor %}]<|/calls|>`,
    ),
    "derived",
    true,
  ],
  "objects in objects": [
    templateOf(
      `${each}<|do|>{"type": "function", "function": {"name": "{{ c.function.name }}", "arguments": ${args}}}<|od|>{% endfor %}`,
    ),
    "derived",
    true,
  ],
  "a name and JSON": [
    templateOf(`${each}<|invoke|>{{ c.function.name }}<|with|>${args}<|done|>{% endfor %}`),
    "derived",
    true,
  ],
  "elements in an element": [
    templateOf(
      `${each}<act name="{{ c.function.name }}">\n${elements('<arg name="{{ k }}">{{ v }}</arg>\n')}</act>{% endfor %}`,
    ),
    "derived",
    true,
  ],
  "elements in a section": [
    templateOf(
      `<acts>\n${each}<act={{ c.function.name }}>\n${
        elements("<arg={{ k }}>\n{{ v }}\n</arg>\n")
      }</act>\n{% endfor %}</acts>`,
    ),
    "derived",
    true,
  ],
  "Python in marks": [
    templateOf(
      `<|py|>[${each}{{ c.function.name }}(${
        elements("{{ k }}={% if v is string %}'{{ v }}'{% else %}{{ v }}{% endif %}{% if not loop.last %}, {% endif %}")
      }){% if not loop.last %}, {% endif %}{% endfor %}]<|yp|>`,
    ),
    "derived",
    false,
  ],
  "signs of one family, calls of another": [
    templateOf(
      `${each}<tool_call>\n{"name": "{{ c.function.name }}", "arguments": ${args}}\n</tool_call>\n{% endfor %}`,
      "[TOOL_CALLS] was the mark of an older version",
    ),
    "hermes",
    true,
  ],
  "the mark of a family, another shape within": [
    templateOf(`${each}<tool_call>{{ c.function.name }}\n${args}</tool_call>{% endfor %}`),
    "derived",
    true,
  ],
  "marks that are put together": [
    templateOf(
      `{% set open = '<|' ~ 'tool_call_start' ~ '|>' %}{{ open }}[${each}{{ c.function.name }}(${
        elements(
          "{{ k }}={% if v is string %}'{{ v }}'{% else %}{{ v }}{% endif %}{% if not loop.last %}, {% endif %}",
        )
      }){% if not loop.last %}, {% endif %}{% endfor %}]<|tool_call_end|>`,
    ),
    "lfm",
    true,
  ],
};

const host = { render: (input: RenderInput) => renderTemplate(input) } as unknown as PromptHost;
const tokens = { startToken: "", endToken: "" };
const tools = [{
  name: "get_weather",
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" } },
    required: ["city", "days"],
  },
}];

const toldTools = tools.map((one) => ({ type: "function", function: one }));

async function formOf(source: string): Promise<AnswerForm> {
  const traits = await templateTraits({ source, ...tokens });
  const input = { source, variables: {}, tools: true };
  return await findAnswerForm(host, input, traits, { special: [], ...tokens }, new AbortController().signal);
}

/** What the template writes for an answer that calls the tool for these places. */
async function written(source: string, cities: readonly string[]): Promise<string> {
  const messages = [{ role: "user", content: "x" }];
  const { text: prompt } = await renderTemplate({ source, messages, tools: toldTools, ...tokens });
  const tool_calls = cities.map((city, index) => ({
    id: `call0000${index}`,
    type: "function",
    function: { name: "get_weather", arguments: { city, days: index + 1 } },
  }));
  const all = [...messages, { role: "assistant", content: "", tool_calls }];
  const { text: whole } = await renderTemplate({
    source,
    messages: all,
    tools: toldTools,
    forAnswer: false,
    ...tokens,
  });
  assert.ok(whole.startsWith(prompt));
  return whole.slice(prompt.length).replace(/<\|im_end\|>\n$/, "");
}

function read(form: AnswerForm, text: string, size: number): { text: string; calls: [string, unknown][] } {
  const parser = new AnswerParser(form, toolShapes(tools));
  const events = [];
  for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)));
  events.push(...parser.finish());
  return {
    text: events.map((event) => event.type === "text" ? event.text : "").join("").trim(),
    calls: parser.calls.map((call) => [call.name, JSON.parse(call.arguments)]),
  };
}

test("calls of templates that nobody has described are read by what the templates write", async () => {
  for (const [name, [source, family]] of Object.entries(templates)) {
    const form = await formOf(source);
    assert.equal(form.family.name, family, name);
    for (const cities of [["Rome"], ["Rome", "New York"]]) {
      const text = await written(source, cities);
      const calls = cities.map((city, index) => ["get_weather", { city, days: index + 1 }]);
      for (const size of [1, 7, 1000]) {
        assert.deepEqual(read(form, `Well. ${text}`, size), { text: "Well.", calls }, `${name}: ${text}`);
      }
    }
    assert.deepEqual(read(form, "A plain < answer, [1] {2}", 3), { text: "A plain < answer, [1] {2}", calls: [] });
  }
});

test("a grammar is made of what such a template writes", async () => {
  for (const [name, [source, , grammar]] of Object.entries(templates)) {
    const form = await formOf(source);
    for (const required of [false, true]) {
      const given = { form, template: source, tools, shapes: toolShapes(tools), inReasoning: false };
      const made = toolGrammar({ ...given, parallel: true, required });
      assert.equal(made !== undefined, grammar, name);
      if (made === undefined) continue;
      checkGbnf(made.source, "root");
      const parsed = parseGrammar(made.source);
      for (const cities of [["Rome"], ["Rome", "New York"]]) {
        const text = (await written(source, cities)).trimEnd();
        assert.ok(matchesGrammar(parsed, text), `${name}: ${text}\n${made.source}`);
        assert.equal(matchesGrammar(parsed, text.replace("get_weather", "get_whether")), false, name);
        assert.equal(matchesGrammar(parsed, text.replace("days", "day")), false, name);
        const trigger: string | RegExp | undefined = made.triggers[0];
        if (!required) assert.ok(typeof trigger === "string" && text.startsWith(trigger), `${name}: ${trigger}`);
      }
      const single = parseGrammar(toolGrammar({ ...given, parallel: false, required })?.source ?? "");
      assert.equal(matchesGrammar(single, (await written(source, ["Rome", "Oslo"])).trimEnd()), false, name);
    }
  }
});

test("a template that shows no calls is told by the tokens of the vocabulary", async () => {
  const source = `List: {{ tools }}{% for m in messages %}{{ m.content }}{% endfor %}`;
  const traits = await templateTraits({ source, ...tokens });
  const find = async (vocabulary: object) =>
    (await findAnswerForm(
      host,
      { source, variables: {}, tools: true },
      traits,
      { special: [], ...tokens, ...vocabulary },
      new AbortController().signal,
    )).family.name;
  const token = { id: 1, stripBefore: false, stripAfter: false };
  assert.equal(await find({}), "json");
  assert.equal(await find({ special: [{ ...token, text: "<|tool_call_start|>" }] }), "lfm");
  assert.equal(await find({ userDefined: ["<|tool_call_start|>"] }), "lfm");
});

test("mutations of such calls are read to the same end however they are cut", async () => {
  const next = randomNumbers(11);
  const pieces = ["<", ">", "{", "}", '"', "|", "\n", "<|", "get_weather", "🌍", "\\", "</", "[", "]", ",", "'"];
  let calls = 0;
  for (const [source] of Object.values(templates)) {
    const form = await formOf(source);
    const right = [...await written(source, ["Rome", "Oslo"])];
    for (let count = 0; count < 60; count++) {
      const letters = [...right];
      for (let change = Math.floor(next() * 3); change >= 0; change--) {
        const at = Math.floor(next() * letters.length);
        if (next() < 0.5) letters.splice(at, 1 + Math.floor(next() * 6));
        else letters.splice(at, 0, ...(pieces[Math.floor(next() * pieces.length)] ?? ""));
      }
      const parse = (size: number): string => {
        const parser = new AnswerParser(form, toolShapes(tools));
        const events = [];
        for (let at = 0; at < letters.length; at += size) {
          events.push(...parser.push(letters.slice(at, at + size).join("")));
        }
        events.push(...parser.finish());
        const told = events.map((event) => event.type === "text" ? event.text : "").join("");
        calls += parser.calls.length;
        return JSON.stringify([told, parser.calls, parser.spans.at(-1)?.to]);
      };
      assert.equal(parse(1), parse(1_000_000), letters.join(""));
    }
  }
  assert.ok(calls > 600);
});

test("a template made to be slow to look into costs no more than its rendering", async () => {
  const long = (text: string): string => `{% for i in range(20000) %}${text}{% endfor %}`;
  for (const filler of [" ", "{ ", '"a', "<", "<|a|>", "[ "]) {
    const source = templateOf(
      `${long(filler)}${each}{"name": "{{ c.function.name }}", "arguments": ${args}}{% endfor %}`,
    );
    const started = await formOf(source);
    assert.equal(started.calls, undefined);
  }
});
