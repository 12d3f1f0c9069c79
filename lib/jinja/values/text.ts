/**
 * Python's `str`: a JavaScript string, or one with the ranges in it that came from outside of the template. What a template makes of such a text keeps the
 * ranges, so that the text of a message is never taken for the template's own.
 *
 * @module
 */

/** A text some of whose characters came from outside of the template. */
export class Text {
  /** Python's name for the type. */
  readonly name: string = "str";
  /** The characters. */
  readonly text: string;
  /** Where each range begins and ends, in UTF-16 units, in order. */
  readonly outside: readonly number[];

  /** With the ranges. */
  constructor(text: string, outside: readonly number[]) {
    this.text = text;
    this.outside = outside;
  }
}

/** A text. */
export type Str = string | Text;

/** Whether a value is a text. */
export function isStr(value: unknown): value is Str {
  return typeof value === "string" || value instanceof Text;
}

/** The characters of a text. */
export function textOf(value: Str): string {
  return typeof value === "string" ? value : value.text;
}

/** A text all of which came from outside. */
export function outsideText(text: string): Str {
  return text === "" ? text : new Text(text, [0, text.length]);
}

/** A text made of others in a way that doesn't say which character came from where: all of it is from outside when any of them is. */
export function derived(text: string, ...from: readonly unknown[]): Str {
  return from.some((one) => one instanceof Text && one.outside.length > 0) ? outsideText(text) : text;
}

/** Where the first range stands that ends behind a place. */
function firstRange(outside: readonly number[], place: number): number {
  let low = 0;
  let high = outside.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((outside[2 * middle + 1] ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return 2 * low;
}

/** The part of a text between two places, in UTF-16 units. */
export function sliceText(value: Str, start: number, end: number): Str {
  if (typeof value === "string") return value.slice(start, end);
  if (start <= 0 && end >= value.text.length && value.name === "str") return value;
  const text = value.text.slice(start, end);
  const outside: number[] = [];
  for (let at = firstRange(value.outside, start); (value.outside[at] ?? Infinity) < end; at += 2) {
    const from = Math.max(start, value.outside[at] ?? 0) - start;
    const to = Math.min(end, value.outside[at + 1] ?? 0) - start;
    if (from < to) outside.push(from, to);
  }
  return outside.length === 0 ? text : new Text(text, outside);
}

/** Texts one behind the other. */
export function concatText(parts: readonly Str[]): Str {
  const outside: number[] = [];
  const texts: string[] = [];
  let length = 0;
  for (const part of parts) {
    if (typeof part === "string") texts.push(part);
    else {
      texts.push(part.text);
      for (let at = 0; at < part.outside.length; at += 2) {
        const from = (part.outside[at] ?? 0) + length;
        const to = (part.outside[at + 1] ?? 0) + length;
        if (outside.at(-1) === from) outside[outside.length - 1] = to;
        else outside.push(from, to);
      }
    }
    length += textOf(part).length;
  }
  const text = texts.join("");
  return outside.length === 0 ? text : new Text(text, outside);
}

/** Whether UTF-16 units and code points differ in a text. */
function hasPairs(text: string): boolean {
  return /[\ud800-\udfff]/.test(text);
}

/** Code points of a text. */
export function lengthOf(text: string): number {
  if (!hasPairs(text)) return text.length;
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** The place in UTF-16 units that a place in code points is. */
export function unitsAt(text: string, codePoints: number): number {
  if (codePoints <= 0 || !hasPairs(text)) return Math.max(0, Math.min(codePoints, text.length));
  let units = 0;
  for (let left = codePoints; left > 0 && units < text.length; left--) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return units;
}

/** The place in code points that a place in UTF-16 units is. */
export function pointsAt(text: string, units: number): number {
  return hasPairs(text) ? lengthOf(text.slice(0, units)) : units;
}

/** The characters of a text, each a text. */
export function* charactersOf(value: Str): Generator<Str, void, undefined> {
  let at = 0;
  for (const character of textOf(value)) {
    yield sliceText(value, at, at + character.length);
    at += character.length;
  }
}

/** Python's white space, for a class of characters in a regular expression. */
export const SPACES = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

const space = new RegExp(`[${SPACES}]`);

/** Where the white space at the end of a text begins. */
export function endOf(text: string): number {
  let end = text.length;
  while (end > 0 && space.test(text.charAt(end - 1))) end--;
  return end;
}

/** A text without the white space at its ends. */
export function trimSpaces(text: string): string {
  const end = endOf(text);
  let start = 0;
  while (start < end && space.test(text.charAt(start))) start++;
  return text.slice(start, end);
}
