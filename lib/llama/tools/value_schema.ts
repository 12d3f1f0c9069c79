/**
 * What grammars of values need to know of a schema.
 *
 * @module
 */

import type { JsonSchema } from "../../json_schema/json.ts";
import { ArgumentType } from "./argument_type.ts";

/** Makes the rules of a grammar. */
export interface RuleMaker {
  /** Adds a rule, whose body may need the rule's own name; returns that. */
  add(body: string | ((name: string) => string)): string;
  /** Returns the rule of text up to a mark, and the mark. */
  until(mark: string): string;
  /** Returns the rule of a value as JSON. */
  json(schema: JsonSchema): string;
}

type Parameters = Readonly<Record<string, unknown>>;

/** References that are followed, one after another. */
const MAX_REFERENCES = 8;
/** Values within one another that keep to their schemas; deeper ones are any. */
export const MAX_VALUE_DEPTH = 8;

/** A property of an object. */
export interface Property {
  /** Its name. */
  readonly name: string;
  /** Its schema. */
  readonly schema: JsonSchema;
  /** Whether it has to be there. */
  readonly required: boolean;
}

/** A schema of a value within the arguments of a tool. */
export class ValueSchema {
  /** The schema; references are followed. */
  readonly schema: JsonSchema;
  /** The types that it allows. */
  readonly type: ArgumentType;
  readonly #parameters: Parameters;

  /** Of a schema within a tool's parameters. */
  constructor(schema: JsonSchema, parameters: Parameters) {
    this.#parameters = parameters;
    this.schema = this.#followed(schema);
    this.type = new ArgumentType(this.schema, parameters);
  }

  /** The alternatives of `anyOf` or `oneOf`; `undefined` where there are none. */
  get alternatives(): readonly ValueSchema[] | undefined {
    const { anyOf, oneOf } = this.#keywords;
    const list: unknown = anyOf ?? oneOf;
    return Array.isArray(list) ? list.map((one: JsonSchema) => this.#inner(one)) : undefined;
  }

  /** The properties of an object that has no others; `undefined` where any are allowed. */
  get properties(): readonly Property[] | undefined {
    const { properties, additionalProperties, required, allOf } = this.#keywords;
    const isOpen = additionalProperties !== undefined && additionalProperties !== false;
    if (typeof properties !== "object" || properties === null || isOpen || allOf !== undefined) return undefined;
    const names: readonly unknown[] = Array.isArray(required) ? required : [];
    return Object.entries(properties).map(([name, schema]) => ({ name, schema, required: names.includes(name) }));
  }

  /** The schema of a property. */
  property({ schema }: Property): ValueSchema {
    return this.#inner(schema);
  }

  /** The schema of all items of an array; any value where they differ. */
  get items(): ValueSchema {
    const { items, prefixItems } = this.#keywords;
    return this.#inner(
      prefixItems !== undefined || Array.isArray(items) || items === undefined ? true : items as JsonSchema,
    );
  }

  /** The values that are listed; `undefined` where none are. */
  get listed(): readonly unknown[] | undefined {
    const { enum: values, const: value } = this.#keywords;
    return value !== undefined ? [value] : Array.isArray(values) ? values : undefined;
  }

  /** The schema, of these types alone and with all that it refers to. */
  ofKinds(kinds: readonly string[]): JsonSchema {
    return withDefinitions({ ...this.#keywords, type: kinds } as JsonSchema, this.#parameters);
  }

  /** The whole schema, with all that it refers to. */
  get whole(): JsonSchema {
    return withDefinitions(this.schema, this.#parameters);
  }

  get #keywords(): Readonly<Record<string, unknown>> {
    return typeof this.schema === "object" ? this.schema : {};
  }

  #inner(schema: JsonSchema): ValueSchema {
    return new ValueSchema(schema, this.#parameters);
  }

  #followed(schema: JsonSchema): JsonSchema {
    let found: unknown = schema;
    for (let count = 0; count < MAX_REFERENCES; count++) {
      const reference: unknown = typeof found === "object" && found !== null ? Reflect.get(found, "$ref") : undefined;
      const name = typeof reference === "string" ? /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(reference) : null;
      if (name === null) break;
      const definitions = this.#parameters[name[1] ?? ""];
      if (typeof definitions !== "object" || definitions === null || !Object.hasOwn(definitions, name[2] ?? "")) break;
      found = Reflect.get(definitions, name[2] ?? "");
    }
    return typeof found === "object" && found !== null || typeof found === "boolean" ? found as JsonSchema : true;
  }
}

/** The texts that a schema lists, when it lists nothing else. */
export function wordsOf(schema: JsonSchema): readonly string[] | undefined {
  if (typeof schema !== "object") return undefined;
  const { enum: values, const: value } = schema;
  const list: readonly unknown[] = Array.isArray(values) ? values : [value];
  return list.length > 0 && list.every((one) => typeof one === "string") ? list : undefined;
}

/** Adds the definitions that a property's schema may refer to. */
export function withDefinitions(schema: JsonSchema, parameters: Parameters): JsonSchema {
  if (typeof schema !== "object") return schema;
  const { $defs, definitions } = parameters;
  return {
    ...schema,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}
