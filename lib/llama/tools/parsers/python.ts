/**
 * Calls written as Python: `name(key="value", other=1)`.
 *
 * @module
 */

import type { ParseContext } from "./call_object.ts";
import { type Parse, Reader } from "./reader.ts";
import { readName, skipTo } from "./sections.ts";

const MAX_DEPTH = 64;
const words: Readonly<Record<string, string>> = {
  True: "true",
  False: "false",
  None: "null",
  true: "true",
  false: "false",
  null: "null",
};
const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", "0": "\0", "\n": "" };
const letter = /[A-Za-z]/;
const inNumber = /[0-9eE+.\-_]/;
const number = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/** Reads calls in brackets, and what ends the section. False when there is none. */
export function* readPythonCalls(context: ParseContext, close: readonly string[]): Parse<boolean> {
  const { reader } = context;
  const start = reader.begin();
  const isList = (yield* reader.takeAfterSpace(["["])) !== undefined && (yield* readPythonList(context, close));
  if (!isList) reader.at = start;
  reader.settle();
  return isList;
}

/** Reads the calls behind the opening bracket. */
function* readPythonList(context: ParseContext, close: readonly string[]): Parse<boolean> {
  const { reader, sink } = context;
  for (let count = 0;; count++) {
    const from = reader.begin();
    yield* reader.skipSpace();
    const name = yield* readName(reader);
    const called = name !== "" && (yield* reader.takeAfterSpace(["("])) !== undefined;
    if (!called) reader.at = from;
    reader.settle();
    if (!called && count === 0) return false;
    if (!called) break;
    sink.startCall(name, undefined);
    const whole = yield* readPythonArguments(context);
    sink.endCall(whole);
    if (!whole) {
      yield* skipTo(reader, close);
      return true;
    }
    if ((yield* reader.takeAfterSpace([","])) === undefined) break;
  }
  yield* reader.takeAfterSpace(["]"]);
  yield* reader.takeAfterSpace(close);
  return true;
}

/** Reads the arguments of a call behind its opening bracket, and the closing one. */
export function* readPythonArguments({ reader, sink }: ParseContext): Parse<boolean> {
  for (let count = 0;; count++) {
    if ((yield* reader.takeAfterSpace([")"])) !== undefined) {
      sink.argumentText(count === 0 ? "{}" : "}");
      return true;
    }
    yield* reader.skipSpace();
    const name = yield* readName(reader);
    if (name === "" || (yield* reader.takeAfterSpace(["="])) === undefined) return false;
    sink.argumentText(`${count === 0 ? "{" : ", "}${JSON.stringify(name)}: `);
    const value = yield* readValue(reader, 0);
    if (value === undefined) return false;
    sink.argumentText(value);
    const next = yield* reader.takeAfterSpace([",", ")"]);
    if (next === undefined) return false;
    if (next === ",") continue;
    sink.argumentText("}");
    return true;
  }
}

/** Converts a text that is one Python value to JSON; `undefined` for any other text. */
export function pythonValue(text: string): string | undefined {
  const reader = new Reader();
  reader.push(text.trim());
  reader.ended = true;
  const { value } = readValue(reader, 0).next();
  return reader.at === reader.end ? value ?? undefined : undefined;
}

/** Reads a value and returns it as JSON. */
function* readValue(reader: Reader, depth: number): Parse<string | undefined> {
  if (depth > MAX_DEPTH) return undefined;
  yield* reader.skipSpace();
  const first = yield* reader.peek();
  if (first === '"' || first === "'") return yield* readString(reader, first);
  if (first === "[" || first === "(") return yield* readList(reader, first === "[" ? "]" : ")", depth);
  if (first === "{") return yield* readObject(reader, depth);
  const from = reader.begin();
  const part = letter.test(first) ? letter : inNumber;
  while (part.test(yield* reader.peek())) reader.at++;
  const text = reader.slice(from, reader.at).replaceAll("_", "");
  reader.settle();
  return part === letter ? words[text] : number.test(text) ? text : undefined;
}

function* readList(reader: Reader, end: string, depth: number): Parse<string | undefined> {
  reader.at++;
  const values: string[] = [];
  for (;;) {
    if ((yield* reader.takeAfterSpace([end])) !== undefined) return `[${values.join(", ")}]`;
    const value = yield* readValue(reader, depth + 1);
    if (value === undefined) return undefined;
    values.push(value);
    const next = yield* reader.takeAfterSpace([",", end]);
    if (next === undefined) return undefined;
    if (next === end) return `[${values.join(", ")}]`;
  }
}

function* readObject(reader: Reader, depth: number): Parse<string | undefined> {
  reader.at++;
  const members: string[] = [];
  for (;;) {
    if ((yield* reader.takeAfterSpace(["}"])) !== undefined) return `{${members.join(", ")}}`;
    yield* reader.skipSpace();
    const quote = yield* reader.peek();
    const key = quote === '"' || quote === "'" ? yield* readString(reader, quote) : undefined;
    if (key === undefined || (yield* reader.takeAfterSpace([":"])) === undefined) return undefined;
    const value = yield* readValue(reader, depth + 1);
    if (value === undefined) return undefined;
    members.push(`${key}: ${value}`);
    const next = yield* reader.takeAfterSpace([",", "}"]);
    if (next === undefined) return undefined;
    if (next === "}") return `{${members.join(", ")}}`;
  }
}

function* readString(reader: Reader, quote: string): Parse<string | undefined> {
  reader.at++;
  let text = "";
  for (;;) {
    const character = yield* reader.peek();
    if (character === "") return undefined;
    reader.at++;
    if (character === quote) return JSON.stringify(text);
    if (character !== "\\") text += character;
    else {
      const escaped = yield* reader.peek();
      if (escaped === "") return undefined;
      reader.at++;
      text += escaped === "u" || escaped === "x"
        ? yield* readCode(reader, escaped === "u" ? 4 : 2)
        : escapes[escaped] ?? (escaped === "\\" || escaped === "'" || escaped === '"' ? escaped : `\\${escaped}`);
    }
  }
}

function* readCode(reader: Reader, digits: number): Parse<string> {
  const from = reader.begin();
  while (reader.at - from < digits && /[0-9a-fA-F]/.test(yield* reader.peek())) reader.at++;
  const code = Number.parseInt(reader.slice(from, reader.at), 16);
  reader.settle();
  return Number.isNaN(code) ? "" : String.fromCharCode(code);
}
