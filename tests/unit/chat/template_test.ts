import assert from "node:assert/strict";
import test from "node:test";
import { CancelledError } from "../../../base/errors.ts";
import { ChatTemplateError } from "../../../lib/errors.ts";
import type { ChatMessage } from "../../../lib/llama/chat/message.ts";
import { renderTemplate } from "../../../lib/llama/thread/template/render.ts";
import { type TemplateLimits, templateLimits } from "../../../lib/llama/thread/template/limits.ts";

/** Small, so that what is too much is reached soon. */
const limits: TemplateLimits = { ...templateLimits, steps: 200_000, characters: 100_000, range: 10_000 };

async function render(source: string, messages: readonly ChatMessage[] = []): Promise<string> {
  return (await renderTemplate({ source, messages, startToken: "<s>", endToken: "</s>" }, { limits })).text;
}

async function stopped(source: string, what: RegExp): Promise<void> {
  await assert.rejects(
    render(source),
    (error) => error instanceof ChatTemplateError && error.code === "CHAT_TEMPLATE" && what.test(error.message),
    source.slice(0, 100),
  );
}

test("a template gets the messages, the prompt for an answer, and the start and end tokens", async () => {
  assert.equal(
    await render(
      "{{ bos_token }}{% for m in messages %}[{{ m['role'] }}]{{ m.content | trim }}{{ eos_token }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}",
      [{ role: "system", content: " s " }, { role: "user", content: "u" }],
    ),
    "<s>[system]s</s>[user]u</s>[assistant]",
  );
});

test("a template that doesn't parse, fails or refuses is a typed error with its words", async () => {
  await assert.rejects(
    render("{% for %}"),
    (error) => error instanceof ChatTemplateError && error.cause instanceof Error,
  );
  await stopped("{{ raise_exception('roles must alternate') }}", /refused.*roles must alternate/);
  await stopped("{{ nothing() }}", /failed on the messages: 'nothing' is undefined \(UndefinedError\)/);
});

test("what templates use of Jinja gives what it should", async () => {
  const cases: readonly (readonly [string, string])[] = [
    ["{% for i in range(3) %}{{ i }}{% endfor %}{{ range(5, 0, -2) | list | join(',') }}", "0125,3,1"],
    ["{% for m in messages if m.role == 'user' %}{{ loop.index }}{{ m.content }}{% else %}none{% endfor %}", "1a2c"],
    ["{% for m in messages[::-1] %}{% if loop.index0 == 1 %}{% break %}{% endif %}{{ m.content }}{% endfor %}", "c"],
    ["{% for i in range(4) %}{% if i is odd %}{% continue %}{% endif %}{{ i }}{% endfor %}", "02"],
    [
      "{% set ns = namespace(t='') %}{% for m in messages %}{% set ns.t = ns.t ~ m.content %}{% endfor %}{{ ns.t }}",
      "abc",
    ],
    [
      "{% macro twice(x, by='-') %}{{ x }}{{ by }}{{ x }}{% endmacro %}{{ twice('a') }}{{ twice('b', by='+') }}",
      "a-ab+b",
    ],
    ["{% macro box() %}[{{ caller() }}]{% endmacro %}{% call box() %}in{% endcall %}", "[in]"],
    ["{% filter upper %}ab{{ messages[0].content }}{% endfilter %}", "ABA"],
    ["{{ 'a-b-c'.replace('-', '+') }}{{ 'a-b' | replace('-', '+', count=0) }}{{ 'x'.upper() }}", "a+b+ca-bX"],
    ["{{ 'a,b'.split(',')[-1] }}{{ 'abc'.startswith('ab') }}{{ '\nx'.strip() }}{{ 'b' in 'abc' }}", "bTruexTrue"],
    ["{{ {'a': [1, 'x']} | tojson }}{{ [1] | tojson(indent=2) }}", '{"a": [1, "x"]}[\n  1\n]'],
    ["{{ 'a\nb' | indent(2) }}{{ 'a\nb' | indent(width=1, first=true) }}", "a\n  b a\n b"],
    [
      "{{ missing is defined }}{{ missing | default('d') }}{{ none is none }}{{ messages is iterable }}",
      "FalsedTrueTrue",
    ],
    ["{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | join('|') }}", "a|c"],
    ["{{ 1 if messages | length == 3 else 2 }}{{ (1 + 2) * 3 }}{{ not true and x.y }}", "19False"],
    ["{{ strftime_now('%Y') | length }}{{ [1] + [2] }}{{ range(0) | length }}", "4[1, 2]0"],
  ];
  const messages: ChatMessage[] = [
    { role: "user", content: "a" },
    { role: "assistant", content: "b" },
    { role: "user", content: "c" },
  ];
  for (const [source, expected] of cases) assert.equal(await render(source, messages), expected, source);
});

test("a template that never ends is stopped", async () => {
  const nested = "{% for i in range(9999) %}".repeat(4) + "{% endfor %}".repeat(4);
  await stopped(nested, /200000 steps/);
  await stopped("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", /expressions within one another/);
  await stopped("{% macro f() %}{% if f() %}{% endif %}{{ f() }}{% endmacro %}{{ f() }}", /within one another|steps/);
  await stopped(`{{ ${"(".repeat(100_000)}1 }}`, /within one another|doesn't parse/);
  await stopped(`{{ ${"1 + ".repeat(20_000)}1 }}`, /within one another/);
});

test("a template whose text or lists grow without end is stopped", async () => {
  const doubled = "{% set ns = namespace(x='ab') %}{% for i in range(64) %}{% set ns.x = BODY %}{% endfor %}{{ ns.x }}";
  for (
    const body of ["ns.x ~ ns.x", "ns.x + ns.x", "[ns.x, ns.x]", "[ns.x, ns.x] | join", "{'a': ns.x, 'b': ns.x}"]
  ) await stopped(doubled.replace("BODY", body), /characters of text|steps|lists within/);
  await stopped("{% for i in range(9999) %}0123456789abcdef{% endfor %}", /characters of text/);
  await stopped("{{ range(300000000) | length }}", /10000 numbers of a range/);
  await stopped("{{ range(0, 1, 0.000000001) }}", /'float' object cannot be interpreted as an integer/);
  await stopped("{{ range(9007199254740992, 9007199254750000000) }}", /numbers of a range/);
  await stopped("{{ 'a\nb' | indent(300000000) }}", /characters of text/);
  await stopped("{{ 'a\nb' | indent(*[300000000]) }}", /characters of text/);
  await stopped("{{ 'a\nb' | indent(width=300000000) }}", /characters of text/);
  await stopped("{% filter indent(300000000) %}a\nb{% endfilter %}", /characters of text/);
  await stopped("{{ [[1]] | tojson(indent=100000000) }}", /characters of text/);
  await stopped("{% set a = 'a\n' | indent(9999, true) %}{{ a.replace(' ', a) }}", /characters of text|steps/);
  await stopped("{% set a = 'a\n' | indent(9999, true) %}{{ a['replace']('', a) }}", /characters of text|steps/);
  await stopped("{% set a = 'a\n' | indent(9999, true) %}{{ a | replace(' ', a) }}", /characters of text|steps/);
  await stopped(
    "{% set a = 'a\n' | indent(9999, true) %}{{ range(999) | list | join(a) }}",
    /characters of text|steps/,
  );
});

test("a template whose numbers or values grow without end is stopped", async () => {
  await stopped("{{ 10 ** 100000000 }}", /bits of an integer/);
  await stopped(
    "{% set ns = namespace(x=3) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
    /bits of/,
  );
  await stopped("{{ '%.999999f' % 1 }}{{ '{:.9999999f}'.format(1.5) }}", /bits of an integer/);
  await stopped("{{ ('9' * 90000) | int }}", /bits of an integer/);
  for (
    const call of ["'%999999999d' % 1", "'{:>999999999}'.format(1)", "'a'.center(999999999)", "'a'.zfill(999999999)"]
  ) {
    await stopped(`{{ ${call} }}`, /characters of text/);
  }
  await stopped("{{ [0] * 99999999999 }}", /steps/);
  await stopped("{% set l = [1] %}{% for x in l %}{% set _ = l.append(x) %}{% endfor %}", /steps/);
  await stopped("{% set ns = namespace() %}{% set ns.a = [ns, ns] %}{{ ns }}", /within one another|steps|characters/);
  await stopped("{% set l = [] %}{% set _ = l.append([l]) %}", /appended to itself/);
  const deep = "{% set ns = namespace(x=()) %}{% for i in range(9999) %}{% set ns.x = (ns.x,) %}{% endfor %}";
  for (const use of ["ns.x", "{ns.x: 1}", "ns.x | tojson"]) {
    await stopped(`${deep}{{ ${use} }}`, /within one another/);
  }
});

test("a template whose single steps are slow is stopped", async () => {
  const pattern = "{% set a = 'a\n' | indent(40000, true) %}{% set b = 'b' | indent(20000, true) %}";
  for (const work of ["b in a", "a.split(b)", "a.replace(b, '')", "a | replace(b, '')"]) {
    await stopped(`${pattern}{{ ${work} }}`, /steps/);
  }
  await stopped(
    `{% set a = 'a' | indent(90000, true) %}{% for i in range(9999) %}{{ (a | upper)[:1] }}{% endfor %}`,
    /steps/,
  );
  for (const mark of ["x", "{{ 1 }}", "{% raw %}", "{#", "{%- set a = ' "]) {
    const spaced = `x${" ".repeat(200_000)}${mark}`;
    await render(spaced).then((text) => assert.ok(text.startsWith("x ")), (error) => {
      assert.ok(error instanceof ChatTemplateError, String(error));
    });
  }
  await stopped("x".repeat(300_000), /262144 characters of template/);
});

test("a template that is slow all the same ends with its time", async () => {
  const source = "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}";
  await assert.rejects(
    renderTemplate({ source, messages: [], startToken: "", endToken: "" }, { limits: { ...limits, milliseconds: -1 } }),
    (error) => error instanceof ChatTemplateError && /milliseconds/.test(error.message),
  );
});

test("a template asks while it runs whether it was cancelled", async () => {
  let asked = 0;
  const check = (): void => {
    if (++asked === 3) throw new CancelledError("cancelled");
  };
  const source = "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}";
  await assert.rejects(
    renderTemplate({ source, messages: [], startToken: "", endToken: "" }, { limits, check }),
    CancelledError,
  );
  assert.equal(asked, 3);
});

test("a conversation of hundreds of long messages stays within the limits", async () => {
  const source = `{%- set ns = namespace(last=messages|length - 1, out='') -%}
{%- for m in messages[::-1] -%}{%- if m.role == 'user' and not m.content.startswith('<tool>') -%}{%- set ns.last = loop.index0 -%}{%- endif -%}{%- endfor -%}
{%- for message in messages -%}
{%- if loop.first and messages[0]['role'] != 'system' -%}{{ '<|im_start|>system\\nYou are helpful<|im_end|>\\n' }}{%- endif -%}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}{{ raise_exception('roles must alternate') }}{%- endif -%}
{%- set content = message.content | trim -%}
{%- if '</think>' in content -%}{%- set content = content.split('</think>')[-1].lstrip('\\n') -%}{%- endif -%}
{{- '<|im_start|>' + message['role'] + '\\n' + content + '<|im_end|>' + '\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}`;
  const messages = Array.from({ length: 400 }, (_, index): ChatMessage => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `${index} ${"word ".repeat(1000)}`,
  }));
  const { text } = await renderTemplate({ source, messages, startToken: "", endToken: "" });
  assert.equal(text.split("<|im_start|>").length, 403);
  assert.ok(text.endsWith("<|im_start|>assistant\n"));
});
