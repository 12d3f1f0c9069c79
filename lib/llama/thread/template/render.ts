/**
 * Rendering of chat templates, on the native thread: a template can take long, and the program goes on meanwhile.
 *
 * @module
 */

import {
  compile,
  fromData,
  JinjaError,
  JinjaLimitError,
  JinjaSyntaxError,
  render,
  type Rendered,
  type Template,
  type Value,
} from "../../../jinja/mod.ts";
import { ChatTemplateError } from "../../../errors.ts";
import { overLimit, type TemplateLimits, templateLimits } from "./limits.ts";
import { templateWords } from "./words.ts";

export type { Rendered } from "../../../jinja/mod.ts";

/** What the render task is given. */
export interface RenderInput {
  /** The template, in Jinja. */
  readonly source: string;
  /** The conversation, each message an object as templates know it. */
  readonly messages: readonly object[];
  /** The tools that the model may call, as templates know them. Default none. */
  readonly tools?: readonly object[] | undefined;
  /** Other variables that the template knows. Default none. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** Whether the text ends with what an answer begins with. Default true. */
  readonly forAnswer?: boolean | undefined;
  /** The text of the model's start token. */
  readonly startToken: string;
  /** The text of its end token. */
  readonly endToken: string;
}

/** How it is rendered. */
export interface RenderSettings {
  /** Called every few thousand steps; throws when the work was cancelled. */
  readonly check?: () => void;
  /** Default {@linkcode templateLimits}. */
  readonly limits?: TemplateLimits;
  /** The date that templates ask for. Default the present. */
  readonly now?: Date;
}

/** Templates that are kept parsed. */
const MAX_PARSED = 8;

const parsed = new Map<string, Template>();

/**
 * Renders a conversation with a chat template, as Hugging Face's transformers does with Python's Jinja.
 *
 * Throws {@linkcode ChatTemplateError} when the template doesn't parse, fails, refuses the messages or does more than {@linkcode templateLimits} allow;
 * and what `check` throws.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { renderTemplate } from "./render.ts";
 *
 * const source = "{% for m in messages %}{{ m.role }}: {{ m.content | trim }}\n{% endfor %}";
 * const messages = [{ role: "user" as const, content: " hi " }];
 * const { text, outside } = await renderTemplate({ source, messages, startToken: "", endToken: "" });
 * assert.equal(text, "user: hi\n");
 * assert.deepEqual(outside, [6, 8]);
 * ```
 */
// deno-lint-ignore require-await -- what it throws is a rejection
export async function renderTemplate(input: RenderInput, settings: RenderSettings = {}): Promise<Rendered> {
  const { limits = templateLimits, check, now = new Date() } = settings;
  const template = parse(input.source, limits);
  try {
    return render(template, {
      variables: variablesOf(input, now),
      limits,
      now,
      ...(check === undefined ? {} : { check }),
    });
  } catch (cause) {
    if (isStackOverflow(cause)) throw overLimit("expressions within one another", limits.depth);
    if (cause instanceof JinjaLimitError) throw overLimit(cause.resource, cause.limit);
    if (!(cause instanceof JinjaError)) throw cause;
    throw failure(cause);
  }
}

/** Characters of a template's own message that are shown. */
const MAX_SHOWN = 2000;

function failure(cause: JinjaError): ChatTemplateError {
  const message = cause.message.length > MAX_SHOWN ? `${cause.message.slice(0, MAX_SHOWN)}…` : cause.message;
  const what = cause.kind === "TemplateError"
    ? `the chat template refused the messages: ${message}`
    : `the chat template failed on the messages: ${message} (${cause.kind})`;
  return new ChatTemplateError(`${what}; change them, or give another by the option template`, {
    cause,
    expected: "messages that the template takes",
  });
}

function parse(source: string, limits: TemplateLimits): Template {
  const known = parsed.get(source);
  if (known !== undefined) return known;
  if (source.length > limits.source) throw overLimit("characters of template", limits.source);
  try {
    const template = compile(source, limits.depth);
    const [oldest] = parsed.keys();
    if (parsed.size >= MAX_PARSED && oldest !== undefined) parsed.delete(oldest);
    parsed.set(source, template);
    return template;
  } catch (cause) {
    if (isStackOverflow(cause)) throw overLimit("expressions within one another", limits.depth);
    if (cause instanceof JinjaLimitError) throw overLimit(cause.resource, cause.limit);
    if (!(cause instanceof JinjaSyntaxError)) throw cause;
    throw new ChatTemplateError(
      `the chat template doesn't parse: ${cause.message}; give another by the option template`,
      { cause, expected: "a Jinja template" },
    );
  }
}

/** What templates find: the conversation, and the variables that they are used to. */
function variablesOf(
  { messages, tools = [], variables = {}, forAnswer = true, startToken, endToken }: RenderInput,
  now: Date,
): ReadonlyMap<string, Value> {
  const given = Object.entries(variables).map(([name, value]) => [name, fromData(value, templateWords)] as const);
  return new Map<string, Value>([
    ["enable_thinking", true],
    // Firefunction's name for the tools.
    ["functions", tools.length === 0 ? "" : fromData(JSON.stringify(tools, null, 4), templateWords)],
    ...dates(now),
    ...given,
    ["messages", fromData(messages, templateWords)],
    // As llama.cpp has it: many templates only ask whether there are tools.
    ...tools.length === 0 ? [] : [["tools", fromData(tools, templateWords)] as const],
    ["add_generation_prompt", forAnswer],
    ["bos_token", startToken],
    ["eos_token", endToken],
  ]);
}

/** The date, under the names that templates ask for it by. */
function dates(now: Date): readonly (readonly [string, string])[] {
  const part = (options: Intl.DateTimeFormatOptions): string => now.toLocaleString("en-GB", options);
  const day = String(now.getDate()).padStart(2, "0");
  const month = part({ month: "short" }).slice(0, 3);
  return [["date_string", `${day} ${month} ${now.getFullYear()}`], [
    "datetime",
    `${month} ${day} ${now.getFullYear()}`,
  ]];
}

function isStackOverflow(cause: unknown): boolean {
  return cause instanceof RangeError && /call stack/i.test(cause.message);
}
