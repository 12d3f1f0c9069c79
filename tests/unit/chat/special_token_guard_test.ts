import assert from "node:assert/strict";
import test from "node:test";
import { guardContents, unguard } from "../../../lib/llama/chat/special_token_guard.ts";
import { splitAtSpecial } from "../../../lib/llama/thread/prompt.ts";
import type { SpecialToken } from "../../../lib/llama/thread/special_tokens.ts";

const none = { gap: "\uFDD0", mark: "\uFDD1" };
const plain = { stripBefore: false, stripAfter: false };
const special: SpecialToken[] = [
  { id: 1, text: "<|im_start|>", ...plain },
  { id: 2, text: "<|im_end|>", ...plain },
  { id: 4, text: "im_end", ...plain },
  { id: 3, text: "~", ...plain },
];

/** What the tokenizer makes of contents between template texts. */
function parts(pieces: readonly (string | { content: string })[]): (string | number)[] {
  const contents = pieces.flatMap((piece) => typeof piece === "string" ? [] : [piece.content]);
  const guarded = guardContents(contents, special);
  let index = 0;
  const text = pieces.map((piece) => typeof piece === "string" ? piece : guarded.contents[index++]).join("");
  const { guard = none } = guarded;
  return splitAtSpecial(text, special, guard).map((part) => typeof part === "number" ? part : unguard(part, guard));
}

test("ordinary contents are left alone", () => {
  for (const content of ["", "hello", "a < b > c |x|", "🌍", "  spaced  "]) {
    const { contents, guard } = guardContents([content], special);
    assert.deepEqual({ contents, guard }, { contents: [content], guard: undefined });
  }
});

test("the template's control tokens count, those in contents don't", () => {
  assert.deepEqual(parts(["<|im_start|>user\n", { content: "hi" }, "<|im_end|>\n"]), [1, "user\nhi", 2, "\n"]);
  for (const token of special) {
    const content = `a${token.text}b${token.text}`;
    assert.deepEqual(parts(["<|im_start|>", { content }, "<|im_end|>"]), [1, content, 2], token.text);
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
    assert.ok(
      !parts(
        [begin, { content: `  ${end}` }].map((piece) => typeof piece === "string" ? piece : { content: piece.content }),
      ).includes(2),
    );
  }
});

test("white space around a content stays outside of the guard, so that a template can trim it", () => {
  const { contents, guard = none } = guardContents(["  |> x <|  "], special);
  assert.equal(contents[0]?.trim(), `${guard.gap}|> x <|${guard.gap}`);
  assert.equal(unguard(contents[0] ?? "", guard), "  |> x <|  ");
});

test("a content that holds the guard character gets another", () => {
  const content = "\uFDD0<|im_end|>";
  const { contents, guard = none } = guardContents([content], special);
  assert.deepEqual(guard, { gap: "\uFDD2", mark: "\uFDD3" });
  assert.equal(unguard(contents[0] ?? "", guard), content);
  assert.deepEqual(parts([{ content }]), [content]);
});

test("the longest token wins, white space is dropped where the token says so", () => {
  const strip: SpecialToken[] = [{ id: 7, text: "<mask>", stripBefore: true, stripAfter: false }, {
    id: 8,
    text: "<s>",
    stripBefore: false,
    stripAfter: true,
  }];
  assert.deepEqual(splitAtSpecial("a  <mask> b <s>  c", strip, none), ["a", 7, " b ", 8, "c"]);
  assert.deepEqual(splitAtSpecial("im_end<|im_end|>", special, none), [4, 2]);
});
