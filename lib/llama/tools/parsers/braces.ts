/**
 * Calls written as `call:name{key:value}`, text between marks of its own.
 *
 * @module
 */

import type { ParseContext } from "./call_object.ts";
import type { Parse, Reader } from "./reader.ts";
import { readName, skipTo } from "./sections.ts";

const QUOTE = '<|"|>';
const MAX_DEPTH = 64;
const inPlain = /[A-Za-z0-9+.\-]/;
const plain = /^(true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?)$/;

/** Reads one call and what ends it. False when there is none. */
export function* readBracedCall({ reader, sink }: ParseContext, close: string): Parse<boolean> {
  if ((yield* reader.takeAfterSpace(["call:"])) === undefined) return false;
  const name = yield* readName(reader);
  yield* reader.skipSpace();
  if (name === "" || (yield* reader.peek()) !== "{") return false;
  sink.startCall(name, undefined);
  const whole = yield* readValue(reader, (text) => sink.argumentText(text), 0);
  sink.endCall(whole);
  if (whole) yield* reader.takeAfterSpace([close]);
  else yield* skipTo(reader, [close]);
  return true;
}

function* readValue(reader: Reader, give: (text: string) => void, depth: number): Parse<boolean> {
  if (depth > MAX_DEPTH) return false;
  if ((yield* reader.takeAfterSpace([QUOTE])) !== undefined) {
    give('"');
    const end = yield* reader.until([QUOTE], (from, to) => give(JSON.stringify(reader.slice(from, to)).slice(1, -1)));
    if (end === undefined) return false;
    reader.at += end.length;
    give('"');
    return true;
  }
  const opening = yield* reader.takeAfterSpace(["{", "["]);
  if (opening !== undefined) return yield* readMembers(reader, give, opening, depth);
  yield* reader.skipSpace();
  const from = reader.begin();
  while (inPlain.test(yield* reader.peek())) reader.at++;
  const text = reader.slice(from, reader.at);
  reader.settle();
  if (!plain.test(text)) return false;
  give(text);
  return true;
}

function* readMembers(
  reader: Reader,
  give: (text: string) => void,
  opening: string,
  depth: number,
): Parse<boolean> {
  const closing = opening === "{" ? "}" : "]";
  give(opening);
  if ((yield* reader.takeAfterSpace([closing])) !== undefined) {
    give(closing);
    return true;
  }
  for (;;) {
    if (opening === "{" && !(yield* readKey(reader, give))) return false;
    if (!(yield* readValue(reader, give, depth + 1))) return false;
    const next = yield* reader.takeAfterSpace([",", closing]);
    if (next === undefined) return false;
    give(next);
    if (next === closing) return true;
  }
}

function* readKey(reader: Reader, give: (text: string) => void): Parse<boolean> {
  let key = "";
  if ((yield* reader.takeAfterSpace([QUOTE])) !== undefined) {
    const end = yield* reader.until([QUOTE], (from, to) => key += reader.slice(from, to));
    reader.at += end?.length ?? 0;
  } else {
    yield* reader.skipSpace();
    key = yield* readName(reader);
    // A name may hold the colon that ends it.
    const colon = key.indexOf(":");
    if (colon >= 0) {
      reader.at -= key.length - colon;
      key = key.slice(0, colon);
    }
  }
  if ((yield* reader.takeAfterSpace([":"])) === undefined) return false;
  give(`${JSON.stringify(key)}:`);
  return true;
}
