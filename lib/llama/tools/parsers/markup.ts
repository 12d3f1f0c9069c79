/**
 * Calls whose arguments are elements of markup, one an argument.
 *
 * @module
 */

import type { ArgumentType } from "../argument_type.ts";
import type { ParseContext } from "./call_object.ts";
import { argumentJson } from "./argument_value.ts";
import { readJson, valueOf } from "./json.ts";
import type { Parse } from "./reader.ts";
import { readName, skipTo } from "./sections.ts";

/** The markup of a family's calls. */
export interface MarkupForm {
  /** Before the name of the tool. */
  readonly call: string;
  /** Behind the name. */
  readonly nameEnd: readonly string[];
  /** Behind the last argument. */
  readonly callEnd: readonly string[];
  /** Before the name of an argument. */
  readonly argument: string;
  /** Between its name and its value. */
  readonly argumentNameEnd: readonly string[];
  /** The end of the attributes behind a name, of the tool or of an argument, where there are more than the name. */
  readonly attributesEnd?: string;
  /** Reads what the attributes of an argument say of its value. */
  declares?(head: string): "text" | "json" | undefined;
  /** Reads the name of an argument that is written with escapes. */
  unescape?(name: string): string;
  /** Marks around all arguments as one JSON object, which may stand in their place. */
  readonly block?: { readonly open: string; readonly close: string };
  /** Before its value, behind white space, where its name is an element too. */
  readonly value?: string;
  /** Behind its value. */
  readonly argumentEnd: readonly string[];
  /** The end of the section. */
  readonly close: readonly string[];
  /** Whether a value stands on lines of its own. */
  readonly lines: boolean;
}

const MAX_NAME_CHARACTERS = 256;

/** Reads calls. False when there is none. `begun`: the first call's opening was read. */
export function* readMarkupCalls(context: ParseContext, form: MarkupForm, begun: boolean): Parse<boolean> {
  const { reader } = context;
  for (let count = 0;; count++) {
    const from = reader.begin();
    try {
      const opened = (begun && count === 0) || form.call === "" ? count === 0 : yield* takeOpening(context, form.call);
      if (form.call === "") yield* reader.skipSpace();
      const name = opened ? yield* readName(reader) : "";
      const named = name !== "" && (form.nameEnd.length === 0 || (yield* reader.take(form.nameEnd)) !== undefined) &&
        (yield* readAttributes(context, form)) !== undefined;
      if (!named) {
        reader.at = from;
        if (count === 0) return false;
        break;
      }
      context.sink.startCall(name, undefined);
    } finally {
      reader.settle();
    }
    const whole = yield* readArguments(context, form);
    context.sink.endCall(whole);
    if (!whole) {
      yield* skipTo(reader, form.close.length > 0 ? form.close : form.callEnd);
      return true;
    }
    if (form.call === "") return true;
  }
  if (form.close.length > 0) yield* reader.takeAfterSpace(form.close);
  return true;
}

function* takeOpening({ reader }: ParseContext, opening: string): Parse<boolean> {
  return (yield* reader.takeAfterSpace([opening])) !== undefined;
}

/** Reads attributes and what ends them; "" where there are none, `undefined` when they don't end. */
function* readAttributes({ reader }: ParseContext, { attributesEnd }: MarkupForm): Parse<string | undefined> {
  if (attributesEnd === undefined) return "";
  const from = reader.begin();
  const end = yield* reader.within([attributesEnd], MAX_NAME_CHARACTERS);
  const text = end === undefined ? undefined : reader.slice(from, reader.at);
  reader.at += end?.length ?? 0;
  reader.settle();
  return text;
}

/** Reads arguments up to the end of the call; false when something else stands between them. */
function* readArguments(context: ParseContext, form: MarkupForm): Parse<boolean> {
  const { reader, sink } = context;
  const type = context.tools.argumentsOf(sink.calls.at(-1)?.name ?? "");
  if (form.block !== undefined && (yield* reader.takeAfterSpace([form.block.open])) !== undefined) {
    yield* reader.skipSpace();
    const isObject = (yield* reader.peek()) === "{";
    if (!isObject || !(yield* readJson(reader, (text) => sink.argumentText(text)))) return false;
    return (yield* reader.takeAfterSpace([form.block.close])) !== undefined &&
      (yield* reader.takeAfterSpace(form.callEnd)) !== undefined;
  }
  for (let count = 0;; count++) {
    const next = yield* reader.takeAfterSpace([form.argument, ...form.callEnd]);
    if (next === undefined) return false;
    if (next !== form.argument) {
      sink.argumentText(count === 0 ? "{}" : "}");
      return true;
    }
    let written = "";
    const end = yield* reader.until(form.argumentNameEnd, (from, to) => written += reader.slice(from, to));
    if (end === undefined || written.length > MAX_NAME_CHARACTERS) return false;
    reader.at += end.length;
    const attributes = yield* readAttributes(context, form);
    if (attributes === undefined) return false;
    if (form.value !== undefined && (yield* reader.takeAfterSpace([form.value])) === undefined) return false;
    const name = form.unescape?.(written.trim()) ?? written.trim();
    sink.argumentText(`${count === 0 ? "{" : ", "}${JSON.stringify(name)}: `);
    if (!(yield* readValue(context, form, type.property(name), form.declares?.(attributes)))) return false;
  }
}

function* readValue(
  { reader, sink }: ParseContext,
  form: MarkupForm,
  type: ArgumentType,
  declared: "text" | "json" | undefined,
): Parse<boolean> {
  if (form.lines) yield* reader.take(["\r\n", "\n"]);
  const ends = form.lines ? [...form.argumentEnd.map((end) => `\n${end}`), ...form.argumentEnd] : form.argumentEnd;
  const isText = declared === "text" ? type.allowsText : type.isText && declared !== "json";
  let value = "";
  if (isText) sink.argumentText('"');
  const end = yield* reader.until(ends, (from, to) => {
    const text = reader.slice(from, to);
    if (isText) sink.argumentText(JSON.stringify(text).slice(1, -1));
    else value += text;
  });
  if (end === undefined) return false;
  reader.at += end.length;
  if (isText) sink.argumentText('"');
  else if (declared === "json" && valueOf(value) !== undefined) sink.argumentText(value.trim());
  else sink.argumentText(argumentJson(value, type));
  return true;
}
