/** The kinds of damaged input, and what is done with each. */

import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { RPC_PROTO_MAJOR_VERSION, RPC_PROTO_MINOR_VERSION } from "../../ffi/tables/constants.ts";
import { connectRpc } from "../../lib/ggml/mod.ts";
import { loadModel, matchesGrammar, type Model, parseGrammar, readGgufHeader, schemaToGrammar } from "../../mod.ts";
import { renderTemplate } from "../../lib/llama/thread/template/render.ts";
import { AnswerParser } from "../../lib/llama/tools/parsers/answer_parser.ts";
import { answerForm } from "../../lib/llama/tools/parsers/detect.ts";
import { toolShapes } from "../../lib/llama/tools/parsers/shapes.ts";
import { decodeAudio, loadWhisper } from "../../lib/whisper/mod.ts";
import { answers as toolAnswers, tools as callTools } from "../unit/chat/tool_call_texts.ts";
import { buildWav } from "../unit/speech/wav_builder.ts";
import { samples as ggufSamples } from "../ggml/native_gguf/fuzz.ts";
import { randomLora, tinyWeights, writeLora, writeTinyModel } from "../model/tiny_model.ts";
import { smallModel } from "../whisper/small_model.ts";
import { mutateBytes, mutateJson, mutateText } from "./mutate.ts";

/** Numbers from 0 to below a limit. */
export type Below = (limit: number) => number;

/** Tries one damaged input: what is right gives nothing, what is wrong a typed error. */
export type Attempt = (below: Below) => Promise<unknown> | unknown;

/** Makes what a kind needs, in a folder of its own. */
export type Kind = (folder: string) => Promise<Attempt> | Attempt;

const gguf: Kind = (folder) => async (below) => {
  const path = join(folder, "damaged.gguf");
  writeFileSync(path, mutateBytes(ggufSamples[below(ggufSamples.length)] ?? new Uint8Array(), below));
  await readGgufHeader(path);
};

const model: Kind = async (folder) => {
  const path = join(folder, "tiny.gguf");
  await writeTinyModel(path, tinyWeights());
  const bytes = new Uint8Array(await readFile(path));
  return async (below) => {
    const damaged = join(folder, "damaged.gguf");
    writeFileSync(damaged, mutateBytes(bytes, below, 4096));
    await using one = await loadModel(damaged, { threads: 1, contextSize: 32 });
    await one.complete("a", { maxTokens: 2 });
  };
};

const lora: Kind = async (folder) => {
  const [path, adapter, damaged] = [join(folder, "tiny.gguf"), join(folder, "lora.gguf"), join(folder, "damaged.gguf")];
  await writeTinyModel(path, tinyWeights());
  await writeLora(adapter, randomLora(["blk.0.attn_q.weight", "blk.0.ffn_up.weight"], 2, 4, 1));
  const bytes = new Uint8Array(await readFile(adapter));
  const one: Model = await loadModel(path, { threads: 1, contextSize: 32 });
  return async (below) => {
    writeFileSync(damaged, mutateBytes(bytes, below, 1024));
    await using loaded = await one.loadLora(damaged);
    await one.complete("a", { maxTokens: 2, lora: [{ adapter: loaded, scale: 1 }] });
  };
};

const whisper: Kind = () => {
  const { bytes, headerBytes } = smallModel();
  return async (below) => {
    await using one = await loadWhisper(mutateBytes(bytes, below, headerBytes), { threads: 1 });
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
];

const recording: Kind = () => async (below) => {
  await decodeAudio(mutateBytes(recordings[below(recordings.length)] ?? new Uint8Array(), below, 64));
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
];
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
  schemaToGrammar(mutateJson(schemas[below(schemas.length)], below, jsonValues) as never);
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
  const text = mutateText(grammars[below(grammars.length)] ?? "", below, grammarWords);
  matchesGrammar(parseGrammar(text), "ab");
};

/** What a right server answers to `hello`, to the count of devices, and to the memory of the first. */
const answers = ((): Uint8Array => {
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

const rpc: Kind = async () => {
  let damaged: Uint8Array = answers;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(damaged));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return async (below) => {
    damaged = mutateBytes(answers, below);
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
  const source = mutateText(templates[below(templates.length)] ?? "", below, templateWords);
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
  const characters = [...mutateText(text, below, callWords)];
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
