/**
 * Conversations as chat templates know them.
 *
 * @module
 */

import type { ChatMessage } from "./message.ts";
import type { TemplateTraits } from "../thread/template/traits.ts";
import type { Tool } from "../tools/tool.ts";

/** The conversation that a template gets. */
export interface TemplateConversation {
  /** The messages. */
  messages: Record<string, unknown>[];
  /** The tools. */
  tools: Record<string, unknown>[];
}

/** A conversation in the form that a template can show: what it has no place for is put into the messages as text. */
export function templateConversation(
  messages: readonly ChatMessage[],
  tools: readonly Tool[],
  traits: TemplateTraits,
): TemplateConversation {
  const told = traits.tools ? messages : withInstructions(messages, tools);
  const shown = traits.system ? told : withoutSystem(told);
  const made = shown.map((message) => templateMessage(message, traits));
  return {
    messages: traits.parts ? made.map(withParts) : made,
    tools: traits.tools ? tools.map(templateTool) : [],
  };
}

/** A message whose content is a list of parts. */
export function withParts(message: { readonly content?: unknown }): Record<string, unknown> {
  return { ...message, content: [{ type: "text", text: message.content }] };
}

function templateTool({ name, description, parameters }: Tool): Record<string, unknown> {
  return { type: "function", function: { name, description, parameters } };
}

function templateMessage(message: ChatMessage, { calls, results }: TemplateTraits): Record<string, unknown> {
  const { role, content, reasoning, toolCalls = [], toolCallId, name } = message;
  const thought = reasoning === undefined ? {} : {
    reasoning_content: reasoning,
    // Templates that know the name refuse it beside text and calls.
    ...(toolCalls.length === 0 || content === "" ? { thinking: reasoning } : {}),
  };
  if (role === "tool") {
    if (results) return { role, content, tool_call_id: toolCallId ?? "", name: name ?? "" };
    return { role: "user", content: `The tool ${name ?? ""} gave this, use it to answer: ${content}` };
  }
  if (toolCalls.length === 0) return { role, content, ...thought };
  if (calls === undefined) {
    return { role, content: [content, ...toolCalls.map(callText)].join("\n").trim(), ...thought };
  }
  const tool_calls = toolCalls.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: calls === "object" ? call.arguments : JSON.stringify(call.arguments) },
  }));
  return { role, content, ...thought, tool_calls };
}

function callText(call: { name: string; arguments: unknown }): string {
  return `<tool_call>\n${JSON.stringify({ name: call.name, arguments: call.arguments })}\n</tool_call>`;
}

/** Tells a model of the tools whose template doesn't. */
function withInstructions(messages: readonly ChatMessage[], tools: readonly Tool[]): ChatMessage[] {
  if (tools.length === 0) return [...messages];
  const list = tools.map((tool) => JSON.stringify(templateTool(tool)["function"])).join("\n");
  const words = `You can call these tools, each given by its name and the JSON Schema of its parameters:
${list}

To call one, write a line with its name and arguments as JSON between tags, and nothing after it:
<tool_call>
{"name": "the tool's name", "arguments": {"the parameter's name": "its value"}}
</tool_call>
What the tool gives comes with the next message. When no tool is needed, answer at once.`;
  const [first, ...rest] = messages;
  if (first?.role === "system") return [{ role: "system", content: `${first.content}\n\n${words}` }, ...rest];
  return [{ role: "system", content: words }, ...messages];
}

/** Puts the system messages at the start before the first message of the user, for a template that has no place for them. Later ones stay as they are. */
function withoutSystem(messages: readonly ChatMessage[]): ChatMessage[] {
  const start = messages.findIndex(({ role }) => role !== "system");
  const system = (start < 0 ? messages : messages.slice(0, start)).map(({ content }) => content);
  const others = messages.slice(system.length);
  const at = others.findIndex(({ role }) => role === "user");
  if (system.length === 0) return others;
  if (at < 0) return [{ role: "user", content: system.join("\n") }, ...others];
  return others.map((message, index) =>
    index === at ? { ...message, content: [...system, message.content].join("\n") } : message
  );
}
