/** Conversations and answers of our own, from which the cases are made. */

/** A call in a message, as other programs write it. */
export interface ScenarioCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** What a model might say. */
export interface Scenario {
  name: string;
  content: string;
  reasoning?: string;
  calls: ScenarioCall[];
}

const text = { type: "string" };

/** The tools of all scenarios. */
export const tools = [
  tool("get_weather", "The weather of a place", { city: text, days: { type: "integer" } }, ["city"]),
  tool("write_file", "Writes a file", { path: text, text, overwrite: { type: "boolean" } }, ["path", "text"]),
  tool("plot", "Draws points", {
    points: { type: "array", items: { type: "number" } },
    style: { type: "object", properties: { colour: text } },
  }, ["points"]),
  tool("now", "The time", {}, []),
  tool("find_user", "Finds a user", {
    name: { anyOf: [text, { type: "null" }] },
    code: { anyOf: [{ type: "null" }, text] },
    age: { anyOf: [{ type: "integer" }, { type: "null" }] },
    kind: { enum: ["guest", "member"] },
    tags: { type: "array", items: text },
    address: {
      type: "object",
      properties: { street: text, numbers: { type: "array", items: { type: "integer" } } },
    },
  }, []),
];

function tool(name: string, description: string, properties: Record<string, unknown>, required: string[]) {
  return { type: "function", function: { name, description, parameters: { type: "object", properties, required } } };
}

function call(index: number, name: string, args: unknown): ScenarioCall {
  return { id: `call${index}abcd`.slice(0, 9), type: "function", function: { name, arguments: JSON.stringify(args) } };
}

const rome = call(0, "get_weather", { city: "Rome", days: 3 });
const oslo = call(1, "get_weather", { city: "Oslo" });
const file = call(0, "write_file", {
  path: 'notes/über "quoted".txt',
  text: "first line\nsecond <b>line</b> with {braces}, [brackets] and 🌍",
  overwrite: true,
});
const plot = call(0, "plot", { points: [1, 2.5, -3e2], style: { colour: "dark red" } });
const user = (args: unknown): ScenarioCall => call(0, "find_user", args);

/** The scenarios. */
export const scenarios: readonly Scenario[] = [
  { name: "text", content: "It is a fine day.", calls: [] },
  { name: "text of several lines", content: "Dear all,\n\n- one\n- two {2}\n\nYours", calls: [] },
  { name: "a call", content: "", calls: [rome] },
  { name: "text and a call", content: "I will look it up.", calls: [rome] },
  { name: "two calls", content: "", calls: [rome, oslo] },
  { name: "a call with text of every kind", content: "", calls: [file] },
  { name: "a call with lists and objects", content: "", calls: [plot] },
  { name: "a call without arguments", content: "", calls: [call(0, "now", {})] },
  { name: "a call with text that looks like a number", content: "", calls: [user({ name: "123", code: "45" })] },
  { name: "a call with a number or null", content: "", calls: [user({ name: "Ada", age: 36 })] },
  {
    name: "a call with lists within objects",
    content: "",
    calls: [user({ kind: "guest", tags: ["a b", "7"], address: { street: "Via Appia", numbers: [1, 22] } })],
  },
  { name: "reasoning and text", content: "It is Rome.", reasoning: "The capital of Italy is Rome.\nSure.", calls: [] },
  { name: "reasoning and a call", content: "", reasoning: "I need the weather.", calls: [rome] },
];

/** What the user says first. */
export const question = { role: "user", content: "What is the weather like in Rome?" };

/** Answers as their families write them, right and not quite right. Each says which template's family it is for. */
export const written: readonly (readonly [template: string, text: string])[] = [
  ["Qwen-Qwen2.5-7B-Instruct", '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'],
  ["Qwen-Qwen2.5-7B-Instruct", 'Sure.\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'],
  ["Qwen-Qwen2.5-7B-Instruct", "no call: <tool_cal or {braces}"],
  [
    "Qwen-Qwen2.5-7B-Instruct",
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
  ],
  ["Qwen-Qwen3-0.6B", "<think>\nHm.\n</think>\n\nHello."],
  [
    "Qwen-Qwen3-0.6B",
    '<think>\nI should look.\n</think>\n\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome", "days": 2}}\n</tool_call>',
  ],
  [
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "O\'Fallon"}}\n</tool_call>',
  ],
  ["meta-llama-Llama-3.1-8B-Instruct", '{"name": "get_weather", "parameters": {"city": "Rome"}}'],
  ["meta-llama-Llama-3.1-8B-Instruct", "Rome is warm."],
  ["meta-llama-Llama-3.3-70B-Instruct", '{"name": "plot", "parameters": {"points": [1, 2]}}'],
  [
    "mistralai-Mistral-Nemo-Instruct-2407",
    '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Rome"}, "id": "abcdef123"}]',
  ],
  ["Mistral-Small-3.2-24B-Instruct-2506", '[TOOL_CALLS]get_weather[CALL_ID]abcdef123[ARGS]{"city": "Rome"}'],
  ["unsloth-mistral-Devstral-Small-2507", '[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}'],
  ["mistralai-Ministral-3-14B-Reasoning-2512", '[THINK]Hm.[/THINK][TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}'],
  ["meetkai-functionary-medium-v3.1", '<function=get_weather>{"city": "Rome"}</function>'],
  ["meetkai-functionary-medium-v3.2", 'get_weather\n{"city": "Rome"}'],
  ["meetkai-functionary-medium-v3.2", 'all\nI will look.\n>>>get_weather\n{"city": "Rome"}'],
  ["meetkai-functionary-medium-v3.2", "all\nHello."],
  [
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
    '<|START_THINKING|>I look.<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Rome"}}\n]<|END_ACTION|>',
  ],
  [
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
    "<|START_THINKING|>I know.<|END_THINKING|><|START_RESPONSE|>Rome.<|END_RESPONSE|>",
  ],
  [
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
    'I look.</think><｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Rome"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  ["deepseek-ai-DeepSeek-R1-Distill-Qwen-32B", "I know.\n</think>\n\nIt is Rome."],
  [
    "deepseek-ai-DeepSeek-V3.1",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Rome"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  ["openai-gpt-oss-120b", "<|channel|>final<|message|>Rome."],
  [
    "openai-gpt-oss-120b",
    "<|channel|>analysis<|message|>The user asks.<|end|><|start|>assistant<|channel|>final<|message|>Rome.",
  ],
  [
    "openai-gpt-oss-120b",
    '<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Rome"}',
  ],
  ["openai-gpt-oss-120b", ' to=functions.get_weather<|channel|>commentary json<|message|>{"city": "Rome"}'],
  [
    "openai-gpt-oss-120b",
    '<|channel|>commentary<|message|>I will look.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather<|message|>{"city": "Rome"}',
  ],
  [
    "Qwen3-Coder",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
  ],
  [
    "Qwen3-Coder",
    "Writing.\n<tool_call>\n<function=write_file>\n<parameter=path>\na.txt\n</parameter>\n<parameter=text>\none\n\n  <two>\n</parameter>\n</function>\n</tool_call>",
  ],
  [
    "Qwen3-Coder",
    "<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>",
  ],
  [
    "GLM-4.6",
    "<think>Hm.</think>\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n</tool_call>",
  ],
  [
    "Kimi-K2-Thinking",
    '<think>Hm.</think><|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Rome"}<|tool_call_end|><|tool_calls_section_end|>',
  ],
  ["ibm-granite-granite-3.3-2B-Instruct", '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Rome"}}]'],
  ["LFM2.5-Instruct", "<|tool_call_start|>[get_weather(city='Rome', days=3)]<|tool_call_end|>"],
  ["LFM2.5-Instruct", 'I look.<|tool_call_start|>[get_weather(city="Rome"), now()]<|tool_call_end|>'],
  ["LFM2.5-8B-A1B", "<|tool_call_start|>[find_user(name='123', age=None)]<|tool_call_end|>"],
  [
    "Qwen3-Coder",
    "<tool_call>\n<function=find_user>\n<parameter=name>\n123\n</parameter>\n<parameter=age>\nnull\n</parameter>\n</function>\n</tool_call>",
  ],
  [
    "Kimi-K3",
    'Hm.<|close|>think<|sep|><|open|>response<|sep|>I look.<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="find_user" index="1"<|sep|><|open|>argument key="name" type="string"<|sep|>12<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
  ],
  [
    "MiniMax-M3",
    '</mm:think>]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="find_user">]<]minimax[>[<name>12]<]minimax[>[</name>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
  ],
  [
    "muse-glimmer",
    ' to=self<|message|>Hm.<|eom|><|start|>assistant to=find_user<|message|><atem:function_calls>\n<atem:invoke name="find_user">\n<atem:parameter name="name">12</atem:parameter>\n</atem:invoke>\n</atem:function_calls>',
  ],
  ["LFM2-8B-A1B", '<|tool_call_start|>[get_weather(city="Rome", days=3)]<|tool_call_end|>'],
];
