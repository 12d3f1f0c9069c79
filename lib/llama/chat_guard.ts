import type { SpecialToken } from "./thread/special_tokens.ts";

/** Contents of messages in which nothing can be read as a control token. */
export interface GuardedContents {
  /** The contents, some with the guard character in them. */
  contents: string[];
  /** The guard character; `undefined` when nothing had to be guarded. */
  guard: string | undefined;
}

/** Characters that Unicode keeps for programs' own use: no text has them. */
const guards = Array.from({ length: 32 }, (_, index) => String.fromCharCode(0xfdd0 + index));

/**
 * Puts a guard character into whatever in the contents looks like a control token, or like the beginning or end of one that the template could
 * complete. It is taken out again before the text is tokenized. What surrounds it stays as it is, so that templates can trim and compare.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { guardContents } from "./chat_guard.ts";
 *
 * const end = { id: 2, text: "<|end|>", stripBefore: false, stripAfter: false };
 * assert.deepEqual(guardContents(["hello"], [end]), { contents: ["hello"], guard: undefined });
 * assert.deepEqual(guardContents(["a<|end|>b"], [end]), { contents: ["a<\uFDD0|end|>b"], guard: "\uFDD0" });
 * ```
 */
export function guardContents(contents: readonly string[], special: readonly SpecialToken[]): GuardedContents {
  const texts = special.map((token) => token.text);
  const guard = guards.find((one) => !contents.some((content) => content.includes(one))) ?? "\uFDD0";
  const guarded = contents.map((content) => guardEnds(guardInside(content, texts, guard), texts, guard));
  const changed = guarded.some((content, index) => content !== contents[index]);
  return { contents: guarded, guard: changed ? guard : undefined };
}

function guardInside(content: string, texts: readonly string[], guard: string): string {
  let guarded = content;
  for (const text of texts) {
    if (!guarded.includes(text)) continue;
    const [first = ""] = text;
    guarded = text === first ? guarded.replaceAll(text, "") : guarded.replaceAll(text, first + guard + text.slice(first.length));
  }
  return guarded;
}

/** Guards against a token that is begun on one side of the content's border and ended on the other. */
function guardEnds(content: string, texts: readonly string[], guard: string): string {
  const body = content.trim();
  if (body === "") return content;
  const before = texts.some((text) => beginsWithEndOf(body, text)) ? guard : "";
  const after = texts.some((text) => endsWithBeginOf(body, text)) ? guard : "";
  if (before === "" && after === "") return content;
  const from = content.indexOf(body);
  return content.slice(0, from) + before + body + after + content.slice(from + body.length);
}

function beginsWithEndOf(body: string, text: string): boolean {
  for (let at = 1; at < text.length; at++) if (body.startsWith(text.slice(at))) return true;
  return false;
}

function endsWithBeginOf(body: string, text: string): boolean {
  for (let length = 1; length < text.length; length++) if (body.endsWith(text.slice(0, length))) return true;
  return false;
}
