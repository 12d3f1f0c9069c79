/**
 * The families that few models use; `families.ts` has the common ones and the list of all.
 *
 * @module
 */

import { readBracedCall } from "./braces.ts";
import type { Family, FamilyName } from "./family.ts";
import { type MarkupForm, readMarkupCalls } from "./markup.ts";
import { readNestedCalls } from "./nested.ts";
import { readPythonCalls } from "./python.ts";
import { readName, readNamedCall, readObjects } from "./sections.ts";

const kimi: Family = {
  name: "kimi",
  signs: [["<|tool_calls_section_begin|>"]],
  openings: () => ["<|tool_calls_section_begin|>", "<|tool_call_begin|>"],
  *read(context, opening) {
    const { reader } = context;
    for (let count = 0;; count++) {
      const from = reader.begin();
      const begun = (opening === "<|tool_call_begin|>" && count === 0) ||
        (yield* reader.takeAfterSpace(["<|tool_call_begin|>"])) !== undefined;
      if (begun) yield* reader.skipSpace();
      const id = begun ? yield* readName(reader) : "";
      const named = id !== "" && (yield* reader.takeAfterSpace(["<|tool_call_argument_begin|>"])) !== undefined;
      if (!named) reader.at = from;
      reader.settle();
      if (!named && count === 0) return false;
      if (!named) break;
      const name = id.replace(/^functions\./, "").replace(/:\d+$/, "");
      yield* readNamedCall(context, name, ["<|tool_call_end|>"], id);
    }
    yield* reader.takeAfterSpace(["<|tool_calls_section_end|>"]);
    return true;
  },
  marks: ["<|tool_call_argument_begin|>", "<|tool_call_end|>", "<|tool_calls_section_end|>"],
  callEndsReasoning: true,
};

const kimi3Form: MarkupForm = {
  call: '<|open|>call tool="',
  nameEnd: ['"'],
  callEnd: ["<|close|>call<|sep|>"],
  argument: '<|open|>argument key="',
  argumentNameEnd: ['"'],
  attributesEnd: "<|sep|>",
  declares: (head) => /\btype="string"/.test(head) ? "text" : undefined,
  unescape: (name) => name.replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
  block: { open: '<|open|>json type="object"<|sep|>', close: "<|close|>json<|sep|>" },
  argumentEnd: ["<|close|>argument<|sep|>"],
  close: ["<|close|>tools<|sep|>"],
  lines: false,
};

const kimi3: Family = {
  name: "kimi-3",
  signs: [["<|open|>", "<|close|>", "<|end_of_msg|>"]],
  openings: () => ["<|open|>tools<|sep|>"],
  read: (context) => readMarkupCalls(context, kimi3Form, false),
  thought: {
    open: "<|open|>think<|sep|>",
    close: "<|close|>think<|sep|>",
    closing: "<|close|>think<|sep|><|open|>response<|sep|>",
    ends: ["<|open|>response<|sep|>"],
  },
  answerStart: "<|open|>response<|sep|>",
  dropped: ["<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>", "<|end_of_msg|>"],
  marks: ["<|open|>", "<|close|>", "<|sep|>"],
  isFramed: true,
};

const MINIMAX_MARK = "]<]minimax[>[";

const minimax3: Family = {
  name: "minimax-3",
  signs: [[MINIMAX_MARK]],
  openings: () => [`${MINIMAX_MARK}<tool_call>`],
  read: (context) => readNestedCalls(context, MINIMAX_MARK),
  marks: [MINIMAX_MARK, "<tool_call>", "</tool_call>"],
};

/** A family that writes JSON objects between two marks. */
function between(name: FamilyName, opening: string, close: readonly string[]): Family {
  return {
    name,
    signs: [[opening]],
    openings: () => [opening],
    read: (context) => readObjects(context, { close }),
    marks: close,
  };
}

const apertus: Family = {
  name: "apertus",
  signs: [["<|tools_prefix|>"]],
  openings: () => ["<|tools_prefix|>"],
  *read(context) {
    const { reader } = context;
    if ((yield* reader.takeAfterSpace(["["])) === undefined) return false;
    for (let count = 0;; count++) {
      const from = reader.begin();
      const opened = (yield* reader.takeAfterSpace(["{"])) !== undefined &&
        (yield* reader.takeAfterSpace(['"'])) !== undefined;
      const name = opened ? yield* readName(reader) : "";
      const named = name !== "" && (yield* reader.take(['"'])) !== undefined &&
        (yield* reader.takeAfterSpace([":"])) !== undefined;
      if (!named) reader.at = from;
      reader.settle();
      if (!named && count === 0) return false;
      if (!named) break;
      yield* readNamedCall(context, name, ["}"]);
      if ((yield* reader.takeAfterSpace([","])) === undefined) break;
    }
    yield* reader.takeAfterSpace(["]"]);
    yield* reader.takeAfterSpace(["<|tools_suffix|>"]);
    return true;
  },
  marks: ["<|tools_suffix|>"],
};

const lfm: Family = {
  name: "lfm",
  signs: [["<|tool_call_start|>"], ["<|tool_list_start|>"], ["List of tools: ["]],
  openings: () => ["<|tool_call_start|>"],
  *read(context) {
    if (yield* readPythonCalls(context, ["<|tool_call_end|>"])) return true;
    return yield* readObjects(context, { close: ["<|tool_call_end|>"] });
  },
  marks: ["<|tool_call_end|>"],
};

const gemma: Family = {
  name: "gemma",
  signs: [["<|tool_call>", "call:"]],
  openings: () => ["<|tool_call>"],
  read: (context) => readBracedCall(context, "<tool_call|>"),
  dropped: ["<|tool_response>"],
  marks: ["<tool_call|>", '<|"|>'],
};

const hunyuanForm: MarkupForm = {
  call: "<tool_call:opensource>",
  nameEnd: ["<tool_sep:opensource>"],
  callEnd: ["</tool_call:opensource>"],
  argument: "<arg_key:opensource>",
  argumentNameEnd: ["</arg_key:opensource>"],
  value: "<arg_value:opensource>",
  argumentEnd: ["</arg_value:opensource>"],
  close: ["</tool_calls:opensource>"],
  lines: false,
};

const hunyuan: Family = {
  name: "hunyuan",
  signs: [["<tool_call:opensource>"], ["tool_calls:opensource"], ["<arg_key", ":opensource"]],
  openings: () => ["<tool_calls:opensource>"],
  read: (context) => readMarkupCalls(context, hunyuanForm, false),
};

const solar: Family = {
  name: "solar",
  signs: [["<|tool_call:begin|>"]],
  openings: () => ["<|tool_call:begin|>"],
  *read(context) {
    const { reader } = context;
    const id = yield* readName(reader);
    if ((yield* reader.take(["<|tool_call:name|>"])) === undefined) return false;
    const name = yield* readName(reader);
    if (name === "" || (yield* reader.take(["<|tool_call:args|>"])) === undefined) return false;
    yield* readNamedCall(context, name, ["<|tool_call:end|>"], id === "" ? undefined : id);
    return true;
  },
  dropped: ["<|tool_calls|>"],
  marks: ["<|tool_call:name|>", "<|tool_call:args|>", "<|tool_call:end|>"],
};

const minicpm: Family = {
  name: "minicpm",
  signs: [['<function name="', '<param name="']],
  openings: () => ['<function name="'],
  read: (context) =>
    readMarkupCalls(context, {
      call: '<function name="',
      nameEnd: ['">'],
      callEnd: ["</function>"],
      argument: '<param name="',
      argumentNameEnd: ['">'],
      argumentEnd: ["</param>"],
      close: [],
      lines: false,
    }, true),
};

/** The families. */
export const rareFamilies: readonly Family[] = [
  kimi,
  kimi3,
  minimax3,
  apertus,
  lfm,
  gemma,
  hunyuan,
  solar,
  minicpm,
  between("gigachat", "<|function_call|>", []),
  {
    ...between("gigachat", "function call<|role_sep|>\n", []),
    signs: [["function call", "<|role_sep|>"]],
    dropped: ["<|message_sep|>\n\n"],
    marks: ["<|role_sep|>", "<|message_sep|>"],
  },
  between("granite", "<|tool_call|>", ["<|end_of_text|>"]),
  between("nemotron", "<TOOLCALL>", ["</TOOLCALL>"]),
  between("minimax", "<tool_calls>", ["</tool_calls>"]),
  between("firefunction", "functools", []),
];
