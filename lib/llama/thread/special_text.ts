/**
 * Control tokens in the text that a template made: those of the template count, what stands in a message is text.
 *
 * @module
 */

import type { SpecialToken } from "./special_tokens.ts";

/** Whether a part of a text has a character that came from outside of the template. `outside` is where ranges begin and end, in order. */
function isOutside(start: number, end: number, outside: readonly number[]): boolean {
  let low = 0;
  let high = outside.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((outside[2 * middle + 1] ?? 0) <= start) low = middle + 1;
    else high = middle;
  }
  return (outside[2 * low] ?? Infinity) < end;
}

/** Where a text is found in a part of another. */
function* places(text: string, sought: string, start: number, end: number): Generator<number, void, undefined> {
  for (let at = text.indexOf(sought, start); at >= 0 && at + sought.length <= end; at = text.indexOf(sought, at + 1)) {
    yield at;
  }
}

/**
 * Returns whether the text of a control token stands in a text that didn't all come from the template.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { hasOutsideSpecial } from "./special_text.ts";
 *
 * const end = { id: 2, text: "<|end|>", stripBefore: false, stripAfter: false };
 * assert.equal(hasOutsideSpecial("hello<|end|>", [0, 5], [end]), false);
 * assert.equal(hasOutsideSpecial("hello<|end|>", [0, 6], [end]), true);
 * ```
 */
export function hasOutsideSpecial(text: string, outside: readonly number[], special: readonly SpecialToken[]): boolean {
  if (outside.length === 0) return false;
  return special.some((token) => {
    for (const at of places(text, token.text, 0, text.length)) {
      if (isOutside(at, at + token.text.length, outside)) return true;
    }
    return false;
  });
}

type Span = readonly [start: number, end: number];

/**
 * Cuts a text at the control tokens in it, which come longest first, but not at one with a character from outside of the template: what is between two
 * stays one piece.
 */
export function splitAtSpecial(
  text: string,
  special: readonly SpecialToken[],
  outside: readonly number[],
): (string | number)[] {
  let parts: (Span | number)[] = [[0, text.length]];
  for (const token of special) {
    if (text.includes(token.text)) {
      parts = parts.flatMap((part) => typeof part === "number" ? [part] : splitAt(text, part, token, outside));
    }
  }
  return parts.map((part) => typeof part === "number" ? part : text.slice(...part)).filter((part) => part !== "");
}

function splitAt(
  text: string,
  [first, last]: Span,
  token: SpecialToken,
  outside: readonly number[],
): (Span | number)[] {
  const parts: (Span | number)[] = [];
  let start = first;
  for (const at of places(text, token.text, first, last)) {
    const end = at + token.text.length;
    if (at < start || isOutside(at, end, outside)) continue;
    parts.push([start, token.stripBefore ? endWithoutSpace(text, start, at) : at], token.id);
    start = token.stripAfter ? startWithoutSpace(text, end, last) : end;
  }
  return [...parts, [Math.min(start, last), last]];
}

const space = /[ \t\n\v\f\r]/;

function endWithoutSpace(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && space.test(text.charAt(at - 1))) at--;
  return at;
}

function startWithoutSpace(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && space.test(text.charAt(at))) at++;
  return at;
}
