/**
 * Grammars of tool calls.
 *
 * @module
 */

import { charsOf, complementOf } from "../../gbnf/char_set.ts";
import { chars, type Expr, sequence, text, write } from "../../json_schema/gbnf.ts";
import type { JsonSchema } from "../../json_schema/json.ts";
import { schemaToRules } from "../../json_schema/mod.ts";
import { type CallForm, type CallsForm, callsForm } from "./call_forms.ts";
import type { ArgumentType } from "./argument_type.ts";
import { bracedArguments } from "./braced_grammar.ts";
import { nestedArguments } from "./nested_grammar.ts";
import type { AnswerForm } from "./parsers/form.ts";
import type { ToolShapes } from "./parsers/call_object.ts";
import { type RuleMaker, withDefinitions, wordsOf } from "./value_schema.ts";

/** A tool, as far as a grammar is made of it. */
export interface GrammarTool {
  /** Its name. */
  readonly name: string;
  /** The JSON Schema of its arguments: an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The input of a grammar. */
export interface ToolGrammarInput {
  /** The form of the model's answers. */
  readonly form: AnswerForm;
  /** The template that was used. */
  readonly template: string;
  /** The tools that may be called. */
  readonly tools: readonly GrammarTool[];
  /** Their shapes. */
  readonly shapes: ToolShapes;
  /** Whether several may be called at once. */
  readonly parallel: boolean;
  /** Whether at least one must be called. */
  readonly required: boolean;
  /** Whether the prompt has begun the reasoning. */
  readonly inReasoning: boolean;
}

/** A grammar, and the triggers that make it count. */
export interface ToolGrammar {
  /** The grammar in GBNF; it begins at `root`. */
  readonly source: string;
  /** Text or patterns from which on it counts; none when it counts from the start. */
  readonly triggers: readonly (string | RegExp)[];
}

/**
 * Returns the grammar of the calls that a model may make; `undefined` for a family without one. Parts of schemas that no grammar can express are left out.
 *
 * Throws what `schemaToRules` throws for a broken schema.
 */
export function toolGrammar(input: ToolGrammarInput): ToolGrammar | undefined {
  const { form, template, parallel, required } = input;
  const calls = form.calls ?? callsForm(form.family.name, template);
  if (calls === undefined) return undefined;
  const rules = new GrammarRules(input, calls);
  const between = parallel && calls.between !== undefined ? ` (${rules.text(calls.between)} tool-call)*` : "";
  const all = `${rules.text(calls.open)} tool-call${between} ${rules.text(calls.close)}`;
  if (!required) return { source: rules.source(`root ::= ${all}`), triggers: triggers(calls, form, input.inReasoning) };
  return { source: rules.source(`root ::= ${rules.reasoning(input.inReasoning)} ${all}`), triggers: [] };
}

/** Calls begin behind the reasoning: a call in it is only a thought. */
function triggers({ triggers }: CallsForm, { reasoning, family }: AnswerForm, inReasoning: boolean) {
  if (!inReasoning || reasoning === undefined || family.callEndsReasoning === true) return triggers;
  const close = RegExp.escape(reasoning.close);
  return triggers.map((trigger) => {
    const source = typeof trigger === "string" ? `(${RegExp.escape(trigger)})` : trigger.source.replace(/^\^/, "");
    return new RegExp(`${close}[\\s\\S]*?${source}`, "u");
  });
}

type MarkupCallForm = Extract<CallForm, { kind: "markup" }>;

class GrammarRules {
  readonly #input: ToolGrammarInput;
  readonly #form: CallsForm;
  readonly #lines: string[] = [];
  readonly #until = new Map<string, string>();

  constructor(input: ToolGrammarInput, form: CallsForm) {
    this.#input = input;
    this.#form = form;
    const names = input.tools.flatMap((tool, index) =>
      form.calls.map((call, way) => {
        const name = `tool-${index}-${way}`;
        this.#lines.push(`${name} ::= ${this.#call(call, tool, index)}`);
        return name;
      })
    );
    this.#lines.push(`tool-call ::= ${names.join(" | ")}`);
  }

  /** The whole grammar. */
  source(root: string): string {
    return `${[root, ...this.#lines].join("\n")}\n`;
  }

  /** A text, in which names behind a zero character stand for parts. */
  text(source: string): string {
    const [first = "", ...rest] = source.split("\0");
    const parts = [first === "" ? "" : write(text(first))];
    for (const piece of rest) {
      const [name, part] = Object.entries(this.#form.parts ?? {}).find(([one]) => piece.startsWith(one)) ?? ["", ""];
      parts.push(part, piece === name ? "" : write(text(piece.slice(name.length))));
    }
    return parts.filter((part) => part !== "").join(" ") || '""';
  }

  /** Reasoning before a required call. */
  reasoning(inReasoning: boolean): string {
    const { form } = this.#input;
    const { messages, thought } = form.family;
    if (messages !== undefined && thought !== undefined) {
      return `(${write(text(messages.reasoningHeader))} ${this.#untilRule(thought.close)} "<|start|>assistant")?`;
    }
    if (form.reasoning === undefined) return '""';
    const rest = `${this.#untilRule(form.reasoning.close)} [ \\n]{0,4}`;
    return inReasoning ? rest : `([ \\n]{0,4} ${write(text(form.reasoning.open))} ${rest})?`;
  }

  #call(form: CallForm, { name, parameters }: GrammarTool, index: number): string {
    const head = `${this.text(form.open.replaceAll("\0name", name))} ${write(text(name))} ${this.text(form.middle)}`;
    if (form.kind === "object") {
      return `${head} ${this.#schema(closedSchema(parameters), `t${index}-`)} ${this.text(form.close)}`;
    }
    if (form.kind === "markup") {
      return `${head} ${this.#elements(form, name, parameters, index)} ${this.text(form.close)}`;
    }
    const writer = form.kind === "braces" ? bracedArguments : nestedArguments;
    return `${head} ${writer(this.#maker(`t${index}-`), form.mark, parameters)} ${this.text(form.close)}`;
  }

  /** Makes the rules of one tool's values. */
  #maker(prefix: string): RuleMaker {
    let count = 0;
    return {
      add: (body) => {
        const name = `${prefix}v${count++}`;
        this.#lines.push(`${name} ::= ${typeof body === "string" ? body : body(name)}`);
        return name;
      },
      until: (mark) => this.#untilRule(mark),
      json: (schema) => this.#schema(schema, `${prefix}j${count++}-`),
    };
  }

  #elements(form: MarkupCallForm, tool: string, parameters: Readonly<Record<string, unknown>>, index: number): string {
    const { argument: [before, between, behind], separator = "", declare } = form;
    const properties = Object.entries((parameters["properties"] ?? {}) as Record<string, JsonSchema>);
    const required: readonly unknown[] = Array.isArray(parameters["required"]) ? parameters["required"] : [];
    const elements = properties.map(([name, schema], place) => {
      const type = this.#input.shapes.argumentsOf(tool).property(name);
      const json = (): string => this.#schema(withDefinitions(schema, parameters), `t${index}-${place}-`);
      const value = form.json === true ? pythonValue(schema, type, json()) : this.#element(schema, type, behind, json);
      const middle = between.replace("\0declared", declare?.(type) ?? "");
      return { text: `${write(text(before + name + middle))} ${value}`, required: required.includes(name) };
    });
    if (separator !== "") return this.#list(elements, separator, `list-${index}`);
    return elements.map((element) => element.required ? element.text : `(${element.text})?`).join(" ") || '""';
  }

  /** Elements in their order with a separator between those that are there. */
  #list(elements: readonly { text: string; required: boolean }[], separator: string, name: string): string {
    let first = '""';
    let later = '""';
    elements.toReversed().forEach((element, index) => {
      this.#lines.push(`${name}-${index} ::= ${later}`);
      const rest = `${element.text} ${name}-${index}`;
      first = element.required ? rest : `${rest} | ${first}`;
      const next = `${write(text(separator))} ${rest}`;
      later = element.required ? next : `${next} | ${later}`;
    });
    return `(${first})`;
  }

  /** An argument's value and the mark behind it. Text has no quotes there: what a schema asks of it beside a list is checked when it was read. */
  #element(schema: JsonSchema, type: ArgumentType, behind: string, json: () => string): string {
    const words = type.isText ? wordsOf(schema) : undefined;
    if (words !== undefined) return `(${words.map((word) => write(text(word))).join(" | ")}) ${write(text(behind))}`;
    return type.allowsText ? this.#untilRule(behind) : `${json()} ${write(text(behind))}`;
  }

  #schema(schema: JsonSchema, prefix: string): string {
    const { root, rules, loosened } = schemaToRules(schema, { prefix, schemaMode: "validate" });
    if (loosened.some(({ path }) => path === "") && typeof schema === "object" && schema["type"] === "object") {
      return this.#schema({ type: "object" }, prefix);
    }
    this.#lines.push(rules.trimEnd());
    return root;
  }

  /** A rule for text up to a mark, and the mark. */
  #untilRule(mark: string): string {
    const known = this.#until.get(mark);
    if (known !== undefined) return known;
    const name = `until-${this.#until.size}`;
    this.#until.set(mark, `${name}-0`);
    const letters = [...mark];
    const distinct = [...new Set(letters)];
    letters.forEach((_, state) => {
      const ways = distinct.map((letter) => {
        const next = nextState(letters, state, letter);
        return next === letters.length ? write(text(letter)) : `${write(text(letter))} ${name}-${next}`;
      });
      const other: Expr = sequence(chars(complementOf(charsOf(distinct.join("")))));
      this.#lines.push(`${name}-${state} ::= ${[...ways, `${write(other)} ${name}-0`].join(" | ")}`);
    });
    return `${name}-0`;
  }
}

/** Returns how much of a mark has been read after one more letter. */
function nextState(mark: readonly string[], state: number, letter: string): number {
  const seen = [...mark.slice(0, state), letter];
  for (let length = Math.min(seen.length, mark.length); length > 0; length--) {
    if (mark.slice(0, length).every((one, index) => seen[seen.length - length + index] === one)) return length;
  }
  return 0;
}

/** Returns a schema of arguments that allows no properties beside those it names, unless it says so: models would make up some. */
export function closedSchema(parameters: Readonly<Record<string, unknown>>): JsonSchema {
  const closed = "properties" in parameters || Object.keys(parameters).every((key) => key === "type");
  return closed && parameters["additionalProperties"] === undefined
    ? { ...parameters, additionalProperties: false }
    : parameters;
}

/** A value as JSON, or as Python writes text, booleans and nothing. */
function pythonValue(schema: JsonSchema, type: ArgumentType, json: string): string {
  const { kinds, isText, allowsText } = type;
  const words = isText ? wordsOf(schema) : undefined;
  const isListed = typeof schema === "object" && ("enum" in schema || "const" in schema);
  const plain = words?.filter((word) => !/['\\\n]/.test(word)).map((word) => write(text(`'${word}'`)));
  const ways = [
    json,
    ...(plain ?? []),
    ...(allowsText && !isListed ? [`"'" ([^'\\\\] | "\\\\" [^\\n])* "'"`] : []),
    ...(kinds.has("boolean") && !isListed ? ['"True"', '"False"'] : []),
    ...(kinds.has("null") && !isListed ? ['"None"'] : []),
  ];
  return `(${ways.join(" | ")})`;
}
