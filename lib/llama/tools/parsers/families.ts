/**
 * The families of models, by how they write tool calls and reasoning.
 *
 * @module
 */

import type { ParseContext } from "./call_object.ts";
import type { Family } from "./family.ts";
import { type MarkupForm, readMarkupCalls } from "./markup.ts";
import { harmony, muse } from "./message_families.ts";
import { readPythonArguments } from "./python.ts";
import { rareFamilies } from "./rare_families.ts";
import type { Parse } from "./reader.ts";
import { isNext, readName, readNamedCall, readObjects } from "./sections.ts";

const coderForm: MarkupForm = {
  call: "<function=",
  nameEnd: [">"],
  callEnd: ["</function>"],
  argument: "<parameter=",
  argumentNameEnd: [">"],
  argumentEnd: ["</parameter>"],
  close: ["</tool_call>"],
  lines: true,
};

const hermes: Family = {
  name: "hermes",
  signs: [["<tool_call>"]],
  openings: () => ["<tool_call>"],
  *read(context) {
    if (yield* readObjects(context, { close: ["</tool_call>"] })) return true;
    return yield* readMarkupCalls(context, coderForm, false);
  },
};

const qwenCoder: Family = {
  ...hermes,
  name: "qwen-coder",
  signs: [["<tool_call>", "<function=", "<parameter="]],
  openings: (tools) => ["<tool_call>", ...tools.names.map((name) => `<function=${name}>`)],
  *read(context, opening) {
    if (opening !== "<tool_call>") {
      context.reader.at -= opening.length;
      return yield* readMarkupCalls(context, coderForm, false);
    }
    if (yield* readMarkupCalls(context, coderForm, false)) return true;
    return yield* readObjects(context, { close: ["</tool_call>"] });
  },
  callEndsReasoning: true,
};

const glmForm: MarkupForm = {
  call: "",
  nameEnd: [],
  callEnd: ["</tool_call>"],
  argument: "<arg_key>",
  argumentNameEnd: ["</arg_key>"],
  value: "<arg_value>",
  argumentEnd: ["</arg_value>"],
  close: [],
  lines: false,
};

const glm: Family = {
  name: "glm",
  signs: [["<tool_call>", "<arg_key>"]],
  openings: () => ["<tool_call>"],
  read: (context) => readMarkupCalls(context, glmForm, false),
};

const seed: Family = {
  name: "seed",
  signs: [["<seed:tool_call>"]],
  openings: () => ["<seed:tool_call>"],
  read: (context) => readMarkupCalls(context, { ...coderForm, close: ["</seed:tool_call>"], lines: false }, false),
};

const minimaxForm: MarkupForm = {
  call: '<invoke name="',
  nameEnd: ['">'],
  callEnd: ["</invoke>"],
  argument: '<parameter name="',
  argumentNameEnd: ['">'],
  argumentEnd: ["</parameter>"],
  close: ["</minimax:tool_call>"],
  lines: false,
};

const minimax: Family = {
  name: "minimax",
  signs: [["<minimax:tool_call>"]],
  openings: () => ["<minimax:tool_call>"],
  read: (context) => readMarkupCalls(context, minimaxForm, false),
};

const deepseekMarkup: Family = {
  name: "deepseek-markup",
  signs: [["｜DSML｜"]],
  openings: () => ["<｜DSML｜function_calls>", "<｜DSML｜tool_calls>"],
  read: (context, opening) =>
    readMarkupCalls(context, {
      call: '<｜DSML｜invoke name="',
      nameEnd: ['"'],
      callEnd: ["</｜DSML｜invoke>"],
      argument: '<｜DSML｜parameter name="',
      argumentNameEnd: ['"'],
      attributesEnd: ">",
      declares: (head) =>
        head.includes('string="true"') ? "text" : head.includes('string="false"') ? "json" : undefined,
      argumentEnd: ["</｜DSML｜parameter>"],
      close: [opening.replace("<", "</")],
      lines: false,
    }, false),
};

/** `<|python_tag|>` and `<function=`, which two families share. */
function* readLlamaTag(context: ParseContext, opening: string): Parse<boolean> {
  const { reader } = context;
  if (opening === "<function=") {
    const name = yield* readName(reader);
    if (name === "" || (yield* reader.take([">"])) === undefined) return false;
    yield* readNamedCall(context, name, ["</function>"]);
    return true;
  }
  if ((yield* isNext(reader, "{")) && (yield* readObjects(context, { close: [] }))) return true;
  return yield* readBuiltIn(context);
}

/** `name.call(key="value")`, or Python code. */
function* readBuiltIn(context: ParseContext): Parse<boolean> {
  const { reader, sink, tools } = context;
  const from = reader.begin();
  yield* reader.skipSpace();
  const name = yield* readName(reader);
  if (name.endsWith(".call") && (yield* reader.take(["("])) !== undefined) {
    reader.settle();
    sink.startCall(name.slice(0, -".call".length), undefined);
    const whole = yield* readPythonArguments(context);
    sink.endCall(whole);
    if (!whole) yield* reader.until([], () => {});
    return true;
  }
  reader.at = from;
  reader.settle();
  sink.startCall(["python", "code_interpreter", "ipython"].find((one) => tools.has(one)) ?? "python", undefined);
  sink.argumentText('{"code": "');
  yield* reader.until([], (start, to) => sink.argumentText(JSON.stringify(reader.slice(start, to)).slice(1, -1)));
  sink.argumentText('"}');
  sink.endCall(true);
  return true;
}

/** JSON without marks: a call only at the start of an answer, and of a known tool. */
function readBareObjects(context: ParseContext): Parse<boolean> {
  return readObjects(context, { close: [], known: true });
}

const llama: Family = {
  name: "llama",
  signs: [["<|python_tag|>"], ["<|start_header_id|>", "ipython"]],
  openings: () => ["<|python_tag|>"],
  read: readLlamaTag,
  readStart: readBareObjects,
  marks: ["<|python_tag|>", "<|eom_id|>"],
};

const functionaryTags: Family = {
  name: "functionary-tags",
  signs: [["<function=", "<|start_header_id|>", "</function>"]],
  openings: () => ["<function=", "<|python_tag|>"],
  read: readLlamaTag,
  marks: ["<|python_tag|>", "<|eom_id|>"],
};

const functionary: Family = {
  name: "functionary",
  signs: [[">>>all"], [">>>${recipient}"]],
  openings: () => [">>>"],
  *read(context) {
    return yield* readRecipient(context);
  },
  readStart: readRecipient,
  answerStart: "all\n",
};

function* readRecipient(context: ParseContext): Parse<boolean> {
  const { reader, sink } = context;
  const name = yield* readName(reader);
  if (name === "" || (yield* reader.take(["\n"])) === undefined) return false;
  if (name === "all") {
    sink.span("markup", reader.at);
    return true;
  }
  if (!context.tools.has(name) && !(yield* isNext(reader, "{"))) return false;
  if (name === "python" && !(yield* isNext(reader, "{"))) return yield* readBuiltIn(context);
  yield* readNamedCall(context, name, []);
  return true;
}

const mistral: Family = {
  name: "mistral",
  signs: [["[TOOL_CALLS]"]],
  openings: () => ["[TOOL_CALLS]"],
  *read(context) {
    const { reader } = context;
    if ((yield* isNext(reader, "[")) || (yield* isNext(reader, "{"))) return yield* readObjects(context, { close: [] });
    yield* reader.skipSpace();
    const name = yield* readName(reader);
    if (name === "") return false;
    let id = "";
    if ((yield* reader.takeAfterSpace(["[CALL_ID]"])) !== undefined) {
      yield* reader.until(["[ARGS]", "{", "\n"], (from, to) => id += reader.slice(from, to));
    }
    if ((yield* reader.takeAfterSpace(["[ARGS]"])) === undefined && !(yield* isNext(reader, "{"))) return false;
    yield* readNamedCall(context, name, [], id === "" ? undefined : id);
    return true;
  },
  marks: ["[CALL_ID]", "[ARGS]"],
};

const commandR: Family = {
  name: "command-r",
  signs: [["<|START_ACTION|>"]],
  openings: () => ["<|START_ACTION|>"],
  read: (context) => readObjects(context, { close: ["<|END_ACTION|>"] }),
  dropped: ["<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"],
  marks: ["<|END_ACTION|>"],
  answerStart: "<|START_RESPONSE|>",
};

const commandRPlus: Family = {
  name: "command-r-plus",
  signs: [["Action:", "```json", "tool_name"]],
  openings: () => ["Action:"],
  read: (context) => readObjects(context, { close: [], known: true }),
};

const deepseek: Family = {
  name: "deepseek",
  signs: [["<｜tool▁calls▁begin｜>"], ["<｜tool▁call▁begin｜>"]],
  openings:
    () => ["<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool_calls_begin｜>", "<｜tool calls begin｜>"],
  *read(context, opening) {
    const { reader } = context;
    for (let count = 0;; count++) {
      const from = reader.begin();
      const begun = (opening === "<｜tool▁call▁begin｜>" && count === 0) ||
        (yield* reader.takeAfterSpace(["<｜tool▁call▁begin｜>"])) !== undefined;
      let name = begun || count === 0 ? yield* readName(reader) : "";
      const separated = name !== "" && (yield* reader.take(["<｜tool▁sep｜>"])) !== undefined;
      if (name === "function" && separated && !(yield* isNext(reader, "{"))) name = yield* readName(reader);
      if (name === "" || !separated) {
        reader.at = from;
        reader.settle();
        if (count === 0) return false;
        break;
      }
      reader.settle();
      yield* readNamedCall(context, name, ["<｜tool▁call▁end｜>"]);
    }
    yield* reader.takeAfterSpace(["<｜tool▁calls▁end｜>"]);
    return true;
  },
  marks: ["<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"],
};

/** A model of no known family, which is instructed to write calls as Hermes does. */
export const fallback: Family = { ...hermes, name: "json", signs: [], readStart: readBareObjects };

/** The families, in the order in which they are tried: the more special before the more general. */
export const families: readonly Family[] = [
  muse,
  harmony,
  functionary,
  functionaryTags,
  ...rareFamilies,
  qwenCoder,
  glm,
  seed,
  minimax,
  deepseekMarkup,
  deepseek,
  hermes,
  mistral,
  commandR,
  commandRPlus,
  llama,
];
