/**
 * The methods of Python's `str` that take it apart or put it together: each part keeps where it came from.
 *
 * @module
 */

import { typeError, valueError } from "../errors.ts";
import type { Run } from "../run.ts";
import { index, indexOr } from "../values/numbers.ts";
import { each, isTrue, typeName } from "../values/protocol.ts";
import { concatText, isStr, lengthOf, pointsAt, sliceText, SPACES, type Str, textOf, unitsAt } from "../values/text.ts";
import { Tuple, type Value } from "../values/types.ts";

/** A text. Throws Python's TypeError for anything else. */
export function needStr(value: Value | undefined): Str {
  return value !== undefined && isStr(value) ? value : typeError(`must be str, not ${typeName(value ?? null)}`);
}

const space = new RegExp(`[${SPACES}]`);

/** Where a text ends when white space, or some characters, at its end are left out. */
function endWithout(text: string, left: (character: string) => boolean): number {
  let end = text.length;
  while (end > 0) {
    const width = end > 1 && /[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(end - 2, end)) ? 2 : 1;
    if (!left(text.slice(end - width, end))) break;
    end -= width;
  }
  return end;
}

/** Takes white space, or some characters, away from the ends of a text. */
export function strip(run: Run, value: Str, characters: Value | undefined, sides: "both" | "left" | "right"): Str {
  const text = textOf(value);
  run.text(text.length);
  let isLeft = (character: string): boolean => space.test(character);
  if (characters !== undefined && characters !== null) {
    const given = new Set(textOf(needStr(characters)));
    isLeft = (character) => given.has(character);
  }
  let start = 0;
  if (sides !== "right") {
    for (const character of text) {
      if (!isLeft(character)) break;
      start += character.length;
    }
  }
  const end = sides === "left" ? text.length : endWithout(text, isLeft);
  return sliceText(value, start, Math.max(start, end));
}

/** Where a text is found in another, from a place on. */
function* places(text: string, sought: string): Generator<number, void, undefined> {
  if (sought === "") {
    for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) yield at;
    yield text.length;
    return;
  }
  for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + sought.length)) yield at;
}

/** Replaces a text in another, `count` times at most; below 0 is always. */
export function replace(run: Run, value: Str, old: Str, by: Str, count = -1): Str {
  const [text, sought] = [textOf(value), textOf(old)];
  run.search(text.length, sought.length);
  const parts: Str[] = [];
  let end = 0;
  let length = text.length;
  let left = count;
  for (const at of places(text, sought)) {
    if (left-- === 0) break;
    length += textOf(by).length - sought.length;
    run.text(length);
    parts.push(sliceText(value, end, at), by);
    end = at + sought.length;
  }
  parts.push(sliceText(value, end, text.length));
  return concatText(parts);
}

/** Splits a text at another, or at white space. */
export function split(
  run: Run,
  value: Str,
  separator: Value | undefined,
  maxsplit: Value | undefined,
  fromRight: boolean,
): Value[] {
  const text = textOf(value);
  const most = indexOr(maxsplit, -1);
  const ranges = separator === undefined || separator === null
    ? words(run, text, most, fromRight)
    : pieces(run, text, textOf(needStr(separator)), most, fromRight);
  run.list(ranges.length);
  return ranges.map(([start, end]) => sliceText(value, start, end));
}

type Span = readonly [start: number, end: number];

function pieces(run: Run, text: string, separator: string, most: number, fromRight: boolean): Span[] {
  if (separator === "") return valueError("empty separator");
  run.search(text.length, separator.length);
  const found: number[] = [];
  if (fromRight) {
    for (let at = text.lastIndexOf(separator); at >= 0 && (most < 0 || found.length < most);) {
      found.unshift(at);
      at = at < separator.length ? -1 : text.lastIndexOf(separator, at - separator.length);
    }
  } else for (const at of places(text, separator)) if (most < 0 || found.length < most) found.push(at);
  const starts = [0, ...found.map((at) => at + separator.length)];
  return starts.map((start, at) => [start, found[at] ?? text.length]);
}

function words(run: Run, text: string, most: number, fromRight: boolean): Span[] {
  run.text(text.length);
  const found: Span[] = Array.from(
    text.matchAll(new RegExp(`[^${SPACES}]+`, "g")),
    (match) => [match.index, match.index + match[0].length],
  );
  if (most < 0 || found.length <= most) return found;
  if (fromRight) {
    const kept = most === 0 ? [] : found.slice(-most);
    return [[0, found[found.length - most - 1]?.[1] ?? 0], ...kept];
  }
  return [...found.slice(0, most), [found[most]?.[0] ?? 0, text.length]];
}

// deno-lint-ignore no-control-regex -- Python ends lines at these
const lineEnds = new RegExp("\\r\\n|[\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]", "g");

/** Splits a text at its ends of lines. */
export function splitLines(run: Run, value: Str, keepEnds: boolean): Str[] {
  const text = textOf(value);
  run.text(text.length);
  const lines: Str[] = [];
  let start = 0;
  for (const match of text.matchAll(lineEnds)) {
    const end = match.index + match[0].length;
    lines.push(sliceText(value, start, keepEnds ? end : match.index));
    start = end;
  }
  if (start < text.length) lines.push(sliceText(value, start, text.length));
  run.list(lines.length);
  return lines;
}

/** Joins texts. Throws Python's TypeError for what is no text. */
export function join(run: Run, separator: Str, values: Value): Str {
  const parts: Str[] = [];
  let length = 0;
  for (const value of each(values, run)) {
    if (!isStr(value)) {
      return typeError(`sequence item ${parts.length}: expected str instance, ${typeName(value)} found`);
    }
    if (parts.length > 0) parts.push(separator);
    length += textOf(value).length + textOf(separator).length;
    run.text(length);
    parts.push(value);
  }
  return concatText(parts);
}

/** A text so many times. */
export function repeat(run: Run, value: Str, times: number): Str {
  if (times <= 0 || textOf(value) === "") return "";
  run.text(textOf(value).length * times);
  if (typeof value === "string") return value.repeat(times);
  run.list(times);
  return concatText(Array.from({ length: times }, () => value));
}

/** Fills a text up to a width. */
export function pad(
  run: Run,
  value: Str,
  width: Value | undefined,
  fill: Value | undefined,
  side: "l" | "r" | "c",
): Str {
  const filling = fill === undefined ? " " : needStr(fill);
  if (lengthOf(textOf(filling)) !== 1) return typeError("The fill character must be exactly one character long");
  const length = lengthOf(textOf(value));
  const wanted = index(width);
  const missing = wanted - length;
  if (missing <= 0) return value;
  // Python's center puts the odd one to the left of a text of odd width.
  const left = side === "l" ? 0 : side === "r" ? missing : Math.trunc(missing / 2) + (missing & wanted & 1);
  return concatText([repeat(run, filling, left), value, repeat(run, filling, missing - left)]);
}

/** Fills a number up with zeros. */
export function zfill(run: Run, value: Str, width: Value | undefined): Str {
  const text = textOf(value);
  const sign = /^[+-]/.test(text) ? 1 : 0;
  const zeros = repeat(run, "0", index(width) - lengthOf(text));
  return concatText([sliceText(value, 0, sign), zeros, sliceText(value, sign, text.length)]);
}

/** The part between two places in code points, which count from the end when they are below 0; in UTF-16 units. */
function bounds(text: string, start: Value | undefined, end: Value | undefined): Span | undefined {
  const length = lengthOf(text);
  const place = (given: Value | undefined, other: number): number => {
    const at = indexOr(given, other);
    return at < 0 ? Math.max(0, at + length) : at;
  };
  const [from, to] = [place(start, 0), Math.min(length, place(end, length))];
  return from > to ? undefined : [unitsAt(text, from), unitsAt(text, to)];
}

/** Where a text is found, in code points; -1 when it isn't. */
export function find(
  run: Run,
  value: Str,
  sought: Value,
  start: Value | undefined,
  end: Value | undefined,
  last: boolean,
): number {
  const text = textOf(value);
  const wanted = textOf(needStr(sought));
  run.search(text.length, wanted.length);
  const span = bounds(text, start, end);
  if (span === undefined) return -1;
  const part = text.slice(span[0], span[1]);
  const at = last ? part.lastIndexOf(wanted) : part.indexOf(wanted);
  return at < 0 ? -1 : pointsAt(text, span[0] + at);
}

/** How often a text is found. */
export function count(run: Run, value: Str, sought: Value, start: Value | undefined, end: Value | undefined): number {
  const text = textOf(value);
  const wanted = textOf(needStr(sought));
  run.search(text.length, wanted.length);
  const span = bounds(text, start, end);
  let found = 0;
  if (span !== undefined) { for (const _ of places(text.slice(span[0], span[1]), wanted)) found++; }
  return found;
}

/** Whether a text begins or ends with another, or with one of some. */
export function hasEnd(
  run: Run,
  value: Str,
  ends: Value,
  start: Value | undefined,
  end: Value | undefined,
  side: "startsWith" | "endsWith",
): boolean {
  run.text(textOf(value).length);
  const wanted = ends instanceof Tuple ? ends.items : [ends];
  const span = bounds(textOf(value), start, end);
  const texts = wanted.map((one) => {
    if (isStr(one)) return textOf(one);
    return typeError(`${side.toLowerCase()} first arg must be str or a tuple of str, not ${typeName(one)}`);
  });
  const part = span === undefined ? undefined : textOf(value).slice(span[0], span[1]);
  return part !== undefined && texts.some((text) => part[side](text));
}

/** A text before, at and behind where another is found. */
export function partition(run: Run, value: Str, separator: Value, last: boolean): Tuple {
  const [text, wanted] = [textOf(value), textOf(needStr(separator))];
  if (wanted === "") return valueError("empty separator");
  run.search(text.length, wanted.length);
  const at = last ? text.lastIndexOf(wanted) : text.indexOf(wanted);
  if (at < 0) return new Tuple(last ? ["", "", value] : [value, "", ""]);
  const end = at + wanted.length;
  return new Tuple([sliceText(value, 0, at), sliceText(value, at, end), sliceText(value, end, text.length)]);
}

/** A text with tabs as spaces. */
export function expandTabs(run: Run, value: Str, tabSize: Value | undefined): Str {
  const width = indexOr(tabSize, 8);
  const parts: Str[] = [];
  let column = 0;
  let start = 0;
  let at = 0;
  const text = textOf(value);
  for (const character of text) {
    if (character === "\t") {
      const spaces = width > 0 ? width - column % width : 0;
      parts.push(sliceText(value, start, at), repeat(run, " ", spaces));
      column += spaces;
      start = at + 1;
    } else column = character === "\n" || character === "\r" ? 0 : column + 1;
    at += character.length;
  }
  return concatText([...parts, sliceText(value, start, text.length)]);
}

/** A flag that may be left out. */
export function flag(run: Run, value: Value | undefined): boolean {
  return value !== undefined && isTrue(value, run);
}
