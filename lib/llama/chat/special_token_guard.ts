import type { SpecialToken } from "../thread/special_tokens.ts";

/** Two characters that no text holds, put into text that looks like a control token. */
export interface Guard {
  /** Goes inside, or between what together would look like one. */
  readonly gap: string;
  /** Goes before a token of one character, which has no inside. */
  readonly mark: string;
}

/** Contents of messages in which nothing can be read as a control token. */
export interface GuardedContents {
  /** The contents, some with the guard's characters in them. */
  contents: string[];
  /** The guard; `undefined` when nothing had to be guarded. */
  guard: Guard | undefined;
}

/** Characters that Unicode keeps for programs' own use, in pairs. */
const guards: readonly Guard[] = Array.from({ length: 16 }, (_, index) => ({
  gap: String.fromCharCode(0xfdd0 + 2 * index),
  mark: String.fromCharCode(0xfdd1 + 2 * index),
}));

/** A text without the guard's characters. */
export function unguard(text: string, { gap, mark }: Guard): string {
  return text.replaceAll(gap, "").replaceAll(mark, "");
}

/**
 * Puts a guard into whatever in the contents looks like a control token, or like the beginning or end of one that the template could complete. It is
 * taken out again before the text is tokenized. What surrounds it stays as it is, so that templates can trim and compare.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { guardContents } from "./special_token_guard.ts";
 *
 * const end = { id: 2, text: "<|end|>", stripBefore: false, stripAfter: false };
 * assert.deepEqual(guardContents(["hello"], [end]), { contents: ["hello"], guard: undefined });
 * assert.deepEqual(guardContents(["a<|end|>b"], [end]).contents, ["a<\uFDD0|end|>b"]);
 * ```
 */
export function guardContents(contents: readonly string[], special: readonly SpecialToken[]): GuardedContents {
  const texts = special.map((token) => token.text);
  const [first] = guards;
  const free = guards.find(({ gap, mark }) =>
    !contents.some((content) => content.includes(gap) || content.includes(mark))
  );
  const guard = free ?? first ?? { gap: "\uFDD0", mark: "\uFDD1" };
  const guarded = contents.map((content) => guardEnds(guardInside(content, texts, guard), texts, guard));
  const changed = guarded.some((content, index) => content !== contents[index]);
  return { contents: guarded, guard: changed ? guard : undefined };
}

function guardInside(content: string, texts: readonly string[], guard: Guard): string {
  let guarded = content;
  for (const text of texts) {
    if (!guarded.includes(text)) continue;
    const [first = ""] = text;
    guarded = guarded.replaceAll(
      text,
      text === first ? guard.mark + text : first + guard.gap + text.slice(first.length),
    );
  }
  return guarded;
}

/** Guards against a token that is begun on one side of the content's border and ended on the other. */
function guardEnds(content: string, texts: readonly string[], guard: Guard): string {
  const body = content.trim();
  if (body === "") return content;
  const before = texts.some((text) => beginsWithEndOf(body, text)) ? guard.gap : "";
  const after = texts.some((text) => endsWithBeginOf(body, text)) ? guard.gap : "";
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
