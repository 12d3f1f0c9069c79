/**
 * Grammars of arguments as `{key:value}`: keys in the order of the alphabet and without quotes, text between marks of its own.
 *
 * @module
 */

import type { JsonSchema } from "../../json_schema/json.ts";
import { text, write } from "../../json_schema/gbnf.ts";
import { MAX_VALUE_DEPTH, type Property, type RuleMaker, ValueSchema } from "./value_schema.ts";

const ATOMS = ["number", "integer", "boolean", "null"] as const;
const KEY = "[a-zA-Z0-9_.$-]+";

/** Returns the rule of a tool's arguments. */
export function bracedArguments(maker: RuleMaker, mark: string, parameters: Readonly<Record<string, unknown>>): string {
  const writer = new BracedWriter(maker, mark);
  const schema = new ValueSchema(parameters as JsonSchema, parameters);
  return maker.add(writer.object(schema, 0));
}

class BracedWriter {
  readonly #maker: RuleMaker;
  readonly #mark: string;
  /** The rules of schemas that were met before, maybe within themselves. */
  readonly #known = new Map<JsonSchema, string>();
  #anyRule: string | undefined;

  constructor(maker: RuleMaker, mark: string) {
    this.#maker = maker;
    this.#mark = mark;
  }

  /** An object, whose keys are in order. */
  object(schema: ValueSchema, depth: number): string {
    const properties = schema.properties;
    if (properties === undefined) return this.#anyObject();
    const ordered = [...properties].sort(byName);
    let first = '""';
    let later = '""';
    for (const property of ordered.toReversed()) {
      const member = `${write(text(`${property.name}:`))} ${this.#value(schema.property(property), depth + 1)}`;
      const rest = this.#maker.add(later);
      first = property.required ? `${member} ${rest}` : `${member} ${rest} | ${first}`;
      later = property.required ? `"," ${member} ${rest}` : `"," ${member} ${rest} | ${later}`;
    }
    return `"{" (${first}) "}"`;
  }

  #value(schema: ValueSchema, depth: number): string {
    const known = this.#known.get(schema.schema);
    if (known !== undefined) return known;
    if (depth > MAX_VALUE_DEPTH) return this.#any();
    return this.#maker.add((name) => {
      this.#known.set(schema.schema, name);
      return this.#ways(schema, depth).join(" | ") || this.#any();
    });
  }

  #ways(schema: ValueSchema, depth: number): readonly string[] {
    const { alternatives, listed, type: { kinds } } = schema;
    if (alternatives !== undefined) return alternatives.map((one) => this.#value(one, depth + 1));
    if (listed !== undefined) return listed.map((one) => write(text(this.#literal(one))));
    if (kinds.size === 7) return [this.#any()];
    const atoms = ATOMS.filter((kind) => kinds.has(kind));
    return [
      ...(kinds.has("string") ? [this.#text()] : []),
      ...(atoms.length > 0 ? [this.#maker.json(schema.ofKinds(atoms))] : []),
      ...(kinds.has("object") ? [this.object(schema, depth)] : []),
      ...(kinds.has("array") ? [this.#list(this.#value(schema.items, depth + 1))] : []),
    ];
  }

  #text(): string {
    return `${write(text(this.#mark))} ${this.#maker.until(this.#mark)}`;
  }

  #list(item: string): string {
    return `"[" (${item} ("," ${item})*)? "]"`;
  }

  #any(): string {
    if (this.#anyRule !== undefined) return this.#anyRule;
    const atom = this.#maker.json({ type: [...ATOMS] });
    return this.#maker.add((name) => {
      this.#anyRule = name;
      return [this.#text(), atom, this.#anyObject(), this.#list(name)].join(" | ");
    });
  }

  #anyObject(): string {
    const member = `${KEY} ":" ${this.#any()}`;
    return `"{" (${member} ("," ${member})*)? "}"`;
  }

  /** A value as it is written. */
  #literal(value: unknown): string {
    if (typeof value === "string") return this.#mark + value + this.#mark;
    if (Array.isArray(value)) return `[${value.map((one) => this.#literal(one)).join()}]`;
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const members = Object.entries(value).sort(([one], [other]) => compare(one, other));
    return `{${members.map(([key, one]) => `${key}:${this.#literal(one)}`).join()}}`;
  }
}

/** As Jinja's `dictsort` orders keys. */
function byName(one: Property, other: Property): number {
  return compare(one.name, other.name);
}

function compare(one: string, other: string): number {
  const [first, second] = [one.toLowerCase(), other.toLowerCase()];
  return first < second ? -1 : first > second ? 1 : 0;
}
