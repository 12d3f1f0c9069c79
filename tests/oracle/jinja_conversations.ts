/** Conversations that chat templates are compared with: tools of every form, histories with their calls, thoughts, odd contents. */

const places = { type: "array", items: { type: "string" }, description: "Names of places", default: ["Rome", "Oslo"] };

/** Tools with enum, array, nested object, default, type list and anyOf. */
export const richTools: readonly object[] = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: 'Tells the weather of places.\nUse it for "today" & tomorrow.',
      parameters: {
        type: "object",
        properties: {
          places,
          unit: { type: "string", enum: ["celsius", "fahrenheit"], description: "The unit", default: "celsius" },
          days: { type: ["integer", "null"], minimum: 1, description: "Days from now" },
          when: { anyOf: [{ type: "string", format: "date" }, { type: "null" }], description: "The date" },
          options: {
            type: "object",
            description: "More",
            properties: { wind: { type: "boolean", default: false }, level: { type: "number", enum: [0.5, 1, 2] } },
            required: ["wind"],
          },
        },
        required: ["places", "unit"],
      },
    },
  },
  {
    type: "function",
    function: { name: "now", description: "The time", parameters: { type: "object", properties: {} } },
  },
  {
    type: "function",
    function: {
      name: "write_file",
      description: "Writes a file",
      parameters: {
        type: "object",
        properties: { path: { type: "string" }, lines: { type: "array", items: { type: "object" } } },
        required: ["path"],
      },
    },
  },
];

type Message = Readonly<Record<string, unknown>>;

const system: Message = { role: "system", content: "Answer briefly." };
const question: Message = { role: "user", content: "What is the weather like in Rome?" };
const answer: Message = { role: "assistant", content: "Warm." };

function call(index: number, name: string, args: unknown): object {
  return { id: `call0000${index}`, type: "function", function: { name, arguments: args } };
}

function result(index: number, name: string, content: unknown): Message {
  return { role: "tool", tool_call_id: `call0000${index}`, name, content };
}

const rich = {
  places: ["Rome", "Sao Paulo"],
  unit: "celsius",
  days: null,
  options: { wind: true, level: 0.5 },
};
const callRich: Message = { role: "assistant", content: "", tool_calls: [call(0, "get_weather", rich)] };
const resultRich = result(0, "get_weather", '{"Rome": 21.5, "wind": [1, 2]}');
const again: Message = { role: "user", content: "And in Oslo?" };
const parts = (text: string): object[] => [{ type: "text", text }];

/** A conversation by name, with its tools. */
export interface Conversation {
  /** Its name. */
  readonly name: string;
  /** The variables of the template. */
  readonly variables: Readonly<Record<string, unknown>>;
}

function conversation(
  name: string,
  messages: readonly Message[],
  more: Readonly<Record<string, unknown>> = {},
): Conversation {
  return {
    name,
    variables: {
      messages,
      add_generation_prompt: messages.at(-1)?.["role"] !== "assistant",
      bos_token: "<s>",
      eos_token: "</s>",
      ...more,
    },
  };
}

const tools = { tools: richTools };

/** All of them. */
export const jinjaConversations: readonly Conversation[] = [
  conversation("question", [question]),
  conversation("system", [system, question]),
  conversation("turns", [system, question, answer, again]),
  conversation("tools", [system, question], tools),
  conversation("tools without system", [question], tools),
  conversation("call with list and object", [question, callRich, resultRich], tools),
  conversation("call with text arguments", [
    question,
    { ...callRich, tool_calls: [call(0, "get_weather", JSON.stringify(rich))] },
    resultRich,
  ], tools),
  conversation("two rounds", [
    system,
    question,
    callRich,
    resultRich,
    { role: "assistant", content: "21 degrees." },
    again,
    {
      role: "assistant",
      content: "I look.",
      tool_calls: [call(1, "now", {}), call(2, "write_file", { path: "ä.txt", lines: [{ n: 1 }] })],
    },
    result(1, "now", "12:00"),
    result(2, "write_file", "ok"),
  ], tools),
  conversation("calls without tools", [question, callRich, resultRich, answer, again]),
  conversation("thoughts", [
    question,
    { role: "assistant", content: "Warm.", reasoning_content: "It is summer.\nSure." },
    again,
  ]),
  conversation("thoughts in the text", [
    question,
    { role: "assistant", content: "<think>\nIt is summer.\n</think>\n\nWarm." },
    again,
  ]),
  conversation("thought and call", [
    question,
    { ...callRich, reasoning_content: "I need the weather." },
    resultRich,
  ], tools),
  conversation("no thinking", [system, question], { enable_thinking: false }),
  conversation("several system messages", [
    system,
    question,
    answer,
    { role: "system", content: "Now in verse." },
    again,
  ]),
  conversation("two system messages at the start", [system, { role: "system", content: "Now in verse." }, question]),
  conversation("contents as parts", [
    { role: "system", content: parts("Answer briefly.") },
    { role: "user", content: parts("What is the weather like?") },
    { role: "assistant", content: parts("Warm.") },
    { role: "user", content: [...parts("And"), ...parts(" in Oslo?")] },
  ]),
  conversation("result as parts", [question, callRich, result(0, "get_weather", parts("21 degrees"))], tools),
  conversation("empty contents", [{ role: "system", content: "" }, { role: "user", content: "" }, {
    role: "assistant",
    content: "",
  }, again]),
  conversation("content of a call is null", [question, { ...callRich, content: null }, resultRich], tools),
  conversation("every script", [
    { role: "system", content: "Отвечай по-русски. 回答。 أجب 🙂" },
    { role: "user", content: "  '\"<&>\\ {{ x }} {% y %}\t日本語 👩‍👩‍👧\n\n" },
    { role: "assistant", content: "ﬁ ß İ ǆ" },
    { role: "user", content: "é\u0301\u00a0" },
  ]),
  conversation("answer at the end", [question, answer]),
  conversation("unknown role", [question, { role: "narrator", content: "It rains." }]),
  conversation("no messages", []),
];
