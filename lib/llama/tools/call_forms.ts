import type { ArgumentType } from "./argument_type.ts";
import type { FamilyName } from "./parsers/family.ts";

/** The form of one call, for a grammar. */
export type CallForm =
  | {
    /** A JSON object with the name and the arguments. */
    readonly kind: "object";
    /** Before the name. */
    readonly open: string;
    /** Between name and arguments. */
    readonly middle: string;
    /** Behind the arguments. */
    readonly close: string;
  }
  | {
    /** The arguments are elements. */
    readonly kind: "markup";
    /** Before the name. */
    readonly open: string;
    /** Behind the name. */
    readonly middle: string;
    /** Before the name of an argument, between it and its value, and behind its value. */
    readonly argument: readonly [before: string, between: string, behind: string];
    /** Returns what `\0declared` in `between` stands for: what an argument says of its type. */
    declare?(type: ArgumentType): string;
    /** Between arguments. Default nothing. */
    readonly separator?: string;
    /** Whether values are JSON, text too. Default false. */
    readonly json?: boolean;
    /** Behind the arguments. */
    readonly close: string;
  }
  | {
    /** The arguments hold their lists and objects in marks: as `{key:value}`, or as elements within elements. */
    readonly kind: "braces" | "nested";
    /** Before the name. */
    readonly open: string;
    /** Between name and arguments. */
    readonly middle: string;
    /** The mark around text, or before each tag. */
    readonly mark: string;
    /** Behind the arguments. */
    readonly close: string;
  };

/** The form of a section of calls, for a grammar. */
export interface CallsForm {
  /** One call; the first of several ways that a template may want it. */
  readonly calls: readonly CallForm[];
  /** Before the first call. */
  readonly open: string;
  /** Between calls; `undefined` when there is never more than one. */
  readonly between: string | undefined;
  /** Behind the last. */
  readonly close: string;
  /** Text or patterns that begin a section, from which on the grammar counts. */
  readonly triggers: readonly (string | RegExp)[];
  /** Parts of GBNF in the texts above: `\u0000` and a name stands for one of these; `\u0000name` for the name of the tool. */
  readonly parts?: Readonly<Record<string, string>>;
}

const quoted = (key: string): string => `{"${key}": "`;
const object = (name: string, args: string): CallForm => ({
  kind: "object",
  open: quoted(name),
  middle: `", "${args}": `,
  close: "}",
});
const plain = object("name", "arguments");

function objects(open: string, between: string | undefined, close: string, call: CallForm = plain): CallsForm {
  return { calls: [call], open, between, close, triggers: [open.trim()] };
}

/** The type that Kimi K3 declares. */
function xmlType({ kinds, allowsText }: ArgumentType): string {
  if (allowsText) return "string";
  const named = (["boolean", "object", "array"] as const).find((kind) => kinds.has(kind));
  return kinds.has("integer") || kinds.has("number") ? "number" : named ?? "null";
}

/** DeepSeek's markup, whose section is named `function_calls` or `tool_calls`. */
function deepseekMarkup(section: string): CallsForm {
  return {
    calls: [{
      kind: "markup",
      open: '<｜DSML｜invoke name="',
      middle: '">\n\0line',
      argument: ['<｜DSML｜parameter name="', '" string="\0declared">', "</｜DSML｜parameter>\n"],
      declare: ({ allowsText }) => String(allowsText),
      close: "</｜DSML｜invoke>\n",
    }],
    open: `<｜DSML｜${section}>\n`,
    between: "",
    close: `</｜DSML｜${section}>`,
    triggers: [`<｜DSML｜${section}>`],
    parts: { line: '"\\n"?' },
  };
}

const forms: Partial<Record<FamilyName, CallsForm>> = {
  json: objects("<tool_call>\n", "\n</tool_call>\n<tool_call>\n", "\n</tool_call>"),
  hermes: objects("<tool_call>\n", "\n</tool_call>\n<tool_call>\n", "\n</tool_call>"),
  granite: objects("<|tool_call|>[", ", ", "]"),
  nemotron: objects("<TOOLCALL>[", ", ", "]</TOOLCALL>"),
  minimax: objects("<tool_calls>\n", "\n", "\n</tool_calls>"),
  gigachat: objects("<|function_call|>", undefined, ""),
  llama: {
    ...objects("", undefined, "", object("name", "parameters")),
    triggers: [/^\s*(\{"name": ")/],
  },
  "command-r": {
    ...objects("<|START_ACTION|>[\n    ", ",\n    ", "\n]<|END_ACTION|>", {
      kind: "object",
      open: '{"tool_call_id": "\0digits", "tool_name": "',
      middle: '", "parameters": ',
      close: "}",
    }),
    triggers: ["<|START_ACTION|>"],
    parts: { digits: "[0-9]{1,3}" },
  },
  functionary: {
    calls: [{ kind: "object", open: "", middle: "\n", close: "" }],
    open: "",
    between: ">>>",
    close: "",
    triggers: [/^(?!all\n)([^\n]+\n)/, />>>(?!all\n)([^\n]+\n)/],
  },
  "functionary-tags": {
    calls: [{ kind: "object", open: "<function=", middle: ">", close: "</function>" }],
    open: "",
    between: "",
    close: "",
    triggers: ["<function="],
  },
  kimi: {
    calls: [{
      kind: "object",
      open: "<|tool_call_begin|>functions.",
      middle: ":\0digits<|tool_call_argument_begin|>",
      close: "<|tool_call_end|>",
    }],
    open: "<|tool_calls_section_begin|>",
    between: "",
    close: "<|tool_calls_section_end|>",
    triggers: ["<|tool_calls_section_begin|>"],
    parts: { digits: "[0-9]{1,3}" },
  },
  harmony: {
    calls: [
      { kind: "object", open: " to=functions.", middle: "<|channel|>commentary json<|message|>", close: "" },
      {
        kind: "object",
        open: "<|channel|>commentary to=functions.",
        middle: " <|constrain|>json<|message|>",
        close: "",
      },
    ],
    open: "",
    between: undefined,
    close: "",
    triggers: [/(?:^|<\|start\|>assistant)((?:<\|channel\|>commentary)? to=functions\.)/],
  },
  "kimi-3": {
    calls: [{
      kind: "markup",
      open: '<|open|>call tool="',
      middle: '" index="\0digits"<|sep|>',
      argument: ['<|open|>argument key="', '" type="\0declared"<|sep|>', "<|close|>argument<|sep|>"],
      declare: xmlType,
      close: "<|close|>call<|sep|>",
    }],
    open: "<|open|>tools<|sep|>",
    between: "",
    close: "<|close|>tools<|sep|>\0end",
    triggers: ["<|open|>tools<|sep|>"],
    parts: { digits: "[0-9]{1,3}", end: '("<|close|>message<|sep|>")?' },
  },
  apertus: {
    ...objects("<|tools_prefix|>[", ", ", "]<|tools_suffix|>", {
      kind: "object",
      open: '{"',
      middle: '": ',
      close: "}",
    }),
    triggers: ["<|tools_prefix|>"],
  },
  solar: {
    calls: [{
      kind: "object",
      open: "<|tool_call:begin|>\0id<|tool_call:name|>",
      middle: "<|tool_call:args|>",
      close: "<|tool_call:end|>",
    }],
    open: "",
    between: "",
    close: "",
    triggers: ["<|tool_call:begin|>"],
    parts: { id: "[a-zA-Z0-9_-]{1,32}" },
  },
  muse: {
    calls: [{
      kind: "markup",
      open: ' to=\0name<|message|><atem:function_calls>\n<atem:invoke name="',
      middle: '">\n',
      argument: ['<atem:parameter name="', '">', "</atem:parameter>\n"],
      close: "</atem:invoke>\n</atem:function_calls>",
    }],
    open: "",
    between: "<|eom|><|start|>assistant",
    close: "",
    triggers: [/(?:^|<\|start\|>assistant)( to=(?!(?:self|user)<\|message\|>)[^\s<]+<\|message\|>)/],
  },
  lfm: {
    calls: [{
      kind: "markup",
      open: "",
      middle: "(",
      argument: ["", "=", ""],
      separator: ", ",
      json: true,
      close: ")",
    }],
    open: "<|tool_call_start|>[",
    between: ", ",
    close: "]<|tool_call_end|>",
    triggers: ["<|tool_call_start|>"],
  },
  "qwen-coder": {
    calls: [{
      kind: "markup",
      open: "<function=",
      middle: ">\n",
      argument: ["<parameter=", ">\n", "\n</parameter>\n"],
      close: "</function>",
    }],
    open: "<tool_call>\n",
    between: "\n</tool_call>\n<tool_call>\n",
    close: "\n</tool_call>",
    triggers: ["<tool_call>"],
  },
  seed: {
    calls: [{
      kind: "markup",
      open: "<function=",
      middle: ">\n",
      argument: ["<parameter=", ">", "</parameter>\n"],
      close: "</function>\n",
    }],
    open: "<seed:tool_call>\n",
    between: "</seed:tool_call>\n<seed:tool_call>\n",
    close: "</seed:tool_call>",
    triggers: ["<seed:tool_call>"],
  },
  glm: {
    calls: [{
      kind: "markup",
      open: "<tool_call>",
      middle: "\n",
      argument: ["<arg_key>", "</arg_key>\n<arg_value>", "</arg_value>\n"],
      close: "</tool_call>",
    }],
    open: "",
    between: "\n",
    close: "",
    triggers: ["<tool_call>"],
  },
};

const MINIMAX_MARK = "]<]minimax[>[";

/** Families whose values are within one another. */
const innerForms: Partial<Record<FamilyName, CallsForm>> = {
  gemma: {
    calls: [{ kind: "braces", open: "<|tool_call>call:", middle: "", mark: '<|"|>', close: "<tool_call|>" }],
    open: "",
    between: "",
    close: "\0response",
    triggers: ["<|tool_call>"],
    parts: { response: '"<|tool_response>"?' },
  },
  "minimax-3": {
    calls: [{
      kind: "nested",
      open: `${MINIMAX_MARK}<invoke name="`,
      middle: '">',
      mark: MINIMAX_MARK,
      close: `${MINIMAX_MARK}</invoke>\n`,
    }],
    open: `${MINIMAX_MARK}<tool_call>\n`,
    between: "",
    close: `${MINIMAX_MARK}</tool_call>`,
    triggers: [`${MINIMAX_MARK}<tool_call>`],
  },
};

const mistralList: CallsForm = {
  ...objects("[TOOL_CALLS][", ", ", "]", { ...plain, close: "\0id}" } as CallForm),
  triggers: ["[TOOL_CALLS]"],
  parts: { id: '(", \\"id\\": \\"" [a-zA-Z0-9]{9} "\\"")?' },
};

const mistralNamed: CallsForm = {
  calls: [{ kind: "object", open: "[TOOL_CALLS]", middle: "\0id[ARGS]", close: "" }],
  open: "",
  between: "",
  close: "",
  triggers: ["[TOOL_CALLS]"],
  parts: { id: '("[CALL_ID]" [a-zA-Z0-9]{9})?' },
};

const minimaxMarkup: CallsForm = {
  calls: [{
    kind: "markup",
    open: '<invoke name="',
    middle: '">\n',
    argument: ['<parameter name="', '">', "</parameter>\n"],
    close: "</invoke>\n",
  }],
  open: "<minimax:tool_call>\n",
  between: "",
  close: "</minimax:tool_call>",
  triggers: ["<minimax:tool_call>"],
};

/** Returns the form of a family's calls; `undefined` for one without a grammar. */
export function callsForm(family: FamilyName, template: string): CallsForm | undefined {
  if (family === "mistral") return template.includes("[ARGS]") ? mistralNamed : mistralList;
  if (family === "minimax" && template.includes("<minimax:tool_call>")) return minimaxMarkup;
  if (family === "gigachat" && !template.includes("<|function_call|>")) {
    return objects("function call<|role_sep|>\n", undefined, "");
  }
  if (family === "deepseek-markup") {
    return deepseekMarkup(template.includes("function_calls") ? "function_calls" : "tool_calls");
  }
  if (family !== "deepseek") return forms[family] ?? innerForms[family];
  const fenced = template.includes("```json");
  return {
    calls: [{
      kind: "object",
      open: fenced ? "<｜tool▁call▁begin｜>function<｜tool▁sep｜>" : "<｜tool▁call▁begin｜>",
      middle: fenced ? "\n```json\n" : "<｜tool▁sep｜>",
      close: fenced ? "\n```<｜tool▁call▁end｜>" : "<｜tool▁call▁end｜>",
    }],
    open: "<｜tool▁calls▁begin｜>",
    between: fenced ? "\n" : "",
    close: "<｜tool▁calls▁end｜>",
    triggers: ["<｜tool▁calls▁begin｜>"],
  };
}
