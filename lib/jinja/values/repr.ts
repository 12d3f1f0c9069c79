import type { Run } from "../run.ts";
import { Dict, View } from "./dict.ts";
import { floatText } from "./numbers.ts";
import { concatText, derived, isStr, outsideText, type Str, Text, textOf } from "./text.ts";
import { Namespace, Obj, Tuple, Undefined, type Value } from "./types.ts";

/** Collects the text of a value. */
export class Writer {
  readonly #run: Run;
  readonly #parts: string[] = [];
  #length = 0;
  #outside = false;
  /** Whether the keys of dicts are sorted. */
  readonly sort: boolean;

  /** For one rendering; `sort` is whether the keys of dicts are sorted. */
  constructor(run: Run, sort = false) {
    this.#run = run;
    this.sort = sort;
  }

  /** Adds text. */
  add(text: string): void {
    this.#length += text.length;
    this.#run.text(text.length);
    if (this.#length > this.#run.limits.characters) this.#run.text(this.#length);
    this.#parts.push(text);
  }

  /** Notes where the text of a value comes from. */
  note(value: Value): void {
    if (value instanceof Text && value.outside.length > 0) this.#outside = true;
  }

  /** All of it: from outside when a part of it is. */
  text(): Str {
    const text = this.#parts.join("");
    return this.#outside ? outsideText(text) : text;
  }
}

/** Python's `str()`. */
export function str(value: Value, run: Run): Str {
  if (isStr(value)) return value instanceof Text && value.name !== "str" ? concatText([value]) : value;
  if (value instanceof Undefined) return "";
  return repr(value, run);
}

/** Python's `repr()`; with `sort` the keys of dicts are sorted, as `pprint` has them. */
export function repr(value: Value, run: Run, sort = false): Str {
  const writer = new Writer(run, sort);
  write(value, writer, run);
  return writer.text();
}

/** Python's `ascii()`: `repr` with every character outside of ASCII as an escape. */
export function ascii(value: Value, run: Run): Str {
  const written = repr(value, run);
  const text = textOf(written).replace(/[^\0-\x7f]/gu, escaped);
  run.text(text.length);
  return derived(text, written);
}

/** The text of a value by a letter of a format: `s`, `r` or `a`. */
export function converted(value: Value, letter: string, run: Run): Str {
  if (letter === "s") return str(value, run);
  return letter === "a" ? ascii(value, run) : repr(value, run);
}

function write(value: Value, writer: Writer, run: Run): void {
  if (isStr(value)) {
    writer.note(value);
    const text = quoted(textOf(value));
    return writer.add(value instanceof Text && value.name !== "str" ? `${value.name}(${text})` : text);
  }
  if (!Array.isArray(value) && !(value instanceof Obj)) return writer.add(scalar(value));
  run.enter();
  try {
    writeObject(value, writer, run);
  } finally {
    run.leave();
  }
}

function scalar(value: null | boolean | bigint | number): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "bigint" ? value.toString() : floatText(value);
}

function writeObject(value: Value[] | Obj, writer: Writer, run: Run): void {
  if (Array.isArray(value)) return writeList("[", value, "]", writer, run);
  if (value instanceof Tuple) return writeList("(", value.items, value.items.length === 1 ? ",)" : ")", writer, run);
  if (value instanceof Dict) {
    return writePairs("{", writer.sort ? sortedEntries(value) : value.entries(), "}", writer, run);
  }
  if (value instanceof View) return writeList(`${value.type}([`, value.list(run), "])", writer, run);
  if (value instanceof Namespace) return writePairs("<Namespace {", [...value.values], "}>", writer, run);
  writer.add(value.repr?.() ?? `<${value.type} object>`);
}

/** The entries of a dict by their keys, where these are texts. */
function sortedEntries(dict: Dict): (readonly [Value, Value])[] {
  const entries = dict.entries();
  if (!entries.every(([key]) => isStr(key))) return entries;
  const textOfKey = ([key]: readonly [Value, Value]): string => isStr(key) ? textOf(key) : "";
  return entries.sort((left, right) => textOfKey(left) < textOfKey(right) ? -1 : 1);
}

function writeList(open: string, items: readonly Value[], close: string, writer: Writer, run: Run): void {
  writer.add(open);
  for (const [at, item] of items.entries()) {
    if (at > 0) writer.add(", ");
    write(item, writer, run);
  }
  writer.add(close);
}

function writePairs(
  open: string,
  pairs: readonly (readonly [Value, Value])[],
  close: string,
  writer: Writer,
  run: Run,
): void {
  writer.add(open);
  for (const [at, [key, value]] of pairs.entries()) {
    if (at > 0) writer.add(", ");
    write(key, writer, run);
    writer.add(": ");
    write(value, writer, run);
  }
  writer.add(close);
}

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** What Python doesn't print as it is. */
const unprintable = /[\\\n\r\t\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** A text between quotes, as Python writes it. */
export function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(unprintable, (character) => escapes[character] ?? escaped(character));
  return quote + (quote === "'" ? body.replaceAll("'", "\\'") : body) + quote;
}

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
  return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
}
