/**
 * Families of models that nobody has described: read by the layout of the calls that their template writes.
 *
 * @module
 */

import type { CallForm, CallsForm } from "../call_forms.ts";
import type { ParseContext } from "./call_object.ts";
import type { Family } from "./family.ts";
import type { CallLayout } from "./layout.ts";
import { type MarkupForm, readMarkupCalls } from "./markup.ts";
import { PROBE_TOOL } from "./probe.ts";
import { readPythonCalls } from "./python.ts";
import type { Parse } from "./reader.ts";
import { readName, readNamedCall, readObjects } from "./sections.ts";

const keyOf = /"([^"{}]+)"\s*:\s*$/;

/** Returns the family of a layout; `undefined` for one that can't be told from text. */
export function derivedFamily(layout: CallLayout): Family | undefined {
  const read = layout.kind === "object"
    ? objectReader(layout)
    : layout.kind === "named"
    ? namedReader(layout)
    : markupReader(layout);
  if (read === undefined) return undefined;
  const { opening, marks } = read;
  return {
    name: "derived",
    signs: [],
    openings: () => opening === "" ? [] : [opening],
    read: (context) => read.read(context),
    ...(opening === "" ? { readStart: (context: ParseContext) => read.read(context) } : {}),
    marks,
  };
}

/** Returns the family of calls written as Python in a list between marks; `undefined` for others. */
export function pythonFamily(one: string): Family | undefined {
  const open = new RegExp(`^([^]*?)\\[\\s*${PROBE_TOOL}\\(`).exec(one)?.[1];
  const [opening, ...more] = marksOf(open ?? "");
  const close = marksOf(one.slice(one.lastIndexOf("]") + 1)).slice(0, 1);
  if (opening === undefined || more.length > 0) return undefined;
  return {
    name: "derived",
    signs: [],
    openings: () => [opening],
    read: (context) => readPythonCalls(context, close),
    marks: close,
  };
}

/** Returns the layout as a grammar is made of it; `undefined` when its text can't be told from other text. */
export function layoutCalls(layout: CallLayout): CallsForm | undefined {
  const { open, callOpen, middle, argument, between, close } = layout;
  const opening = marksOf(open)[0] ?? "";
  if (opening === "") return undefined;
  const base = { open: callOpen, middle, close: "" };
  const call: CallForm = argument === undefined ? { kind: "object", ...base } : { kind: "markup", ...base, argument };
  return {
    calls: [call],
    open: open.slice(0, open.length - callOpen.length).trimStart(),
    between,
    close: close.trimEnd(),
    triggers: [opening],
  };
}

interface LayoutReader {
  /** The mark that a section of calls begins with; "" where nothing tells it from an answer that is JSON. */
  readonly opening: string;
  /** The other marks. */
  readonly marks: readonly string[];
  read(context: ParseContext): Parse<boolean>;
}

/** The marks in a text: elements, and whatever else stands together. */
function marksOf(text: string): string[] {
  return text.match(/<[^<>]*>?|\[[^[\]{}<>"]+\]|[^<[\s]+/g) ?? [];
}

function objectReader({ open, middle, close }: CallLayout): LayoutReader | undefined {
  const at = open.search(/\[?\s*\{[^{}]*(\{[^{}]*)?$/);
  const name = keyOf.exec(open.replace(/["']$/, ""))?.[1];
  const args = keyOf.exec(middle)?.[1];
  if (at < 0 || name === undefined || args === undefined) return undefined;
  const before = marksOf(open.slice(0, at));
  const [opening = "", ...more] = before;
  if (more.length > 0) return undefined;
  const wrapper = /"([^"{}]+)"\s*:\s*\{[^{}]*$/.exec(open.slice(at))?.[1];
  const closing = marksOf(close.replace(/^[\s}\]]+/, ""))[0];
  const section = {
    close: closing === undefined ? [] : [closing],
    keys: { name: [name], arguments: [args], id: ["id"], wrapper: wrapper === undefined ? [] : [wrapper] },
    known: opening === "",
  };
  return {
    opening,
    marks: section.close,
    read: (context) => readObjects(context, section),
  };
}

function namedReader({ open, callOpen, middle, between, close }: CallLayout): LayoutReader | undefined {
  const [opening = "", ...more] = marksOf(open);
  const separators = marksOf(middle.replace(/```(json)?\s*$/, ""));
  const callMark = marksOf(callOpen).at(-1) ?? "";
  if (opening === "" || separators.length > 1 || (more.length > 0 && more.join("") !== callMark)) return undefined;
  const callClose = marksOf((between ?? close).replace(/^\s*```/, ""));
  const ends = marksOf(close.replace(/^\s*```/, "")).filter((mark) => !callClose.includes(mark));
  const ownMark = more.length > 0 ? callMark : "";
  return {
    opening,
    marks: [...more, ...separators, ...callClose, ...ends],
    *read(context) {
      const { reader } = context;
      for (let count = 0;; count++) {
        const from = reader.begin();
        const isNext = count === 0 ? ownMark === "" || (yield* reader.takeAfterSpace([ownMark])) !== undefined : true;
        const begun = count === 0
          ? isNext
          : callMark !== "" && (yield* reader.takeAfterSpace([callMark])) !== undefined;
        if (begun) yield* reader.skipSpace();
        const name = begun ? yield* readName(reader) : "";
        const named = name !== "" && (separators.length === 0 ||
          (yield* reader.takeAfterSpace(separators)) !== undefined);
        if (!named) reader.at = from;
        reader.settle();
        if (!named && count === 0) return false;
        if (!named) break;
        yield* readNamedCall(context, name, callClose.slice(0, 1));
      }
      if (ends.length > 0) yield* reader.takeAfterSpace(ends);
      return true;
    },
  };
}

function markupReader({ open, callOpen, middle, argument, between, close }: CallLayout): LayoutReader | undefined {
  if (argument === undefined) return undefined;
  const [before, equals, behind] = argument;
  const [opening = "", ...more] = marksOf(open);
  const [nameEnd, value, ...others] = marksOf(equals);
  const callMark = more.length === 0 ? (opening.endsWith(">") ? "" : opening) : marksOf(callOpen).at(-1) ?? "";
  if (
    opening === "" || nameEnd === undefined || others.length > 0 || more.join("") !== (more.length > 0 ? callMark : "")
  ) {
    return undefined;
  }
  const callEnds = marksOf(between ?? close);
  const ends = marksOf(close);
  const [callEnd] = callEnds;
  if (callEnd === undefined) return undefined;
  const form: MarkupForm = {
    call: callMark,
    nameEnd: marksOf(middle).slice(0, 1),
    callEnd: [callEnd],
    argument: before.trim(),
    argumentNameEnd: [nameEnd],
    ...(value === undefined ? {} : { value }),
    argumentEnd: [behind.trim()],
    close: ends.filter((mark) => mark !== callEnd).slice(0, 1),
    lines: equals.endsWith("\n") && behind.startsWith("\n"),
  };
  return {
    opening,
    marks: [before.trim(), nameEnd, behind.trim(), callEnd, ...form.close],
    read: (context) => readMarkupCalls(context, form, more.length === 0 && callMark !== ""),
  };
}
