/**
 * Grammars of arguments as elements named after them, with lists and objects as elements within: a mark before each tag, `<item>` for the items.
 *
 * @module
 */

import type { JsonSchema } from "../../json_schema/json.ts";
import { text, write } from "../../json_schema/gbnf.ts";
import { MAX_VALUE_DEPTH, type RuleMaker, ValueSchema, wordsOf } from "./value_schema.ts";

/** Returns the rule of a tool's arguments. */
export function nestedArguments(maker: RuleMaker, mark: string, parameters: Readonly<Record<string, unknown>>): string {
  const schema = new ValueSchema(parameters as JsonSchema, parameters);
  return maker.add(new NestedWriter(maker, mark).members(schema, 0));
}

class NestedWriter {
  readonly #maker: RuleMaker;
  readonly #mark: string;
  /** The rules of schemas that were met before, maybe within themselves, by the tag behind them. */
  readonly #known = new Map<string, Map<JsonSchema, string>>();

  constructor(maker: RuleMaker, mark: string) {
    this.#maker = maker;
    this.#mark = mark;
  }

  /** The elements of an object. */
  members(schema: ValueSchema, depth: number): string {
    const elements = (schema.properties ?? []).map((property) => {
      const element = this.#element(property.name, schema.property(property), depth + 1);
      return property.required ? element : `(${element})?`;
    });
    return elements.join(" ") || '""';
  }

  #element(name: string, schema: ValueSchema, depth: number): string {
    const close = `${this.#mark}</${name}>`;
    return `${write(text(`${this.#mark}<${name}>`))} ${this.#value(schema, close, depth)}`;
  }

  /** A value and the tag behind it. */
  #value(schema: ValueSchema, close: string, depth: number): string {
    let known = this.#known.get(close);
    if (known === undefined) this.#known.set(close, known = new Map());
    const rule = known.get(schema.schema);
    if (rule !== undefined) return rule;
    if (schema.type.allowsText || depth > MAX_VALUE_DEPTH) return this.#text(schema, close);
    return this.#maker.add((name) => {
      known.set(schema.schema, name);
      return this.#ways(schema, close, depth);
    });
  }

  #text({ schema, type }: ValueSchema, close: string): string {
    const words = type.isText ? wordsOf(schema) : undefined;
    if (words === undefined) return this.#maker.until(close);
    return `(${words.map((word) => write(text(word))).join(" | ")}) ${write(text(close))}`;
  }

  #ways(schema: ValueSchema, close: string, depth: number): string {
    const { alternatives, listed, type: { kinds } } = schema;
    const end = write(text(close));
    if (alternatives !== undefined && alternatives.length > 0) {
      return alternatives.map((one) => this.#value(one, close, depth + 1)).join(" | ");
    }
    const isOne = kinds.size === 1 && listed === undefined;
    if (isOne && kinds.has("array")) return `(${this.#element("item", schema.items, depth + 1)})* ${end}`;
    if (isOne && kinds.has("object") && (schema.properties ?? []).length > 0) {
      return `${this.members(schema, depth)} ${end}`;
    }
    return `${this.#maker.json(schema.whole)} ${end}`;
  }
}
