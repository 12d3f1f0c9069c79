/** A model without weights, whose answers are written in advance. */

import type { ChatHost } from "../../../lib/llama/chat/chat.ts";
import type { ChatOptions } from "../../../lib/llama/chat/options.ts";
import type { GenerationResult } from "../../../lib/llama/generation/generation.ts";
import type { GenerationSettings } from "../../../lib/llama/generation/options.ts";
import { renderTemplate } from "../../../lib/llama/thread/template/render.ts";
import { templateTraits } from "../../../lib/llama/thread/template/traits.ts";

/** A template that knows tools and thoughts. */
const template = `{% for t in tools %}[tool {{ t.function.name }}]{% endfor %}{% for m in messages -%}
<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls %}<tool_call>{{ c.function | tojson }}</tool_call>{% endfor %}{% if m.tool_call_id %}#{{ m.tool_call_id }}{% endif %}
{% endfor %}<assistant>{# <think> #}`;

/** A model that gives these answers, piece by piece; "…" at the end of one cuts it off. */
export function scripted(...answers: string[]): { host: ChatHost; asked: string[]; settings: GenerationSettings[] } {
  const asked: string[] = [];
  const settings: GenerationSettings[] = [];
  return {
    asked,
    settings,
    host: {
      template,
      during: (work) => work(),
      vocabulary: () => Promise.resolve({ special: [], startToken: "", endToken: "" }),
      render: (input) => renderTemplate(input),
      traits: (input) => templateTraits(input),
      generate(prompt, given, _owner, signal, sink) {
        asked.push(prompt.kind === "template" ? prompt.text : "");
        settings.push(given);
        const text = answers.shift() ?? "";
        if (Atomics.load(sink.wanted, 0) === 1) { for (const piece of text.match(/.{1,5}/gsu) ?? []) sink.push(piece); }
        signal.throwIfAborted();
        return Promise.resolve(result(text.replace("…", ""), text.endsWith("…")));
      },
    },
  };
}

function result(text: string, isCut: boolean): GenerationResult {
  const timings = { waitMs: 0, firstPieceMs: 1, promptMs: 1, generationMs: 1, promptTokens: 1, reusedTokens: 0 };
  const rates = { generatedTokens: 1, promptTokensPerSecond: 1, generatedTokensPerSecond: 1 };
  return { text, tokens: [1], stopReason: isCut ? "maxTokens" : "eos", seed: 1, timings: { ...timings, ...rates } };
}

/** An answer that calls a tool. */
export const call = (args: unknown, name = "add"): string =>
  `<tool_call>{"name": "${name}", "arguments": ${JSON.stringify(args)}}</tool_call>`;
/** The schema of two integers. */
export const numbers = {
  type: "object",
  properties: { a: { type: "integer" }, b: { type: "integer" } },
  required: ["a", "b"],
};
/** A tool that adds. */
export const adding = {
  add: { description: "Adds", parameters: numbers, handler: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }) },
} as unknown as NonNullable<ChatOptions["tools"]>;
