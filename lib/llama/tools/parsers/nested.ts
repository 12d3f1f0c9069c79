/**
 * Calls whose arguments are elements named after them, with lists and objects as elements within: a mark before each tag, `<item>` for the items.
 *
 * @module
 */

import type { ArgumentType } from "../argument_type.ts";
import { argumentJson } from "./argument_value.ts";
import type { ParseContext } from "./call_object.ts";
import type { Parse, Reader } from "./reader.ts";
import { readName, skipTo } from "./sections.ts";

const MAX_DEPTH = 64;
const MAX_NAME_CHARACTERS = 256;
const ITEM = "item";

/** Reads calls behind the opening of the section, and its end. False when there is none. */
export function* readNestedCalls(context: ParseContext, mark: string): Parse<boolean> {
  const { reader, sink } = context;
  const close = [`${mark}</tool_call>`];
  for (let count = 0;; count++) {
    const from = reader.begin();
    const opened = (yield* reader.takeAfterSpace([`${mark}<invoke name="`])) !== undefined;
    const name = opened ? yield* readName(reader) : "";
    const named = name !== "" && (yield* reader.take(['">'])) !== undefined;
    if (!named) reader.at = from;
    reader.settle();
    if (!named && count === 0) return false;
    if (!named) break;
    sink.startCall(name, undefined);
    const members = yield* readMembers(reader, mark, "invoke", context.tools.argumentsOf(name), 0);
    if (members !== undefined) sink.argumentText(objectJson(members));
    sink.endCall(members !== undefined);
    if (members === undefined) {
      yield* skipTo(reader, close);
      return true;
    }
  }
  yield* reader.takeAfterSpace(close);
  return true;
}

type Members = readonly (readonly [name: string, json: string])[];

/** Reads elements up to the end tag around them; `undefined` when something else comes. */
function* readMembers(
  reader: Reader,
  mark: string,
  around: string,
  type: ArgumentType,
  depth: number,
): Parse<Members | undefined> {
  const members: (readonly [string, string])[] = [];
  for (;;) {
    const tag = yield* reader.takeAfterSpace([`${mark}</${around}>`, `${mark}<`]);
    if (tag === undefined) return undefined;
    if (tag !== `${mark}<`) return members;
    let name = "";
    const end = yield* reader.until([">"], (from, to) => name += reader.slice(from, to));
    if (end === undefined || name === "" || name.length > MAX_NAME_CHARACTERS) return undefined;
    reader.at += end.length;
    const inner = name === ITEM && !type.kinds.has("object") ? type.item(members.length) : type.property(name);
    const json = yield* readValue(reader, mark, name, inner, depth);
    if (json === undefined) return undefined;
    members.push([name, json]);
  }
}

function* readValue(
  reader: Reader,
  mark: string,
  name: string,
  type: ArgumentType,
  depth: number,
): Parse<string | undefined> {
  if (depth > MAX_DEPTH) return undefined;
  const end = `${mark}</${name}>`;
  let text = "";
  const found = yield* reader.until([mark], (from, to) => text += reader.slice(from, to));
  if (found === undefined) return undefined;
  if ((yield* reader.take([end])) !== undefined) return emptyOr(text, type);
  if (text.trim() !== "") return undefined;
  const members = yield* readMembers(reader, mark, name, type, depth + 1);
  if (members === undefined) return undefined;
  const isList = type.kinds.has("array") && members.every(([one]) => one === ITEM);
  return isList ? `[${members.map(([, json]) => json).join(", ")}]` : objectJson(members);
}

/** An element without elements in it is text, a number or a word, or a list or an object that is empty. */
function emptyOr(text: string, type: ArgumentType): string {
  if (text.trim() !== "" || type.allowsText) return argumentJson(text, type);
  if (type.kinds.has("array")) return "[]";
  return type.kinds.has("object") ? "{}" : argumentJson(text, type);
}

function objectJson(members: Members): string {
  return `{${members.map(([name, json]) => `${JSON.stringify(name)}: ${json}`).join(", ")}}`;
}
