/**
 * Markupsafe's `Markup`: a text that the filters `safe` and `escape` give. Nothing is escaped when a chat template writes it, but what is added to such a text
 * is.
 *
 * @module
 */

import type { Run } from "../run.ts";
import { repr } from "./repr.ts";
import { derived, isStr, type Str, Text, textOf } from "./text.ts";
import { Tuple, Undefined, type Value } from "./types.ts";

/** A text whose characters are HTML. */
export class Markup extends Text {
  /** Python's name for the type. */
  override readonly name: string = "Markup";
}

/** A text as HTML. */
export function markup(value: Str): Markup {
  return value instanceof Markup ? value : new Markup(textOf(value), typeof value === "string" ? [] : value.outside);
}

/** A text that isn't HTML any more: Python's `str()` of it. */
export function plain(value: Str): Str {
  if (!(value instanceof Markup)) return value;
  return value.outside.length === 0 ? value.text : new Text(value.text, value.outside);
}

/** What was made of a text, as HTML when that was HTML. */
export function like(from: Value, made: Value): Value {
  if (!(from instanceof Markup)) return made;
  if (isStr(made)) return markup(made);
  if (Array.isArray(made)) return made.map((one) => like(from, one));
  return made instanceof Tuple ? new Tuple(made.items.map((one) => like(from, one))) : made;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

/** A text whose characters mean nothing in HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** A value as HTML: one that is HTML stays as it is. */
export function escape(value: Value, run: Run): Markup {
  if (value instanceof Markup) return value;
  const text = isStr(value) ? value : value instanceof Undefined ? "" : repr(value, run);
  const escaped = escapeHtml(textOf(text));
  run.text(escaped.length);
  return markup(derived(escaped, text));
}
