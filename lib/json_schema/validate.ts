import { JsonSchemaError } from "../errors.ts";
import { failedKeyword, fitsPattern, number } from "./assertions.ts";
import type { SchemaDocument, SchemaNode } from "./document.ts";
import { isArray, isObject, type JsonObject, type JsonValue } from "./json.ts";
import { escapePointer } from "./pointer.ts";
import { internal } from "./keywords.ts";

/** The first problem of a value. */
export interface Problem {
  /** Where in the value, as a JSON Pointer. */
  readonly at: string;
  /** The path of the keyword in the schema that the value breaks, as a JSON Pointer. */
  readonly keyword: string;
}

/** Returns the first problem of a value; `undefined` for a valid one. */
export function validate(document: SchemaDocument, node: SchemaNode, value: JsonValue, at = ""): Problem | undefined {
  return new Validator(document).check(node, value, at).problem;
}

/** Returns the first problem by a schema's own keywords, without those that bring in other schemas for the same value. */
export function validateOwn(document: SchemaDocument, node: SchemaNode, value: JsonValue): Problem | undefined {
  return new Validator(document).own(node, value, "", new Evaluated());
}

/** Evaluated parts of a value, for `unevaluatedProperties` and `unevaluatedItems`. */
class Evaluated {
  readonly names = new Set<string>();
  readonly items = new Set<number>();

  add(other: Evaluated): void {
    for (const name of other.names) this.names.add(name);
    for (const item of other.items) this.items.add(item);
  }
}

interface Outcome {
  readonly problem: Problem | undefined;
  readonly evaluated: Evaluated;
}

class Validator {
  readonly #document: SchemaDocument;
  /** Outcomes by value and schema: shared parts of a schema are checked once. */
  readonly #known = new Map<string, Outcome | "active">();

  constructor(document: SchemaDocument) {
    this.#document = document;
  }

  /** Checks a value against a schema. `at` is where the value is, and unlike that of any other value. */
  check(node: SchemaNode, value: JsonValue, at: string): Outcome {
    const key = `${node.id} ${at}`;
    const known = this.#known.get(key);
    if (known === "active") {
      throw new JsonSchemaError(`the schema at ${node.path || "its root"} is defined by itself`, {
        path: node.path,
        expected: "a schema that ends",
      });
    }
    if (known !== undefined) return known;
    this.#known.set(key, "active");
    const evaluated = new Evaluated();
    const problem = this.own(node, value, at, evaluated) ?? this.#inPlace(node, value, at, evaluated) ??
      this.#unevaluated(node, value, at, evaluated);
    const outcome = { problem, evaluated: problem === undefined ? evaluated : new Evaluated() };
    this.#known.set(key, outcome);
    return outcome;
  }

  /** The keywords that speak of this very value by way of other schemas. */
  #inPlace(node: SchemaNode, value: JsonValue, at: string, evaluated: Evaluated): Problem | undefined {
    const schema = node.schema ?? {};
    const apply = (other: SchemaNode) => {
      const outcome = this.check(other, value, at);
      if (outcome.problem === undefined) evaluated.add(outcome.evaluated);
      return outcome.problem;
    };
    for (const keyword of ["$ref", "$dynamicRef"] as const) {
      const problem = schema[keyword] === undefined ? undefined : apply(this.#document.target(node, keyword));
      if (problem !== undefined) return problem;
    }
    return this.#combined(node, schema, at, apply) ?? this.#conditional(node, schema, value, at, apply) ??
      this.#dependent(node, schema, value, apply);
  }

  #combined(
    node: SchemaNode,
    schema: JsonObject,
    at: string,
    apply: (other: SchemaNode) => Problem | undefined,
  ): Problem | undefined {
    for (const [keyword, needed] of [["allOf", "all"], ["anyOf", "any"], ["oneOf", "one"]] as const) {
      const list = schema[keyword];
      if (!isArray(list)) continue;
      const problems = list.map((_, index) => apply(this.#document.child(node, keyword, index)));
      const valid = problems.filter((problem) => problem === undefined).length;
      const fine = needed === "all" ? valid === list.length : needed === "any" ? valid > 0 : valid === 1;
      if (!fine) {
        return problems.find((problem) => needed === "all" && problem !== undefined) ?? wrong(node, keyword, at);
      }
    }
    return undefined;
  }

  #conditional(
    node: SchemaNode,
    schema: JsonObject,
    value: JsonValue,
    at: string,
    apply: (other: SchemaNode) => Problem | undefined,
  ): Problem | undefined {
    if (schema["not"] !== undefined) {
      const { problem } = this.check(this.#document.child(node, "not"), value, at);
      if (problem === undefined) return wrong(node, "not", at);
    }
    if (schema["if"] === undefined) return undefined;
    const next = apply(this.#document.child(node, "if")) === undefined ? "then" : "else";
    return schema[next] === undefined ? undefined : apply(this.#document.child(node, next));
  }

  #dependent(
    node: SchemaNode,
    schema: JsonObject,
    value: JsonValue,
    apply: (other: SchemaNode) => Problem | undefined,
  ): Problem | undefined {
    if (!isObject(value)) return undefined;
    for (const keyword of ["dependentSchemas", "dependencies"]) {
      const map = schema[keyword];
      if (!isObject(map)) continue;
      for (const [name, one] of Object.entries(map)) {
        if (!Object.hasOwn(value, name) || isArray(one)) continue;
        const problem = apply(this.#document.child(node, keyword, name));
        if (problem !== undefined) return problem;
      }
    }
    return undefined;
  }

  #unevaluated(node: SchemaNode, value: JsonValue, at: string, evaluated: Evaluated): Problem | undefined {
    const schema = node.schema ?? {};
    if (isObject(value) && schema["unevaluatedProperties"] !== undefined) {
      const rest = this.#document.child(node, "unevaluatedProperties");
      for (const [name, one] of Object.entries(value)) {
        if (evaluated.names.has(name)) continue;
        const { problem } = this.check(rest, one, `${at}/${escapePointer(name)}`);
        if (problem !== undefined) return problem;
        evaluated.names.add(name);
      }
    }
    if (isArray(value) && schema["unevaluatedItems"] !== undefined) {
      const rest = this.#document.child(node, "unevaluatedItems");
      for (const [index, one] of value.entries()) {
        if (evaluated.items.has(index)) continue;
        const { problem } = this.check(rest, one, `${at}/${index}`);
        if (problem !== undefined) return problem;
        evaluated.items.add(index);
      }
    }
    return undefined;
  }

  /** Checks a schema's own keywords, without those that bring in other schemas for the same value. */
  own(node: SchemaNode, value: JsonValue, at: string, evaluated: Evaluated): Problem | undefined {
    const { schema } = node;
    if (schema === undefined) return { at, keyword: node.path };
    const failed = failedKeyword(schema, value);
    if (failed !== undefined) return wrong(node, failed, at);
    if (isArray(value)) return this.#items(node, schema, value, at, evaluated);
    if (isObject(value)) return this.#properties(node, schema, value, at, evaluated);
    return undefined;
  }

  #items(
    node: SchemaNode,
    schema: JsonObject,
    value: readonly JsonValue[],
    at: string,
    evaluated: Evaluated,
  ): Problem | undefined {
    for (const [index, one] of value.entries()) {
      const item = itemNode(this.#document, node, schema, index);
      if (item === undefined) continue;
      const { problem } = this.check(item, one, `${at}/${index}`);
      if (problem !== undefined) return problem;
      evaluated.items.add(index);
    }
    if (schema["contains"] === undefined) return undefined;
    const contained = this.#document.child(node, "contains");
    let count = 0;
    for (const [index, one] of value.entries()) {
      if (index < number(schema[internal.containsFrom], 0)) continue;
      if (this.check(contained, one, `${at}/${index}`).problem !== undefined) continue;
      evaluated.items.add(index);
      count++;
    }
    if (count < number(schema["minContains"], 1)) {
      return wrong(node, "minContains" in schema ? "minContains" : "contains", at);
    }
    return count > number(schema["maxContains"], Infinity) ? wrong(node, "maxContains", at) : undefined;
  }

  #properties(
    node: SchemaNode,
    schema: JsonObject,
    value: JsonObject,
    at: string,
    evaluated: Evaluated,
  ): Problem | undefined {
    const names = schema["propertyNames"] === undefined ? undefined : this.#document.child(node, "propertyNames");
    for (const [name, one] of Object.entries(value)) {
      const place = `${at}/${escapePointer(name)}`;
      const problem = names && new Validator(this.#document).check(names, name, place).problem;
      if (problem !== undefined) return problem;
      for (const property of propertyNodes(this.#document, node, schema, name)) {
        const { problem } = this.check(property, one, place);
        if (problem !== undefined) return problem;
        evaluated.names.add(name);
      }
    }
    const some = somePropertyOf(schema);
    if (some === undefined) return undefined;
    const fits = Object.entries(value).some(([name, one]) =>
      nameFits(some, name) &&
      this.check(this.#document.child(node, internal.someProperty, "schema"), one, `${at}/${escapePointer(name)}`)
          .problem === undefined
    );
    return fits ? undefined : wrong(node, internal.someProperty, at);
  }
}

function wrong(node: SchemaNode, keyword: string, at: string): Problem {
  return { at, keyword: `${node.path}/${keyword}` };
}

/** Returns the keyword with the schemas of the first items, and the one with that of the others. */
export function itemKeywords(schema: JsonObject): { first: string; rest: string } {
  return isArray(schema["items"])
    ? { first: "items", rest: "additionalItems" }
    : { first: "prefixItems", rest: "items" };
}

/** Returns the schema of the item at an index; `undefined` where there is none. */
export function itemNode(
  document: SchemaDocument,
  node: SchemaNode,
  schema: JsonObject,
  index: number,
): SchemaNode | undefined {
  const { first, rest } = itemKeywords(schema);
  const list = schema[first];
  if (isArray(list) && index < list.length) return document.child(node, first, index);
  return schema[rest] === undefined ? undefined : document.child(node, rest);
}

/** Returns the schemas of the property with a name. */
export function propertyNodes(
  document: SchemaDocument,
  node: SchemaNode,
  schema: JsonObject,
  name: string,
): SchemaNode[] {
  const found: SchemaNode[] = [];
  const { properties, patternProperties } = schema;
  if (isObject(properties) && Object.hasOwn(properties, name)) found.push(document.child(node, "properties", name));
  if (isObject(patternProperties)) {
    for (const pattern of Object.keys(patternProperties)) {
      if (fitsPattern(pattern, name)) found.push(document.child(node, "patternProperties", pattern));
    }
  }
  if (found.length === 0 && schema["additionalProperties"] !== undefined) {
    found.push(document.child(node, "additionalProperties"));
  }
  return found;
}

/** A property that an object must have: one whose name is none of some, matches none of some patterns, and matches another. */
export interface SomeProperty {
  readonly names: readonly string[];
  readonly patterns: readonly string[];
  readonly match: string | null;
}

/** Returns the property that a schema of the library's own asks for. */
export function somePropertyOf(schema: JsonObject): SomeProperty | undefined {
  return schema[internal.someProperty] as unknown as SomeProperty | undefined;
}

/** Whether a name is one of those that are meant. */
export function nameFits({ names, patterns, match }: SomeProperty, name: string): boolean {
  return !names.includes(name) && !patterns.some((one) => fitsPattern(one, name)) &&
    (match === null || fitsPattern(match, name));
}
