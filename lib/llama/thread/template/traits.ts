/**
 * What a chat template can do, found out by rendering small conversations with it.
 *
 * @module
 */

import { ChatTemplateError } from "../../../errors.ts";
import { type RenderInput, type RenderSettings, renderTemplate } from "./render.ts";

/** What a chat template can do. */
export interface TemplateTraits {
  /** Whether it has a place for a system message. */
  readonly system: boolean;
  /** Whether it tells the model of tools. */
  readonly tools: boolean;
  /** Whether it shows calls of tools, and how it wants their arguments: as an object, or as JSON text. */
  readonly calls: "object" | "text" | undefined;
  /** Whether it shows what tools gave. */
  readonly results: boolean;
}

/** What the traits are found out of. */
export type TraitsInput = Pick<RenderInput, "source" | "startToken" | "endToken">;

const question = { role: "user", content: "probe-question" };
const answer = { role: "assistant", content: "probe-answer" };
const parameters = { type: "object", properties: { probe_key: { type: "string" } }, required: ["probe_key"] };
const tool = {
  type: "function",
  function: { name: "probe_tool", description: "Probes", parameters },
};
const result = { role: "tool", content: "probe-result", tool_call_id: "probe0000", name: "probe_tool" };

function call(args: unknown): object {
  const calls = [{ id: "probe0000", type: "function", function: { name: "probe_tool", arguments: args } }];
  return { role: "assistant", content: "", tool_calls: calls };
}

let known: { source: string; traits: TemplateTraits } | undefined;

/** Finds out what a template can do. A template that fails at everything can do nothing. */
export async function templateTraits(input: TraitsInput, settings: RenderSettings = {}): Promise<TemplateTraits> {
  if (known?.source !== input.source) known = { source: input.source, traits: await probe(input, settings) };
  return known.traits;
}

async function probe(input: TraitsInput, settings: RenderSettings): Promise<TemplateTraits> {
  const render = async (messages: readonly object[], tools: readonly object[] = []): Promise<string> => {
    try {
      return await renderTemplate({ ...input, messages, tools }, settings);
    } catch (error) {
      if (error instanceof ChatTemplateError) return "";
      throw error;
    }
  };
  const system = (await render([{ role: "system", content: "probe-system" }, question])).includes("probe-system");
  const tools = (await render([question], [tool])).includes("probe_tool");
  const asObject = await render([question, call({ probe_key: "probe-value" }), result, answer, question], [tool]);
  if (shows(asObject)) return { system, tools, calls: "object", results: asObject.includes("probe-result") };
  const asText = await render([question, call('{"probe_key":"probe-value"}'), result, answer, question], [tool]);
  const calls = shows(asText) ? "text" : undefined;
  return { system, tools, calls, results: calls !== undefined && asText.includes("probe-result") };
}

/** Whether a call is there with its argument. */
function shows(text: string): boolean {
  return text.includes("probe-value") && text.split("probe_tool").length > 2;
}
