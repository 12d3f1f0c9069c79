/**
 * Makes tests/oracle/chat_cases.jsonl: what upstream's `common` makes of answers of our own, for each of the templates in the fetched sources.
 * `deno run -A tests/oracle/make_chat_cases.ts`, after set-up.
 *
 * The texts of prompts are the templates' own; of them only hashes are kept.
 */

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ensureChatOracle } from "../../scripts/build/chat_oracle.ts";
import { question, type Scenario, scenarios, tools, written } from "./chat_scenarios.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "csrc/upstream/llama.cpp/models/templates");
/** How turns end: the tokens that end generation give no text. */
const turnEnds = [
  "<|im_end|>",
  "<|eot_id|>",
  "<|eom_id|>",
  "</s>",
  "<end_of_turn>",
  "<|END_OF_TURN_TOKEN|>",
  "<｜end▁of▁sentence｜>",
  "<|call|>",
  "<|return|>",
  "<|end|>",
  "<|end_of_text|>",
  "<|endoftext|>",
  "<|im_assistant|>",
  "<|user|>",
  "<|observation|>",
  "<seed:eos>",
  "<|assistant_end|>",
  "[e~[",
  "</assistant>",
  "<SPECIAL_12>",
  "<|message_sep|>",
  "<|START_OF_TURN_TOKEN|>",
  "<|CHATBOT_TOKEN|>",
  "<turn|>",
  "<end_of_sentence>",
  "<sep>",
  "<|role_end|>",
  "<|start_header_id|>assistant<|end_header_id|>",
  "<｜hy_eos:opensource｜>",
  "<|calls|>",
  "<|begin|>assistant",
  "<|eot|>",
  "<|end_of_msg|>",
];

const thoughtOpening = /(<think>|\[THINK\]|<\|START_THINKING\|>|<seed:think>|<mm:think>|<\|open\|>think<\|sep\|>)\s*$/;

type Json = Record<string, unknown>;

const program = spawn(await ensureChatOracle(), { stdio: ["pipe", "pipe", "ignore"] });
const answers = createInterface({ input: program.stdout })[Symbol.asyncIterator]();

async function ask(request: Json): Promise<Json> {
  program.stdin.write(`${JSON.stringify(request)}\n`);
  const { value } = await answers.next();
  return value === undefined ? { error: "the oracle ended" } : JSON.parse(value) as Json;
}

function assistant({ content, reasoning, calls }: Scenario): Json {
  return {
    role: "assistant",
    content,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

/** The text that a model would have generated: what the template makes of the answer, behind the prompt for it. */
async function generated(base: Json, prompt: string, scenario: Scenario): Promise<string | undefined> {
  const messages = [question, assistant(scenario)];
  const { prompt: whole } = await ask({ ...base, messages, addGenerationPrompt: false });
  if (typeof whole !== "string") return undefined;
  let start = prompt;
  // Templates that open the reasoning in the prompt leave it out when there is none.
  if (!whole.startsWith(start)) start = prompt.replace(/<think>\s*$/, "");
  if (!whole.startsWith(start)) return undefined;
  let text = whole.slice(start.length);
  if (start !== prompt) text = text.replace(/^<think>\s*/, "");
  for (let before = ""; before !== text;) {
    before = text;
    text = text.replace(/\n$/, "");
    const end = turnEnds.find((one) => text.endsWith(one));
    if (end !== undefined) text = text.slice(0, -end.length);
  }
  return text === "" ? undefined : text;
}

const hash = (text: unknown): string => createHash("sha256").update(String(text)).digest("hex").slice(0, 16);
const cases: Json[] = [];
const prompts: Json[] = [];

for (const file of readdirSync(folder).filter((name) => name.endsWith(".jinja")).sort()) {
  const template = file.replace(/\.jinja$/, "");
  const plain = tools.filter((tool) => tool.function.name !== "find_user");
  let base = { template: join(folder, file), tools, bos: "", eos: "" };
  let first = await ask({ ...base, messages: [question] });
  // Some templates can't show a tool with alternatives in upstream's engine.
  if (typeof first["prompt"] !== "string") {
    first = await ask({ ...base = { ...base, tools: plain }, messages: [question] });
  }
  const { prompt, generationPrompt, error } = first;
  if (typeof prompt !== "string") {
    console.error(`${template}: ${error}`);
    continue;
  }
  const opens = thoughtOpening.test(String(generationPrompt));
  const texts: [string, string][] = [];
  for (const scenario of scenarios) {
    const known = base.tools.map((tool) => tool.function.name);
    if (!scenario.calls.every((call) => known.includes(call.function.name))) continue;
    const text = await generated(base, prompt, scenario);
    if (text !== undefined) texts.push([scenario.name, text]);
  }
  for (const [name, text] of written) if (name === template) texts.push(["written", text]);
  for (const [name, text] of texts) {
    const expected = await ask({ ...base, messages: [question], text });
    cases.push({ template, name, opens, text, expected });
  }
  for (const [name, messages] of conversations()) {
    const { prompt: made, error: refused } = await ask({ ...base, tools: [], messages });
    prompts.push({ template, name, ...(refused === undefined ? { hash: hash(made) } : { refused: true }) });
  }
}
program.stdin.end();

function conversations(): [string, Json[]][] {
  const system = { role: "system", content: "Answer briefly." };
  const answer = { role: "assistant", content: "Warm." };
  return [
    ["question", [question]],
    ["system", [system, question]],
    ["turns", [question, answer, { role: "user", content: "And in Oslo? <b>now</b>" }]],
    ["system and turns", [system, question, answer, { role: "user", content: "  And in Oslo?  " }]],
  ];
}

/** The date that the templates got, which some write. */
const now = new Date();
const [day, month, year] = [
  String(now.getDate()).padStart(2, "0"),
  now.toLocaleString("en-GB", { month: "short" }).slice(0, 3),
  now.getFullYear(),
];
const date = { date_string: `${day} ${month} ${year}`, datetime: `${month} ${day} ${year}` };

const path = join(root, "tests/oracle/chat_cases.jsonl");
writeFileSync(path, [{ date }, ...prompts, ...cases].map((line) => `${JSON.stringify(line)}\n`).join(""));
console.log(`${cases.length} answers, ${prompts.length} prompts`);
