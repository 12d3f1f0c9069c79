/**
 * Python's `json.dumps`.
 *
 * @module
 */

import { typeError, valueError } from "../errors.ts";
import { flag, repeat } from "../methods/string_parts.ts";
import type { Run } from "../run.ts";
import { define } from "../values/args.ts";
import { sorted } from "../values/compare.ts";
import { Dict } from "../values/dict.ts";
import { floatText, index } from "../values/numbers.ts";
import { each, typeName } from "../values/protocol.ts";
import { Writer } from "../values/repr.ts";
import { isStr, textOf } from "../values/text.ts";
import { type Callable, Tuple, type Value } from "../values/types.ts";

interface Style {
  readonly ascii: boolean;
  readonly indent: string | undefined;
  readonly item: string;
  readonly key: string;
  readonly sort: boolean;
}

const short: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\f": "\\f",
  "\b": "\\b",
};

function quote(text: string, ascii: boolean): string {
  // deno-lint-ignore no-control-regex -- these are what JSON escapes
  const special = ascii ? /["\\]|[^ -~]/g : /["\\\x00-\x1f]/g;
  const body = text.replace(
    special,
    (unit) => short[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `"${body}"`;
}

function number(value: bigint | number): string {
  if (typeof value === "bigint") return value.toString();
  if (Number.isFinite(value)) return floatText(value);
  return Number.isNaN(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
}

function keyText(key: Value, run: Run): string {
  if (isStr(key)) return textOf(key);
  if (typeof key === "bigint" || typeof key === "number") return number(key);
  if (key === null) return "null";
  if (typeof key === "boolean") return String(key);
  run.charge(1);
  return typeError(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
}

function write(value: Value, style: Style, level: number, writer: Writer, run: Run): void {
  if (value === null) return writer.add("null");
  if (typeof value === "boolean") return writer.add(String(value));
  if (typeof value === "bigint" || typeof value === "number") return writer.add(number(value));
  if (isStr(value)) {
    writer.note(value);
    return writer.add(quote(textOf(value), style.ascii));
  }
  run.enter();
  if (Array.isArray(value) || value instanceof Tuple) {
    const items = Array.isArray(value) ? value : value.items;
    writeAll("[", items.map((item) => () => write(item, style, level + 1, writer, run)), "]", style, level, writer);
  } else if (value instanceof Dict) writeDict(value, style, level, writer, run);
  else typeError(`Object of type ${typeName(value)} is not JSON serializable`);
  run.leave();
}

function writeDict(dict: Dict, style: Style, level: number, writer: Writer, run: Run): void {
  const entries: readonly Value[] = dict.entries().map((pair) => new Tuple(pair));
  const key = (pair: Value): Value => (pair instanceof Tuple ? pair.items[0] : undefined) ?? null;
  const items = style.sort ? sorted(entries, key, false, run) : entries;
  writeAll(
    "{",
    items.map((pair) => () => {
      const [name = null, value = null] = pair instanceof Tuple ? pair.items : [];
      writer.note(name);
      writer.add(quote(keyText(name, run), style.ascii) + style.key);
      write(value, style, level + 1, writer, run);
    }),
    "}",
    style,
    level,
    writer,
  );
}

function writeAll(
  open: string,
  items: readonly (() => void)[],
  close: string,
  { indent, item }: Style,
  level: number,
  writer: Writer,
): void {
  if (items.length === 0) return writer.add(open + close);
  const line = (depth: number): string => indent === undefined ? "" : `\n${indent.repeat(depth)}`;
  writer.add(open + line(level + 1));
  for (const [at, one] of items.entries()) {
    if (at > 0) writer.add(item + line(level + 1));
    one();
  }
  writer.add(line(level) + close);
}

function separatorsOf(value: Value, indent: string | undefined, run: Run): readonly [string, string] {
  if (value === null) return [indent === undefined ? ", " : ",", ": "];
  const [item, key, ...rest] = [...each(value, run)];
  if (item === undefined || key === undefined || rest.length > 0) return valueError("separators are two strings");
  return [textOf(isStr(item) ? item : typeError("a separator is a string")), textOf(isStr(key) ? key : "")];
}

/** Hugging Face's `tojson`: characters are written as they are. */
export const tojson: Callable = define(
  "tojson",
  "x ensure_ascii indent separators sort_keys",
  1,
  (run, value: Value, ascii: Value | undefined, indent: Value = null, separators: Value = null, sort?: Value) => {
    const by = indent === null ? undefined : isStr(indent) ? textOf(indent) : textOf(repeat(run, " ", index(indent)));
    // Each line may be indented as deep as values may be nested.
    run.text(by === undefined ? 0 : by.length);
    const [item, key] = separatorsOf(separators, by, run);
    const writer = new Writer(run);
    write(value, { ascii: flag(run, ascii), indent: by, item, key, sort: flag(run, sort) }, 0, writer, run);
    return writer.text();
  },
);
