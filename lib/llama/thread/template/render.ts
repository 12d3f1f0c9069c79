/**
 * Rendering of chat templates, on the native thread: a template can take long, and the program goes on meanwhile.
 *
 * @module
 */

import { ChatTemplateError, GgmlError } from "../../../errors.ts";
import { boundedInterpreter, Budget } from "./interpreter.ts";
import { overLimit, type TemplateLimits, templateLimits } from "./limits.ts";

type Jinja = typeof import("@huggingface/jinja");
type Program = InstanceType<Jinja["Template"]>["parsed"];

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
  /** Gives the interpreter. */
  readonly load?: () => Promise<Jinja>;
}

let parsed: { source: string; program: Program } | undefined;

/**
 * Renders a conversation with a chat template. The interpreter of Jinja is imported on the first call.
 *
 * Throws {@linkcode ChatTemplateError} when the template doesn't parse, fails, refuses the messages or does more than {@linkcode templateLimits} allow,
 * and when the interpreter can't be imported; and what `check` throws.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { renderTemplate } from "./render.ts";
 *
 * const source = "{% for m in messages %}{{ m.role }}: {{ m.content | trim }}\n{% endfor %}";
 * const messages = [{ role: "user" as const, content: " hi " }];
 * assert.equal(await renderTemplate({ source, messages, startToken: "", endToken: "" }), "user: hi\n");
 * ```
 */
export async function renderTemplate(input: RenderInput, settings: RenderSettings = {}): Promise<string> {
  const { limits = templateLimits, check = () => {}, load = () => import("@huggingface/jinja") } = settings;
  const jinja = await imported(load);
  const program = parse(jinja, input.source, limits);
  try {
    const environment = globals(jinja, input, limits);
    const budget = new Budget(limits, check);
    return String(boundedInterpreter(jinja.Interpreter, environment, budget).run(program).value);
  } catch (cause) {
    if (cause instanceof GgmlError) throw cause;
    if (isStackOverflow(cause)) throw overLimit("expressions within one another", limits.depth);
    throw new ChatTemplateError(
      `the chat template refused the messages: ${
        words(cause)
      }; change them, or give another template by the option template`,
      { cause, expected: "messages that the template takes" },
    );
  }
}

async function imported(load: () => Promise<Jinja>): Promise<Jinja> {
  try {
    return await load();
  } catch (cause) {
    throw new ChatTemplateError(
      `chat templates need the package @huggingface/jinja, which can't be imported: ${
        words(cause)
      }; install the packages of the program again (npm install), or use model.complete, which needs no template`,
      { value: "@huggingface/jinja", expected: "an installed package", cause },
    );
  }
}

function parse({ Template }: Jinja, source: string, limits: TemplateLimits): Program {
  if (parsed?.source === source) return parsed.program;
  if (source.length > limits.source) throw overLimit("characters of template", limits.source);
  if (longestSpace(source) > limits.space) throw overLimit("characters of white space in one piece", limits.space);
  try {
    const { parsed: program } = new Template(source);
    parsed = { source, program };
    return program;
  } catch (cause) {
    if (isStackOverflow(cause)) throw overLimit("expressions within one another", limits.depth);
    throw new ChatTemplateError(
      `the chat template doesn't parse: ${words(cause)}; give another by the option template`,
      { cause, expected: "a Jinja template" },
    );
  }
}

function longestSpace(source: string): number {
  let longest = 0;
  for (const [space] of source.matchAll(/\s+/g)) longest = Math.max(longest, space.length);
  return longest;
}

/** What templates find: the conversation, and the functions that they are used to. */
function globals(
  { Environment, Template }: Jinja,
  { messages, tools, variables, forAnswer = true, startToken, endToken }: RenderInput,
  limits: TemplateLimits,
): InstanceType<Jinja["Environment"]> {
  const environment = new Environment();
  const values = {
    enable_thinking: true,
    ...today(),
    // The package doesn't export its own, but its templates have it.
    strftime_now: (format: unknown) => new Template("{{ strftime_now(format) }}").render({ format }),
    ...variables,
    messages,
    ...(tools === undefined || tools.length === 0 ? {} : { tools }),
    add_generation_prompt: forAnswer,
    bos_token: startToken,
    eos_token: endToken,
    true: true,
    True: true,
    false: false,
    False: false,
    none: null,
    None: null,
    range: (...bounds: unknown[]) => range(bounds, limits.range),
    raise_exception(message: unknown): never {
      throw new Error(String(message));
    },
  };
  for (const [name, value] of Object.entries(values)) environment.set(name, value);
  return environment;
}

/** The date, under the names that templates ask for it by. */
function today(): { date_string: string; datetime: string } {
  const now = new Date();
  const part = (options: Intl.DateTimeFormatOptions): string => now.toLocaleString("en-GB", options);
  const day = String(now.getDate()).padStart(2, "0");
  const month = part({ month: "short" }).slice(0, 3);
  return { date_string: `${day} ${month} ${now.getFullYear()}`, datetime: `${month} ${day} ${now.getFullYear()}` };
}

/** The numbers of Python's `range`. */
function range(bounds: readonly unknown[], limit: number): number[] {
  const [first = Number.NaN, second, step = 1] = bounds.map(Number);
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  if (!Number.isFinite(start) || !Number.isFinite(step) || step === 0 || Number.isNaN(stop)) {
    throw new Error("range() takes numbers, and a step that isn't 0");
  }
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (length > limit) throw overLimit("numbers of a range", limit);
  return Array.from({ length }, (_, index) => start + index * step);
}

function isStackOverflow(cause: unknown): boolean {
  return cause instanceof RangeError && /call stack/i.test(cause.message);
}

function words(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
