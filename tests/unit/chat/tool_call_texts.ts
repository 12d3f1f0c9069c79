/** Right answers with calls of tools, as each family of models writes them. */

import type { FamilyName } from "../../../lib/llama/tools/parsers/family.ts";

/** The tools of the answers. */
export const tools = [
  {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" } },
      required: ["city", "days"],
    },
  },
];

const rome = '{"city": "Rome", "days": 3}';
const oslo = '{"city": "Oslo", "days": 1}';
const object = (args: string): string => `{"name": "get_weather", "arguments": ${args}}`;
const tag = (name: string, text: string): string => `<|${name}|>${text}`;

/** What a template of the family has in it, and an answer that calls `get_weather` for Rome and then for Oslo, or for Rome alone. */
export const answers: Readonly<Partial<Record<FamilyName, readonly [template: string, text: string, calls: number]>>> =
  {
    json: ["", `Well. <tool_call>\n${object(rome)}\n</tool_call>\n<tool_call>\n${object(oslo)}\n</tool_call>`, 2],
    hermes: [
      "<tool_call><think>",
      `<think>\nI look.\n</think>\n\n<tool_call>\n${object(rome)}\n</tool_call>\n<tool_call>\n${
        object(oslo)
      }\n</tool_call>`,
      2,
    ],
    "qwen-coder": [
      "<tool_call><function=<parameter=",
      "So.\n<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n1\n</parameter>\n</function>\n</tool_call>",
      2,
    ],
    glm: [
      "<tool_call><arg_key>",
      "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
      1,
    ],
    seed: [
      "<seed:tool_call>",
      "<seed:tool_call>\n<function=get_weather>\n<parameter=city>Rome</parameter>\n<parameter=days>3</parameter>\n</function>\n</seed:tool_call>",
      1,
    ],
    minimax: [
      "<minimax:tool_call>",
      '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Rome</parameter>\n<parameter name="days">3</parameter>\n</invoke>\n</minimax:tool_call>',
      1,
    ],
    llama: ["<|python_tag|>", '{"name": "get_weather", "parameters": {"city": "Rome", "days": 3}}', 1],
    mistral: ["[TOOL_CALLS]", `[TOOL_CALLS][${object(rome)}, ${object(oslo)}]`, 2],
    "command-r": [
      "<|START_ACTION|>",
      '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Rome", "days": 3}}\n]<|END_ACTION|>',
      1,
    ],
    "command-r-plus": [
      "Action: ```json tool_name",
      'Action: ```json\n[\n    {\n        "tool_name": "get_weather",\n        "parameters": {"city": "Rome", "days": 3}\n    }\n]```',
      1,
    ],
    functionary: [">>>all", `all\nI look.>>>get_weather\n${rome}>>>get_weather\n${oslo}`, 2],
    "functionary-tags": [
      "<function=<|start_header_id|></function>",
      `<function=get_weather>${rome}</function><function=get_weather>${oslo}</function>`,
      2,
    ],
    deepseek: [
      "<｜tool▁calls▁begin｜> ```json",
      `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n\`\`\`json\n${rome}\n\`\`\`<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n\`\`\`json\n${oslo}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
      2,
    ],
    "deepseek-markup": [
      "｜DSML｜ function_calls",
      '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Rome</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
      1,
    ],
    kimi: [
      "<|tool_calls_section_begin|>",
      `<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>${rome}<|tool_call_end|><|tool_call_begin|>functions.get_weather:1<|tool_call_argument_begin|>${oslo}<|tool_call_end|><|tool_calls_section_end|>`,
      2,
    ],
    granite: ["<|tool_call|>", `${tag("tool_call", "")}[${object(rome)}, ${object(oslo)}]`, 2],
    nemotron: ["<TOOLCALL>", `<TOOLCALL>[${object(rome)}]</TOOLCALL>`, 1],
    apertus: [
      "<|tools_prefix|>",
      `<|tools_prefix|>[{"get_weather": ${rome}}, {"get_weather": ${oslo}}]<|tools_suffix|>`,
      2,
    ],
    firefunction: ["functools", ` functools[${object(rome)}]`, 1],
    lfm: [
      "<|tool_call_start|>",
      "<|tool_call_start|>[get_weather(city='Rome', days=3), get_weather(city=\"Oslo\", days=1)]<|tool_call_end|>",
      2,
    ],
    gemma: ["<|tool_call>call:", '<|tool_call>call:get_weather{city:<|"|>Rome<|"|>,days:3}<tool_call|>', 1],
    harmony: [
      "<|channel|><|message|>",
      `<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>${rome}<|call|>`,
      1,
    ],
    muse: [
      "<atem:function_calls><|message|>",
      ' to=self<|message|>I look.<|eom|><|start|>assistant to=get_weather<|message|><atem:function_calls>\n<atem:invoke name="get_weather">\n<atem:parameter name="city">Rome</atem:parameter>\n<atem:parameter name="days">3</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|><|start|>assistant to=get_weather<|message|><atem:function_calls>\n<atem:invoke name="get_weather">\n<atem:parameter name="city">Oslo</atem:parameter>\n<atem:parameter name="days">1</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eot|>',
      2,
    ],
    "kimi-3": [
      "<|open|><|close|><|end_of_msg|>",
      '<|open|>think<|sep|>I look.<|close|>think<|sep|><|open|>response<|sep|>So.<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|><|open|>argument key="city" type="string"<|sep|>Rome<|close|>argument<|sep|><|open|>argument key="days" type="number"<|sep|>3<|close|>argument<|sep|><|close|>call<|sep|><|open|>call tool="get_weather" index="2"<|sep|><|open|>argument key="city" type="string"<|sep|>Oslo<|close|>argument<|sep|><|open|>argument key="days" type="number"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>',
      2,
    ],
    "minimax-3": [
      "]<]minimax[>[ <mm:think>",
      '<mm:think>I look.</mm:think>So.]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Rome]<]minimax[>[</city>]<]minimax[>[<days>3]<]minimax[>[</days>]<]minimax[>[</invoke>\n]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Oslo]<]minimax[>[</city>]<]minimax[>[<days>1]<]minimax[>[</days>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
      2,
    ],
    gigachat: ["<|function_call|>", `<|function_call|>${object(rome)}`, 1],
    hunyuan: [
      "tool_calls:opensource",
      "<tool_calls:opensource>\n<tool_call:opensource>get_weather<tool_sep:opensource>\n<arg_key:opensource>city</arg_key:opensource>\n<arg_value:opensource>Rome</arg_value:opensource>\n<arg_key:opensource>days</arg_key:opensource>\n<arg_value:opensource>3</arg_value:opensource>\n</tool_call:opensource>\n</tool_calls:opensource>",
      1,
    ],
    solar: [
      "<|tool_call:begin|>",
      `<|tool_calls|><|tool_call:begin|>ab12<|tool_call:name|>get_weather<|tool_call:args|>${rome}<|tool_call:end|>`,
      1,
    ],
    minicpm: [
      '<function name="<param name="',
      '<function name="get_weather"><param name="city">Rome</param><param name="days">3</param></function>',
      1,
    ],
  };
