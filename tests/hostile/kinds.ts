/** The kinds of damaged input, and what is done with each. */

import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { RPC_PROTO_MAJOR_VERSION, RPC_PROTO_MINOR_VERSION } from "../../ffi/tables/constants.ts";
import { connectRpc, GgufFile } from "../../lib/ggml/mod.ts";
import { MemorySource } from "../../lib/gguf/byte_source.ts";
import { parseGgufHeader } from "../../lib/gguf/header.ts";
import { NativeGguf } from "../../lib/ggml/native_gguf/native_gguf.ts";
import { loadModel, matchesGrammar, type Model, parseGrammar, schemaToGrammar } from "../../mod.ts";
import { renderTemplate } from "../../lib/llama/thread/template/render.ts";
import { AnswerParser } from "../../lib/llama/tools/parsers/answer_parser.ts";
import { answerForm } from "../../lib/llama/tools/parsers/detect.ts";
import { toolShapes } from "../../lib/llama/tools/parsers/shapes.ts";
import { decodeAudio, loadWhisper, readWavInfo } from "../../lib/whisper/mod.ts";
import { answers as toolAnswers, tools as callTools } from "../unit/chat/tool_call_texts.ts";
import { buildWav } from "../unit/speech/wav_builder.ts";
import { samples as ggufSamples } from "../ggml/native_gguf/fuzz.ts";
import { randomLora, writeLora } from "../model/tiny_model.ts";
import { smallLlama } from "./small_llama.ts";
import { smallModel } from "../whisper/small_model.ts";
import { compressedRecordings } from "./fields/compressed.ts";
import { type Fields, mutateFields } from "./fields/field.ts";
import { ggufFields } from "./fields/gguf.ts";
import { riffFields } from "./fields/riff.ts";
import { whisperFields } from "./fields/whisper.ts";
import { mutateBytes, mutateJson, mutateText, mutateWords } from "./mutate.ts";

/** Numbers from 0 to below a limit. */
export type Below = (limit: number) => number;

/** Tries one damaged input: what is right gives nothing, what is wrong a typed error. */
export type Attempt = (below: Below) => Promise<unknown> | unknown;

/** Makes what a kind needs, in a folder of its own. */
export type Kind = (folder: string) => Promise<Attempt> | Attempt;

/** A valid file, its fields, and how many of its bytes are its head, where most damage goes. */
interface Valid {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly fields: Fields;
  readonly headBytes?: number;
}

/** Half of the time fields of a valid file are changed, else its bytes are damaged anywhere. */
function damaged({ bytes, fields, headBytes }: Valid, below: Below): Uint8Array<ArrayBuffer> {
  return below(2) === 0 ? mutateFields(bytes, fields, below) : mutateBytes(bytes, below, headBytes);
}

/** Half of the time words of a valid text are changed, else its characters. */
function damagedText(text: string, below: Below, words: readonly string[]): string {
  return (below(2) === 0 ? mutateWords : mutateText)(text, below, words);
}

function oneOf<T>(values: readonly T[], below: Below): T {
  return values[below(values.length)] as T;
}

const gguf: Kind = () => {
  const valid = ggufSamples.map((bytes): Valid => ({ bytes, fields: ggufFields(bytes) }));
  return async (below) => {
    const bytes = damaged(oneOf(valid, below), below);
    await using file = await GgufFile.open(bytes);
    for (const key of file.metadata.keys()) await file.value(key);
    for (const { name } of file.tensors) await file.readTensor(name);
    await parseGgufHeader(new MemorySource(bytes));
    using native = await NativeGguf.fromBytes(bytes, { tensors: oneOf(["none", "shapes", "data"] as const, below) });
    for (const key of native.keys) native.get(key);
  };
};

const model: Kind = async (folder) => {
  const bytes = await smallLlama();
  const valid = { bytes, fields: ggufFields(bytes), headBytes: 16_384 };
  const file = join(folder, "damaged.gguf");
  return async (below) => {
    writeFileSync(file, damaged(valid, below));
    await using one = await loadModel(file, { threads: 1, contextSize: 32 });
    await one.complete("a", { maxTokens: 2 });
  };
};

const lora: Kind = async (folder) => {
  const [path, adapter, file] = [join(folder, "tiny.gguf"), join(folder, "lora.gguf"), join(folder, "damaged.gguf")];
  writeFileSync(path, await smallLlama());
  await writeLora(adapter, randomLora(["blk.0.attn_q.weight", "blk.0.ffn_up.weight"], 2, 4, 1));
  const bytes = new Uint8Array(await readFile(adapter));
  const valid = { bytes, fields: ggufFields(bytes), headBytes: 1024 };
  const one: Model = await loadModel(path, { threads: 1, contextSize: 32 });
  return async (below) => {
    writeFileSync(file, damaged(valid, below));
    await using loaded = await one.loadLora(file);
    await one.complete("a", { maxTokens: 2, lora: [{ adapter: loaded, scale: 1 }] });
  };
};

const whisper: Kind = () => {
  const { bytes, headerBytes } = smallModel();
  const valid = { bytes, fields: whisperFields(bytes), headBytes: headerBytes };
  return async (below) => {
    await using one = await loadWhisper(damaged(valid, below), { threads: 1 });
    await one.transcribe(new Float32Array(16_000), { audioContext: 64 });
  };
};

const recordings = [
  buildWav({ data: new Uint8Array(800).fill(3) }),
  buildWav({
    channels: 2,
    rate: 8_000,
    bits: 24,
    data: new Uint8Array(1800).fill(7),
    container: "RF64",
    longSize: 1800n,
  }),
  buildWav({ codec: 3, bits: 32, rate: 44_100, extensible: true, data: new Uint8Array(800) }),
  buildWav({
    codec: 6,
    bits: 8,
    between: [["LIST", new Uint8Array(12)], ["cue ", new Uint8Array(5)]],
    data: new Uint8Array(300),
  }),
];

const recording: Kind = () => {
  const waves = recordings.map((bytes): Valid => ({ bytes, fields: riffFields(bytes), headBytes: 64 }));
  const valid = [...waves, ...waves, ...compressedRecordings];
  return async (below) => {
    const bytes = damaged(oneOf(valid, below), below);
    const options = {
      channel: oneOf(["mix", 0] as const, below),
      allowTruncated: below(2) === 0,
      ffmpeg: false,
    } as const;
    await readWavInfo(bytes, { allowTruncated: options.allowTruncated });
    await decodeAudio(bytes, options);
  };
};

const schemas: readonly unknown[] = [
  {
    type: "object",
    properties: { a: { type: "string", pattern: "^[a-z]{1,8}$" }, b: { $ref: "#/$defs/n" } },
    required: ["a"],
    $defs: { n: { type: "integer", minimum: 3, maximum: 70 } },
  },
  {
    anyOf: [{ type: "array", items: { enum: [1, "x", null] }, minItems: 1, maxItems: 4 }, { const: { a: [1] } }],
    description: "d",
  },
  {
    allOf: [{ type: "object", properties: { x: { format: "date-time" } } }, {
      required: ["x"],
      additionalProperties: { type: "boolean" },
    }],
  },
  { type: ["number", "null"], exclusiveMinimum: -2.5, multipleOf: 0.5 },
  {
    type: "array",
    prefixItems: [{ type: "integer" }, { $ref: "#/$defs/tree" }],
    items: false,
    $defs: {
      tree: { type: "object", properties: { left: { $ref: "#/$defs/tree" }, name: { type: "string", maxLength: 9 } } },
    },
  },
  {
    type: "object",
    patternProperties: { "^x-": { type: "string", format: "uuid" } },
    propertyNames: { pattern: "^[a-z-]+$" },
    minProperties: 1,
    maxProperties: 4,
    dependentRequired: { a: ["b"] },
    oneOf: [{ required: ["a"] }, { required: ["b"] }],
  },
  { if: { type: "string" }, then: { minLength: 2 }, else: { not: { type: "null" } }, enum: ["ab", 1, null] },
];
const schemaKeywords =
  "type properties required items prefixItems additionalProperties patternProperties propertyNames $ref $defs $id $anchor $dynamicRef anyOf allOf oneOf not if then else enum const pattern format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems contains minContains maxContains minProperties maxProperties dependentRequired dependentSchemas unevaluatedProperties unevaluatedItems"
    .split(" ");
const jsonValues: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1e300,
  2 ** 53,
  "",
  "#",
  "#/properties/a",
  "^(a+)+$",
  "\\p{L}{1,99}",
  [],
  {},
  [1, [2]],
  { type: "object" },
  { $ref: "#" },
  "type",
  "items",
  "__proto__",
];

const schema: Kind = () => (below) => {
  schemaToGrammar(mutateJson(oneOf(schemas, below), below, jsonValues, schemaKeywords) as never);
};

const grammars = [
  'root ::= "a" [b-z]{1,4} (x | y)*\nx ::= "x"+ | [^\\n]?\ny ::= "\\u00e9" root2\nroot2 ::= <[1]> | "q"\n',
  'root ::= object\nobject ::= "{" ws (pair ("," ws pair)*)? "}"\npair ::= string ":" ws string\nstring ::= "\\"" [^"\\\\]* "\\""\nws ::= [ \\t]*\n',
];
const grammarWords = [
  "::=",
  "|",
  "(",
  ")",
  "{1,2}",
  "{9999999}",
  "[",
  "]",
  "\\x",
  "*",
  "+",
  "?",
  '"',
  "#",
  "\n",
  "root",
  "<",
  ">",
  "!",
  "\\U0010ffff",
];

const grammar: Kind = () => (below) => {
  const text = damagedText(oneOf(grammars, below), below, grammarWords);
  matchesGrammar(parseGrammar(text), "ab");
};

/** What a right server answers to `hello`, to the count of devices, and to the memory of the first. */
const answers = ((): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(8 + 28 + 8 + 4 + 8 + 16);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, 28n, true);
  bytes.set([RPC_PROTO_MAJOR_VERSION, RPC_PROTO_MINOR_VERSION, 0, 0], 8);
  view.setBigUint64(36, 4n, true);
  view.setUint32(44, 1, true);
  view.setBigUint64(48, 16n, true);
  view.setBigUint64(56, 1n << 30n, true);
  view.setBigUint64(64, 1n << 31n, true);
  return bytes;
})();

/** The lengths, the version, the count of devices and their memory. */
const answerFields: Fields = {
  numbers: [
    ...[0, 36, 48, 56, 64].map((at) => ({ at, size: 8 as const })),
    ...[8, 9, 10].map((at) => ({ at, size: 1 as const })),
    { at: 44, size: 4 },
  ],
  texts: [],
};

const rpc: Kind = async () => {
  let answer: Uint8Array = answers;
  let pieces = 1;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    const size = Math.ceil(answer.length / pieces);
    socket.once("data", () => {
      for (let at = 0; at < answer.length; at += size) socket.write(answer.subarray(at, at + size));
      socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return async (below) => {
    answer = damaged({ bytes: answers, fields: answerFields }, below);
    pieces = 1 + below(4);
    await connectRpc(`127.0.0.1:${port}`, { timeoutMs: 5000 });
  };
};

const templates = [
  "{% for m in messages %}<|{{ m.role }}|>{{ m['content'] | trim }}{% if not loop.last %}\n{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
  "{%- set ns = namespace(n=0) -%}{%- macro show(x, y='a') -%}{{ x | tojson(indent=2) }}{{ y * 3 }}{%- endmacro -%}{%- for m in messages if m.content is string -%}{%- set ns.n = ns.n + m.content | length -%}{{ show(m) }}{%- else -%}{{ raise_exception('none') }}{%- endfor -%}{{ ns.n // 2 ** 3 }}",
  "{{ messages | map(attribute='content') | select('string') | list | join(', ') }}{{ messages[0]['content'][::-1] }}{% with a = [1, 2] %}{{ (a + [3]) | sum }}{% endwith %}",
];
const templateWords = [
  "{{",
  "}}",
  "{%",
  "%}",
  "{#",
  "-%}",
  "for",
  "in",
  "if",
  "endfor",
  "endif",
  "|",
  "tojson",
  "(",
  ")",
  "[",
  "]",
  "'",
  "**",
  "*",
  "range(10**9)",
  "loop",
  "macro",
  "x",
  "set",
  "~",
  "not",
  "is",
  "messages",
  "'a' * 10**9",
];
const templateMessages = [{ role: "system", content: "s" }, { role: "user", content: "Hello {{ 1 }} <|user|>" }];

const template: Kind = () => async (below) => {
  const source = damagedText(oneOf(templates, below), below, templateWords);
  await renderTemplate(
    { source, messages: templateMessages, tools: [], variables: {}, startToken: "<s>", endToken: "</s>" } as never,
  );
};

const callTexts = Object.values(toolAnswers).flatMap((one) => one === undefined ? [] : [one]);
const callWords = [
  "<tool_call>",
  "</tool_call>",
  "{",
  "}",
  '"',
  "[",
  "]",
  "<",
  ">",
  "|",
  "\\u12",
  "null",
  "\n",
  "<think>",
  "</think>",
  "name",
  "arguments",
  ",",
];

const toolText: Kind = () => (below) => {
  const [form, text] = callTexts[below(callTexts.length)] ?? ["", ""];
  const parser = new AnswerParser(answerForm(form), toolShapes(callTools), { inReasoning: below(4) === 0 });
  const characters = [...damagedText(text, below, callWords)];
  for (let at = 0; at < characters.length; at += 7) parser.push(characters.slice(at, at + 7).join(""));
  parser.finish();
  for (const call of parser.calls) if (call.complete) JSON.parse(call.arguments);
};

/** All kinds by name. */
export const kinds: Readonly<Record<string, Kind>> = {
  gguf,
  model,
  lora,
  whisper,
  recording,
  schema,
  grammar,
  rpc,
  template,
  toolText,
};
