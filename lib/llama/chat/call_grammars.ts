import { InvalidArgumentError } from "../../errors.ts";
import { checkGbnf } from "../../gbnf/check.ts";
import type { GrammarSettings, GrammarTriggers } from "../sampling/grammar.ts";
import type { Tool } from "../tools/check_tools.ts";
import { toolGrammar } from "../tools/grammar.ts";
import { toolShapes } from "../tools/parsers/shapes.ts";
import type { ToolChoice } from "./options.ts";
import type { ChatPrompt } from "./prompt.ts";

/** The options that a grammar of calls depends on, beside the tools. */
export interface CallConstraint {
  /** Whether the model calls tools. */
  readonly toolChoice: ToolChoice;
  /** Whether it may call several at once. */
  readonly parallel: boolean;
  /** Whether this is the first answer of the turn: later ones are free to call nothing. */
  readonly first: boolean;
}

/** The grammars of the calls in a chat. Each is made once. */
export class CallGrammars {
  readonly #known = new Map<string, GrammarSettings | undefined>();

  /**
   * Returns the grammar that calls are held to; `undefined` for a family without one.
   *
   * Throws {@linkcode InvalidArgumentError} when a call is required and there is no grammar for it.
   */
  grammarFor(
    tools: readonly Tool[],
    prompt: ChatPrompt,
    template: string,
    { toolChoice, parallel, first }: CallConstraint,
  ): GrammarSettings | undefined {
    const { form, inReasoning } = prompt;
    const required = first && (toolChoice === "required" || typeof toolChoice === "object");
    const key = JSON.stringify([form.family.name, inReasoning, required, parallel, tools.map(({ name }) => name)]);
    if (!this.#known.has(key)) this.#known.set(key, makeGrammar(tools, prompt, template, parallel, required));
    const grammar = this.#known.get(key);
    if (grammar !== undefined || !required) return grammar;
    throw new InvalidArgumentError(
      `calls of tools can't be forced with this model's template (${form.family.name}); set toolChoice to auto`,
      { value: toolChoice, expected: '"auto" or "none"' },
    );
  }
}

function makeGrammar(
  tools: readonly Tool[],
  { form, inReasoning }: ChatPrompt,
  template: string,
  parallel: boolean,
  required: boolean,
): GrammarSettings | undefined {
  const grammar = toolGrammar({
    form,
    template,
    tools,
    shapes: toolShapes(tools),
    parallel,
    required,
    inReasoning,
  });
  if (grammar === undefined) return undefined;
  const { source } = grammar;
  const triggers = required ? undefined : triggersOf(grammar.triggers);
  return { ...checkGbnf(source), source, root: "root", triggers };
}

function triggersOf(triggers: readonly (string | RegExp)[]): GrammarTriggers {
  return {
    words: triggers.filter((one) => typeof one === "string"),
    tokens: [],
    patterns: triggers.filter((one) => typeof one !== "string").map((one) => new RegExp(one.source, "du")),
  };
}
