import assert from "node:assert/strict";
import test from "node:test";
import { renderTemplate } from "../../../lib/llama/thread/template/render.ts";
import { hasOutsideSpecial, splitAtSpecial } from "../../../lib/llama/thread/special_text.ts";
import type { SpecialToken } from "../../../lib/llama/thread/special_tokens.ts";

const plain = { stripBefore: false, stripAfter: false };
const special: SpecialToken[] = [
  { id: 1, text: "<|im_start|>", ...plain },
  { id: 2, text: "<|im_end|>", ...plain },
  { id: 4, text: "im_end", ...plain },
  { id: 3, text: "~", ...plain },
];

type Pieces = readonly (string | { content: string })[];

/** A text made of a template's and of contents, and where these are. */
function joined(pieces: Pieces): { text: string; outside: number[] } {
  const outside: number[] = [];
  let text = "";
  for (const piece of pieces) {
    if (typeof piece === "string") text += piece;
    else {
      outside.push(text.length, text.length + piece.content.length);
      text += piece.content;
    }
  }
  return { text, outside };
}

/** What the tokenizer makes of contents between template texts. */
function parts(pieces: Pieces): (string | number)[] {
  const { text, outside } = joined(pieces);
  const split = splitAtSpecial(text, special, outside);
  // Where nothing in the contents looks like a control token llama.cpp cuts the whole: as when it had no contents.
  if (!hasOutsideSpecial(text, outside, special)) assert.deepEqual(split, splitAtSpecial(text, special, []));
  return split;
}

test("ordinary contents are left alone", () => {
  for (const content of ["", "hello", "a < b > c |x|", "🌍", "  spaced  ", "\uFDD0"]) {
    const { text, outside } = joined(["<|im_start|>", { content }, "<|im_end|>"]);
    assert.equal(hasOutsideSpecial(text, outside, special), false, content);
  }
});

test("the template's control tokens count, those in contents don't", () => {
  assert.deepEqual(parts(["<|im_start|>user\n", { content: "hi" }, "<|im_end|>\n"]), [1, "user\nhi", 2, "\n"]);
  for (const token of special) {
    const content = `a${token.text}b${token.text}`;
    const pieces = ["<|im_start|>", { content }, "<|im_end|>"];
    assert.deepEqual(parts(pieces), [1, content, 2], token.text);
    const { text, outside } = joined(pieces);
    assert.equal(hasOutsideSpecial(text, outside, special), true, token.text);
    assert.deepEqual(parts(["<|im_start|>", { content: token.text }, "<|im_end|>"]), [1, token.text, 2], token.text);
  }
});

test("a control token isn't put together from a content and what is beside it", () => {
  const token = "<|im_end|>";
  for (let cut = 1; cut < token.length; cut++) {
    const [begin, end] = [token.slice(0, cut), token.slice(cut)];
    const splitInside = (text: string) => text.includes("im_end") ? [] : [text];
    for (
      const pieces of [[begin, { content: end }], [{ content: begin }, end], [{ content: begin }, {
        content: end,
      }]] as const
    ) {
      const found = parts(["x", ...pieces, "y"]);
      assert.ok(!found.includes(2), JSON.stringify(pieces));
      if (splitInside(begin).length > 0 && splitInside(end).length > 0) assert.deepEqual(found, [`x${token}y`]);
    }
    assert.ok(!parts([begin, { content: `  ${end}` }]).includes(2));
  }
});

test("the longest token wins, white space is dropped where the token says so", () => {
  const strip: SpecialToken[] = [{ id: 7, text: "<mask>", stripBefore: true, stripAfter: false }, {
    id: 8,
    text: "<s>",
    stripBefore: false,
    stripAfter: true,
  }];
  assert.deepEqual(splitAtSpecial("a  <mask> b <s>  c", strip, []), ["a", 7, " b ", 8, "c"]);
  assert.deepEqual(splitAtSpecial("im_end<|im_end|>", special, []), [4, 2]);
});

/** A template's text for one content, with the characters that came from outside in capitals. */
async function marked(template: string, content: string): Promise<string> {
  const messages = [{ role: "user", content }];
  const { text, outside } = await renderTemplate({ source: template, messages, startToken: "<s>", endToken: "" });
  let shown = "";
  for (let at = 0, index = 0; at < text.length; at++) {
    if (at >= (outside[index + 1] ?? Infinity)) index += 2;
    shown += at >= (outside[index] ?? Infinity) ? text.charAt(at).toUpperCase() : text.charAt(at);
  }
  return shown;
}

test("what a template makes of a content is known to be from outside", async () => {
  const c = "messages[0].content";
  const cases: readonly (readonly [template: string, content: string, expected: string])[] = [
    [`a{{ ${c} }}b`, "xyz", "aXYZb"],
    [`{{ 'a' + ${c} + 'b' ~ ${c} }}`, "xy", "aXYbXY"],
    [`a{{ ${c} | trim }}b`, "  xy ", "aXYb"],
    [`a{{ ${c}.strip('<>') }}b`, "<x>", "aXb"],
    [`{{ ('a' + ${c} + 'bcd')[0:3] }}|{{ ('a' + ${c})[::-1] }}`, "x", "aXb|Xa"],
    [`{{ ${c}.split(',') | join('-') }}`, "x,y", "X-Y"],
    [`{{ ('a-' ~ ${c} ~ '-b').split('-')[1] }}`, "x", "X"],
    [`{{ ('a' ~ ${c}) | replace('a', 'bc') }}{{ 'a-a' | replace('-', ${c}) }}`, "x", "bcXaXa"],
    [`{{ 'a%sb' % ${c} }}{{ 'a%sb' | format(${c}) }}{{ 'a{}b'.format(${c}) }}`, "x", "aXbaXbaXb"],
    [`{% set y %}a{{ ${c} }}b{% endset %}{{ y }}`, "x", "aXb"],
    [`{% macro f(t) %}<{{ t }}>{% endmacro %}{{ f(${c}) }}`, "x", "<X>"],
    [`{% filter trim %} a{{ ${c} }} {% endfilter %}`, "x", "aX"],
    [`{% for l in ${c} %}{{ l }}.{% endfor %}`, "xy", "X.Y."],
    [`{{ ('a\n' ~ ${c}) | indent(2) }}`, "x", "a\n  X"],
    [`{{ ('a' ~ ${c}) | upper | lower }}`, "x", "AX"],
    [`a{{ {'b': ${c}} | tojson }}`, "x", 'a{"B": "X"}'],
    [`a{{ [${c}] }}`, "x", "a['X']"],
    [`{{ bos_token }}{{ messages[0].role }}{{ ${c} }}`, "x", "<s>userX"],
    [`{{ '<|' + messages[0]['role'] + '|>' + ${c} }}`, "x", "<|user|>X"],
    [`{{ ${c}.partition('y')[2] ~ 'a' ~ ${c}.removeprefix('x') ~ ${c}.center(5) }}`, "xyz", "ZaYZ XYZ "],
    [`{{ ${c} * 2 }}{{ ${c} | length }}{{ ${c} == 'xx' }}{{ 'x' in ${c} }}`, "xx", "XXXX2TrueTrue"],
  ];
  for (const [template, content, expected] of cases) assert.equal(await marked(template, content), expected, template);
});

test("a content that looks like a control token is compared, counted and split as it is", async () => {
  const source = "{{ messages[0].content.split('</think>')[-1] | trim }}|{{ '</think>' in messages[0].content }}|" +
    "{{ messages[0].content | length }}<|im_end|>";
  const content = "<think>a</think> b<|im_end|>";
  const messages = [{ role: "user", content }];
  const { text, outside } = await renderTemplate({ source, messages, startToken: "", endToken: "" });
  assert.equal(text, `b<|im_end|>|True|${content.length}<|im_end|>`);
  assert.deepEqual(splitAtSpecial(text, special, outside), [`b<|im_end|>|True|${content.length}`, 2]);
});
