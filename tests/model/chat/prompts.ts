/** Prompts of chats without a model. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type PromptHost, PromptMaker } from "../../../lib/llama/chat/prompt.ts";
import type { ChatMessage } from "../../../lib/llama/chat/message.ts";
import { renderTemplate } from "../../../lib/llama/thread/template/render.ts";
import { templateTraits } from "../../../lib/llama/thread/template/traits.ts";
import { root } from "../support.ts";

/** The fetched sources. */
export const upstream: string = join(root, "csrc/upstream/llama.cpp");

/** A template of the fetched sources. */
export function upstreamTemplate(name: string): string {
  return readFileSync(join(upstream, "models/templates", `${name}.jinja`), "utf8");
}

/** The prompt that a chat makes, but for the tokens that nothing in the messages can look like. */
export async function promptOf(
  template: string,
  messages: readonly ChatMessage[],
  variables: Record<string, unknown> = {},
  [startToken, endToken]: readonly [string, string] = ["", ""],
  now: Date = new Date(),
): Promise<string> {
  const host: PromptHost = {
    template,
    vocabulary: () => Promise.resolve({ special: [], startToken, endToken }),
    render: (input) => renderTemplate(input, { now }),
    traits: (input) => templateTraits(input),
  };
  const made = await new PromptMaker(host, undefined).make(
    { messages, tools: [], variables, prefill: "" },
    new AbortController().signal,
  );
  return made.prompt.kind === "template" ? made.prompt.text : "";
}
