/**
 * Sections of text that hold tool calls, in the forms that families of models share.
 *
 * @module
 */

import { type CallKeys, type ParseContext, readCallObject, usualKeys } from "./call_object.ts";
import { readJson } from "./json.ts";
import type { Parse, Reader } from "./reader.ts";

const nameCharacter = /[\p{L}\p{N}_.:\-]/u;
const MAX_NAME_CHARACTERS = 256;
const fences = ["```json", "```"] as const;

/** A section of calls written as JSON objects. */
export interface ObjectSection {
  /** The marks that end the section; the model may leave them out. */
  readonly close: readonly string[];
  /** The keys of a call. Default the usual ones. */
  readonly keys?: CallKeys;
  /** Whether a call must be of a tool that there is, as where nothing else tells it from other JSON. Default false. */
  readonly known?: boolean;
}

/** Reads calls written as JSON objects: one, several one after another, or a list of them, also in a code block. False when there is none. */
export function* readObjects(
  context: ParseContext,
  { close, keys = usualKeys, known = false }: ObjectSection,
): Parse<boolean> {
  const { reader } = context;
  const fence = yield* reader.takeAfterSpace(fences);
  const list = yield* reader.takeAfterSpace(["["]);
  for (let count = 0;; count++) {
    const from = reader.begin();
    yield* reader.skipSpace();
    const outcome = yield* readCallObject(context, keys, known);
    if (outcome === "none") reader.at = from;
    reader.settle();
    if (outcome === "none" && count === 0) return false;
    if (outcome === "broken") {
      yield* skipTo(reader, close);
      return true;
    }
    const next = yield* reader.takeAfterSpace([",", ";"]);
    if (outcome === "none" || (next === undefined && (list !== undefined || !(yield* isNext(reader, "{"))))) break;
  }
  if (list !== undefined) yield* reader.takeAfterSpace(["]"]);
  if (fence !== undefined) yield* reader.takeAfterSpace(["```"]);
  yield* reader.takeAfterSpace(close);
  return true;
}

/** Returns whether a character is next, after white space. Consumes nothing. */
export function* isNext(reader: Reader, character: string): Parse<boolean> {
  const from = reader.begin();
  yield* reader.skipSpace();
  const found = (yield* reader.peek()) === character;
  reader.at = from;
  reader.settle();
  return found;
}

/** Reads the name of a tool; an empty string when there is none. */
export function* readName(reader: Reader): Parse<string> {
  const from = reader.begin();
  while (reader.at - from < MAX_NAME_CHARACTERS && nameCharacter.test(yield* reader.peek())) reader.at++;
  reader.settle();
  return reader.slice(from, reader.at);
}

/** Reads the arguments of a call whose name is known, as JSON, and ends it with one of these strings. */
export function* readNamedCall(
  context: ParseContext,
  name: string,
  close: readonly string[],
  id?: string,
): Parse<void> {
  const { reader, sink } = context;
  sink.startCall(name, id);
  const fence = yield* reader.takeAfterSpace(fences);
  yield* reader.skipSpace();
  const next = yield* reader.peek();
  if (next === "{") {
    const sound = yield* readJson(reader, (text) => sink.argumentText(text));
    sink.endCall(sound);
    if (!sound) return yield* skipTo(reader, close);
  } else {
    // A tool without arguments may be called without any.
    const bare = close.length > 0 && (yield* reader.take(close)) !== undefined;
    if (bare) sink.argumentText("{}");
    sink.endCall(bare);
    if (!bare) yield* skipTo(reader, close);
    return;
  }
  if (fence !== undefined) yield* reader.takeAfterSpace(["```"]);
  if (close.length > 0) yield* reader.takeAfterSpace(close);
}

/** Skips to behind the end of a broken call, or to the end of all text. */
export function* skipTo(reader: Reader, close: readonly string[]): Parse<void> {
  if (close.length === 0) return;
  const found = yield* reader.until(close, () => {});
  reader.at += found?.length ?? 0;
}
