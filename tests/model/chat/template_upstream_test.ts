/** Prompts that upstream's own test of chat templates expects, read out of it. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import type { ChatMessage } from "../../../lib/llama/chat/message.ts";
import { promptOf, upstream } from "./prompts.ts";
import { slow } from "../support.ts";

interface Case {
  name: string;
  template: string;
  expected: string;
  tokens: readonly [string, string];
  /** Whether it needs roles of its own, which a chat doesn't have. */
  ownRoles: boolean;
}

const conversation: readonly ChatMessage[] = [
  { role: "system", content: "You are a helpful assistant" },
  { role: "user", content: "Hello" },
  { role: "assistant", content: "Hi there" },
  { role: "user", content: "Who are you" },
  { role: "assistant", content: "   I am an assistant   " },
  { role: "user", content: "Another question" },
];

/** The text of a C++ string literal. */
function literal(source: string): string {
  return source.replaceAll(/\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)/g, (_, escape: string) => {
    const known: Record<string, string> = { n: "\n", t: "\t", r: "\r", '"': '"', "\\": "\\", "'": "'" };
    return known[escape] ?? String.fromCharCode(Number.parseInt(escape.replace("x", ""), escape[0] === "x" ? 16 : 8));
  });
}

function readCases(): Case[] {
  const source = readFileSync(join(upstream, "tests/test-chat-template.cpp"), "utf8");
  const list = source.slice(source.indexOf("test_cases {"), source.indexOf("formatted_chat(1024)"));
  return list.split("/* .name=").slice(1).flatMap((block) => {
    const field = (name: string): string => {
      const found = new RegExp(`/\\* \\.${name}=? ?\\*/\\s*(?:U8C\\()?"((?:[^"\\\\]|\\\\.)*)"`).exec(block);
      return literal(found?.[1] ?? "");
    };
    const name = /\*\/\s*"([^"]*)"/.exec(block)?.[1] ?? "";
    if (/supported_with_jinja= \*\/ false/.test(block)) return [];
    return [{
      name,
      template: field("template_str"),
      expected: field("expected_output_jinja") || field("expected_output"),
      tokens: [field("bos_token"), field("eos_token")] as const,
      ownRoles: block.includes(".extra_conversation"),
    }];
  });
}

/** Where a chat's prompt is another one, and why. */
const differences: Readonly<Record<string, string>> = {};

test("the prompts of upstream's test of chat templates come out", slow, async () => {
  const cases = readCases();
  assert.ok(cases.length >= 30, `${cases.length} cases were read`);
  let same = 0;
  for (const one of cases.filter(({ ownRoles }) => !ownRoles)) {
    const prompt = await promptOf(one.template, conversation, {}, one.tokens);
    const expected = one.expected.replaceAll("\r\n", "\n");
    if (differences[one.name] === undefined) assert.equal(prompt, expected, one.name);
    else assert.notEqual(prompt, expected, one.name);
    if (prompt === expected) same++;
  }
  console.log(`${same} of ${cases.length} prompts of test-chat-template.cpp; those left out have roles of their own`);
});
