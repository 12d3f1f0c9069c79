/**
 * Grammars as trees, and how they are written in GBNF.
 *
 * @module
 */

import { type CharSet, rangesOf } from "../gbnf/char_set.ts";

/** A part of a grammar. */
export type Expr =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "chars"; readonly set: CharSet }
  | { readonly kind: "rule"; readonly name: string }
  | { readonly kind: "sequence"; readonly items: readonly Expr[] }
  | { readonly kind: "choice"; readonly options: readonly Expr[] }
  | { readonly kind: "repeat"; readonly item: Expr; readonly min: number; readonly max: number };

/** Expression that allows only the empty text. */
export const empty: Expr = { kind: "text", text: "" };
/** Expression that allows no text at all. */
export const never: Expr = { kind: "choice", options: [] };

/** Whether an expression allows nothing, as far as can be seen without its rules. */
export function isNever(expr: Expr): boolean {
  return expr.kind === "choice" && expr.options.length === 0;
}

/** Exactly this text. */
export function text(text: string): Expr {
  return { kind: "text", text };
}

/** One character of a set. */
export function chars(set: CharSet): Expr {
  return set.length === 0 ? never : { kind: "chars", set };
}

/** Reference to a rule. */
export function rule(name: string): Expr {
  return { kind: "rule", name };
}

/** One after another. */
export function sequence(...parts: readonly Expr[]): Expr {
  const items: Expr[] = [];
  for (const part of parts) {
    if (part.kind === "sequence") { for (const item of part.items) append(items, item); }
    else if (isNever(part)) return never;
    else append(items, part);
  }
  return items.length === 0 ? empty : items.length === 1 ? items[0] as Expr : { kind: "sequence", items };
}

function append(items: Expr[], part: Expr): void {
  if (part.kind !== "text") return void items.push(part);
  const last = items.at(-1);
  if (last?.kind === "text") items[items.length - 1] = text(last.text + part.text);
  else if (part.text !== "") items.push(part);
}

/** One of several. */
export function choice(...parts: readonly Expr[]): Expr {
  if (parts.length === 1) return parts[0] as Expr;
  const options: Expr[] = [];
  for (const part of parts) {
    if (part.kind === "choice") options.push(...part.options);
    else options.push(part);
  }
  return options.length === 1 ? options[0] as Expr : { kind: "choice", options };
}

/** An optional expression. */
export function optional(item: Expr): Expr {
  return isNever(item) ? empty : repeat(item, 0, 1);
}

/** Again and again. The item must not be a literal of several characters inside another repetition. */
export function repeat(item: Expr, min: number, max: number): Expr {
  if (max === 0) return empty;
  if (isNever(item)) return min === 0 ? empty : never;
  return min === 1 && max === 1 ? item : { kind: "repeat", item, min, max };
}

/** Writes an expression. */
export function write(expr: Expr): string {
  switch (expr.kind) {
    case "text":
      return writeText(expr.text);
    case "chars":
      return writeChars(expr.set);
    case "rule":
      return expr.name;
    case "sequence":
      return expr.items.map((item) => item.kind === "choice" ? `(${write(item)})` : write(item)).join(" ");
    case "choice":
      return expr.options.map(write).join(" | ");
    case "repeat": {
      const { item, min, max } = expr;
      const simple = item.kind === "chars" || item.kind === "rule" || item.kind === "text";
      return (simple ? write(item) : `(${write(item)})`) + times(min, max);
    }
  }
}

function times(min: number, max: number): string {
  if (max === Infinity) return min === 0 ? "*" : min === 1 ? "+" : `{${min},}`;
  return min === 0 && max === 1 ? "?" : min === max ? `{${min}}` : `{${min},${max}}`;
}

function writeText(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let result = '"';
  for (const char of text) {
    const point = char.codePointAt(0) ?? 0;
    result += point < 0x20 || point === 0x7f ? escape(point) : char === '"' || char === "\\" ? `\\${char}` : char;
  }
  return `${result}"`;
}

const SPECIAL = '\\]["-^';

function writeChars(set: CharSet): string {
  let result = "[";
  for (const [first, last] of rangesOf(set)) {
    result += writePoint(first);
    if (last > first) result += (last > first + 1 ? "-" : "") + writePoint(last);
  }
  return `${result}]`;
}

function writePoint(point: number): string {
  const char = String.fromCodePoint(point);
  return point <= 0x20 || point >= 0x7f || SPECIAL.includes(char) ? escape(point) : char;
}

function escape(point: number): string {
  const hex = (size: number) => point.toString(16).toUpperCase().padStart(size, "0");
  return point <= 0xff ? `\\x${hex(2)}` : point <= 0xffff ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}
