/** What upstream's `common` makes of conversations and answers of our own (tests/oracle/), for every template of the fetched sources. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { findAnswerForm } from "../../../lib/llama/chat/answer_forms.ts";
import type { ChatMessage } from "../../../lib/llama/chat/message.ts";
import type { PromptHost } from "../../../lib/llama/chat/prompt.ts";
import { type RenderInput, renderTemplate } from "../../../lib/llama/thread/template/render.ts";
import { templateTraits } from "../../../lib/llama/thread/template/traits.ts";
import { AnswerParser } from "../../../lib/llama/tools/parsers/answer_parser.ts";
import type { AnswerForm } from "../../../lib/llama/tools/parsers/detect.ts";
import { matchesGrammar, parseGrammar } from "../../../lib/gbnf/mod.ts";
import { toolGrammar } from "../../../lib/llama/tools/grammar.ts";
import { toolShapes } from "../../../lib/llama/tools/parsers/shapes.ts";
import type { ParseEvent } from "../../../lib/llama/tools/parsers/sink.ts";
import { tools } from "../../oracle/chat_scenarios.ts";
import { promptOf, upstreamTemplate } from "./prompts.ts";
import { root, slow } from "../support.ts";

interface Found {
  content: string;
  reasoning: string;
  toolCalls: { name: string; arguments: string }[];
}

interface Line {
  date?: { date_string: string; datetime: string };
  template: string;
  name: string;
  hash?: string;
  refused?: boolean;
  opens?: boolean;
  text?: string;
  expected?: Found & { error?: string };
}

const [first, ...lines] = readFileSync(join(root, "tests/oracle/chat_cases.jsonl"), "utf8").trim().split("\n")
  .map((line) => JSON.parse(line) as Line);

/** The day on which the cases were made. */
const now = new Date(`${first?.date?.date_string ?? ""} 12:00`);

const question: ChatMessage = { role: "user", content: "What is the weather like in Rome?" };
const system: ChatMessage = { role: "system", content: "Answer briefly." };
const answer: ChatMessage = { role: "assistant", content: "Warm." };
const conversations: Record<string, ChatMessage[]> = {
  question: [question],
  system: [system, question],
  turns: [question, answer, { role: "user", content: "And in Oslo? <b>now</b>" }],
  "system and turns": [system, question, answer, { role: "user", content: "  And in Oslo?  " }],
};

/** Prompts that are others here, and why. */
const otherPrompts: Readonly<Record<string, string>> = {
  "StepFun3.5-Flash: system and turns": "upstream trims messages for this template alone",
};

test("prompts are those of upstream's common", slow, async () => {
  let same = 0;
  const cases = lines.filter(({ hash }) => hash !== undefined);
  for (const { template, name, hash } of cases) {
    const prompt = await promptOf(
      upstreamTemplate(template),
      conversations[name] ?? [],
      { ...first?.date },
      ["", ""],
      now,
    );
    const isSame = createHash("sha256").update(prompt).digest("hex").slice(0, 16) === hash;
    if (isSame) same++;
    assert.equal(isSame, otherPrompts[`${template}: ${name}`] === undefined, `${template}: ${name}: ${prompt}`);
  }
  console.log(`${same} of ${cases.length} prompts are upstream's`);
});

/** Answers that are read otherwise here, and why. */
const otherAnswers: readonly (readonly [template: RegExp, name: RegExp, why: string])[] = [
  [
    /Seed-OSS|Qwen3-Coder|Qwen3\.5|StepFun|Nemotron-3/,
    /text of every kind|lists and objects/,
    "True, 'text' and {'key': 1} are Python: read here, refused there",
  ],
  [
    /functionary-medium-v3\.2/,
    /text and a call|two calls|written/,
    "text before a call, and calls after one another, are found here",
  ],
  [/Llama-3\.[123]/, /text of several lines/, "text with a brace is text here, an error there"],
  [/R1-Distill-Llama/, /written/, "calls are found here though the template has no tools"],
  [/granite-3\.3/, /written/, "calls are found here, text there"],
  [/Solar/, /call/, "calls are found here, an error there"],
  [/MiniMax-M1/, /two calls/, "both calls are found here, an error there"],
  [
    /LFM2\.5-8B/,
    /text of every kind/,
    "a line break in an argument is written as \\n here; what comes there is no JSON",
  ],
  [/Kimi-K3/, /number or null/, "a number for anyOf: [integer, null] is a number here, text there"],
  [/ling-3\.0/, /looks like a number/, "123 for anyOf: [string, null] is text here, a number there"],
  [/gemma-4-31B-it$/, /text and a call/, "text behind a call is kept here, dropped there"],
];

/** The form of the answers of a template, found by what it renders. */
async function formOf(template: string): Promise<AnswerForm> {
  const source = upstreamTemplate(template);
  const tokens = { startToken: "", endToken: "" };
  const host = { render: (input: RenderInput) => renderTemplate(input) } as unknown as PromptHost;
  const traits = await templateTraits({ source, ...tokens });
  const vocabulary = { special: [], ...tokens };
  const input = { source, variables: {}, tools: true };
  return await findAnswerForm(host, input, traits, vocabulary, new AbortController().signal);
}

test("answers are read as upstream's common reads them", slow, async () => {
  const forms = new Map<string, AnswerForm>();
  const shapes = toolShapes(tools.map((tool) => tool.function));
  const cases = lines.filter(({ expected }) => expected !== undefined);
  const others = new Map<string, number>();
  let same = 0;
  for (const { template, name, text = "", opens = false, expected } of cases) {
    const form = forms.get(template) ?? await formOf(template);
    forms.set(template, form);
    const parser = new AnswerParser(form, shapes, { inReasoning: opens });
    const found = foundIn(parser, [...parser.push(text), ...parser.finish()]);
    const why = otherAnswers.find(([one, which]) => one.test(template) && which.test(name))?.[2];
    if (expected?.error === undefined && JSON.stringify(found) === JSON.stringify(plain(expected))) same++;
    else {
      assert.ok(
        why !== undefined,
        `${template}: ${name}: ${text}\n${JSON.stringify(found)}\n${JSON.stringify(expected)}`,
      );
      others.set(why, (others.get(why) ?? 0) + 1);
    }
  }
  console.log(`${same} of ${cases.length} answers are read as upstream reads them; the others:`);
  for (const [why, count] of others) console.log(`  ${count}: ${why}`);
  assert.ok(same >= 814);
});

/** Calls that a template writes and its grammar doesn't take, and why. */
const otherGrammars: readonly (readonly [template: RegExp, name: RegExp, why: string])[] = [
  [/LFM2\.5/, /lists within objects/, "text within a list is JSON, not Python's"],
  [/gemma-4-31B-it$/, /text and a call/, "that template writes text behind a call"],
];

test("the grammar for a template takes the calls that it writes", slow, async () => {
  const given = tools.map((tool) => tool.function);
  const cases = lines.filter(({ expected, name }) => (expected?.toolCalls ?? []).length > 0 && name !== "written");
  const grammars = new Map<string, ReturnType<typeof toolGrammar>>();
  const others = new Map<string, number>();
  const without = new Set<string>();
  let taken = 0;
  for (const { template, name, text = "", opens = false } of cases) {
    const key = `${template} ${opens}`;
    if (!grammars.has(key)) {
      const form = await formOf(template);
      const source = upstreamTemplate(template);
      const shapes = toolShapes(given);
      const settings = { parallel: true, required: false, inReasoning: false };
      grammars.set(key, toolGrammar({ form, template: source, tools: given, shapes, ...settings }));
    }
    const grammar = grammars.get(key);
    if (grammar === undefined) {
      without.add(template);
      continue;
    }
    const starts = grammar.triggers.map((trigger) => {
      if (typeof trigger === "string") return text.indexOf(trigger);
      return new RegExp(trigger.source, "d").exec(text)?.indices?.[1]?.[0] ?? -1;
    });
    const start = starts.find((at) => at >= 0) ?? text.length;
    const isTaken = start < text.length && matchesGrammar(parseGrammar(grammar.source), text.slice(start).trimEnd());
    if (isTaken) taken++;
    const why = otherGrammars.find(([one, which]) => one.test(template) && which.test(name))?.[2];
    assert.ok(isTaken || why !== undefined, `${template}: ${name}: ${text}`);
    if (!isTaken && why !== undefined) others.set(why, (others.get(why) ?? 0) + 1);
  }
  console.log(
    `${taken} of ${cases.length} calls are taken; templates without a grammar: ${[...without].join(", ")}; others:`,
  );
  for (const [why, count] of others) console.log(`  ${count}: ${why}`);
  assert.ok(taken >= 496);
});

function foundIn({ calls }: AnswerParser, events: readonly ParseEvent[]): Found {
  const textOf = (type: "text" | "reasoning"): string =>
    events.map((event) => event.type === type ? event.text : "").join("").trim();
  const toolCalls = calls.filter(({ complete }) => complete).map((call) => ({
    name: call.name,
    arguments: normal(call.arguments),
  }));
  return { content: textOf("text"), reasoning: textOf("reasoning"), toolCalls };
}

function plain(found: Found | undefined): Found {
  return {
    content: found?.content.trim() ?? "",
    reasoning: found?.reasoning.trim() ?? "",
    toolCalls: (found?.toolCalls ?? []).map((call) => ({ name: call.name, arguments: normal(call.arguments) })),
  };
}

function normal(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
}
