/**
 * JSON that is still being generated: checked and passed on character by character.
 *
 * @module
 */

import type { Parse, Reader } from "./reader.ts";

/** Lists and objects within one another that arguments may have: deeper ones break other programs. */
const MAX_DEPTH = 64;
const hexadecimal = /[0-9a-fA-F]/;
const inNumber = /[0-9eE+.\-]/;
const number = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/** Takes JSON as it is read: pieces that together are valid JSON. */
export type Give = (text: string) => void;

/**
 * Reads one JSON value from where the reader is. False when it isn't one: the reader then stands at the character that is wrong, or at the end of all
 * text. Line breaks within strings, which models like to write, become `\n`.
 */
export function* readJson(reader: Reader, give: Give): Parse<boolean> {
  const open: string[] = [];
  for (;;) {
    if (!(yield* readOpening(reader, give, open))) return false;
    for (;;) {
      const inner = open.at(-1);
      if (inner === undefined) return true;
      yield* readSpace(reader, give);
      const character = yield* reader.peek();
      if (character === ",") {
        takeOne(reader, give);
        if (inner === "}" && !(yield* readKey(reader, give))) return false;
        break;
      }
      if (character !== inner) return false;
      takeOne(reader, give);
      open.pop();
    }
  }
}

/** Reads a value up to where it opens its first inner value, or all of a plain one. */
function* readOpening(reader: Reader, give: Give, open: string[]): Parse<boolean> {
  for (;;) {
    yield* readSpace(reader, give);
    const character = yield* reader.peek();
    if (character !== "{" && character !== "[") return yield* readPlain(reader, give, character);
    if (open.length >= MAX_DEPTH) return false;
    takeOne(reader, give);
    const closing = character === "{" ? "}" : "]";
    yield* readSpace(reader, give);
    if ((yield* reader.peek()) === closing) {
      takeOne(reader, give);
      return true;
    }
    open.push(closing);
    if (closing === "}" && !(yield* readKey(reader, give))) return false;
  }
}

function* readKey(reader: Reader, give: Give): Parse<boolean> {
  yield* readSpace(reader, give);
  if (!(yield* readString(reader, give))) return false;
  yield* readSpace(reader, give);
  if ((yield* reader.peek()) !== ":") return false;
  takeOne(reader, give);
  return true;
}

function* readPlain(reader: Reader, give: Give, character: string): Parse<boolean> {
  if (character === '"') return yield* readString(reader, give);
  const from = reader.begin();
  try {
    if (/[a-z]/.test(character)) {
      const word = yield* reader.take(["true", "false", "null"]);
      if (word === undefined) return false;
    } else {
      while (inNumber.test(yield* reader.peek())) reader.at++;
      if (!number.test(reader.slice(from, reader.at))) return false;
    }
    give(reader.slice(from, reader.at));
    return true;
  } finally {
    reader.settle();
  }
}

/** Reads a string with its quotes. */
export function* readString(reader: Reader, give: Give): Parse<boolean> {
  if ((yield* reader.peek()) !== '"') return false;
  takeOne(reader, give);
  let from = reader.at;
  const pass = (): void => {
    if (reader.at > from) give(reader.slice(from, reader.at));
    from = reader.at;
  };
  for (;;) {
    while (reader.at >= reader.end && !reader.ended) {
      pass();
      yield;
      from = reader.at;
    }
    const character = reader.charAt(reader.at);
    if (character === "") {
      pass();
      return false;
    }
    if (character === '"') {
      reader.at++;
      pass();
      return true;
    }
    if (character < " ") {
      pass();
      reader.at++;
      from = reader.at;
      give(JSON.stringify(character).slice(1, -1));
    } else if (character === "\\") {
      pass();
      if (!(yield* readEscape(reader, give))) return false;
      from = reader.at;
    } else reader.at++;
  }
}

function* readEscape(reader: Reader, give: Give): Parse<boolean> {
  const from = reader.begin();
  try {
    reader.at++;
    const kind = yield* reader.peek();
    if (kind === "" || !'"\\/bfnrtu'.includes(kind)) return false;
    reader.at++;
    for (let index = 0; kind === "u" && index < 4; index++) {
      if (!hexadecimal.test(yield* reader.peek())) return false;
      reader.at++;
    }
    give(reader.slice(from, reader.at));
    return true;
  } finally {
    reader.settle();
  }
}

function* readSpace(reader: Reader, give: Give): Parse<void> {
  for (;;) {
    const character = yield* reader.peek();
    if (character === "" || !" \t\n\r".includes(character)) return;
    takeOne(reader, give);
  }
}

function takeOne(reader: Reader, give: Give): void {
  give(reader.charAt(reader.at));
  reader.at++;
}

/** Returns the value of JSON text; `undefined` for any other text. */
export function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
