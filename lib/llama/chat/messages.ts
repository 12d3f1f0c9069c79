/**
 * Conversations as chat templates know them.
 *
 * @module
 */

import type { ChatMessage } from "./message.ts";
import type { TemplateTraits } from "../thread/template/traits.ts";
import { callText } from "../tools/call_text.ts";
import type { FamilyName } from "../tools/parsers/family.ts";
import type { Tool } from "../tools/tool.ts";

/** The conversation that a template gets. */
export interface TemplateConversation {
  /** The messages. */
  messages: Record<string, unknown>[];
  /** The tools. */
  tools: Record<string, unknown>[];
}

/** What the form of a conversation depends on. */
export interface ConversationForm {
  /** What the template can do. */
  readonly traits: TemplateTraits;
  /** The family whose calls the model writes. */
  readonly family: FamilyName;
  /** The template. */
  readonly source: string;
}

/** A conversation in the form that a template can show: what it has no place for is put into the messages as text. */
export function templateConversation(
  messages: readonly ChatMessage[],
  tools: readonly Tool[],
  form: ConversationForm,
): TemplateConversation {
  const { traits } = form;
  const told = traits.tools ? messages : withInstructions(messages, tools);
  const shown = traits.system ? told : withoutSystem(told);
  const single = traits.parallel ? shown : oneCallEach(shown);
  const made = (traits.results ? single : joinResults(single)).map((message) => templateMessage(message, form));
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
  // Templates go through the properties, also of a tool that has none.
  const shown = parameters["properties"] === undefined ? { ...parameters, properties: {} } : parameters;
  return { type: "function", function: { name, description, parameters: shown } };
}

/** Several calls of an answer as one after another, each with its result, for a template that refuses them at once. */
function oneCallEach(messages: readonly ChatMessage[]): ChatMessage[] {
  let shownUpTo = 0;
  return messages.flatMap((message, at): ChatMessage[] => {
    const { toolCalls = [] } = message;
    if (at < shownUpTo) return [];
    if (toolCalls.length < 2) return [message];
    const end = messages.findIndex(({ role }, index) => index > at && role !== "tool");
    shownUpTo = end < 0 ? messages.length : end;
    const results = messages.slice(at + 1, shownUpTo);
    const { reasoning: _, ...later } = { ...message, content: "" };
    return toolCalls.flatMap((call, index) => [
      { ...(index === 0 ? message : later), toolCalls: [call] },
      ...results.filter(({ toolCallId }) => toolCallId === call.id),
    ]);
  });
}

/** Results of tools as one message of the user, with the user's own words if these follow: roles may have to alternate. */
function joinResults(messages: readonly ChatMessage[]): ChatMessage[] {
  const joined: ChatMessage[] = [];
  let behindResult = false;
  for (const message of messages) {
    const isResult = message.role === "tool";
    const shown: ChatMessage = isResult ? { role: "user", content: resultWords(message) } : message;
    const last = joined.at(-1);
    if (behindResult && last !== undefined && shown.role === "user") {
      joined[joined.length - 1] = { ...last, content: `${last.content}\n\n${shown.content}` };
    } else joined.push(shown);
    behindResult = isResult;
  }
  return joined;
}

function resultWords({ name = "", content }: ChatMessage): string {
  return `The tool ${name} gave this, use it to answer: ${content}`;
}

function templateMessage(message: ChatMessage, { traits, family, source }: ConversationForm): Record<string, unknown> {
  const { calls } = traits;
  const { role, content, reasoning, toolCalls = [], toolCallId, name } = message;
  const thought = reasoning === undefined ? {} : {
    reasoning_content: reasoning,
    // Templates that know the name refuse it beside text and calls.
    ...(toolCalls.length === 0 || content === "" ? { thinking: reasoning } : {}),
  };
  if (role === "tool") return { role, content, tool_call_id: toolCallId ?? "", name: name ?? "" };
  if (toolCalls.length === 0) return { role, content, ...thought };
  if (calls === undefined) {
    return { role, content: `${content}\n${callText(toolCalls, family, source)}`.trim(), ...thought };
  }
  const tool_calls = toolCalls.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: calls === "object" ? call.arguments : JSON.stringify(call.arguments) },
  }));
  return { role, content, ...thought, tool_calls };
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
