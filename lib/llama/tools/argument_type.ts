/** The types of JSON values that JSON Schema tells apart; a number without a fraction is `"integer"`. */
export type ValueKind = "string" | "integer" | "number" | "boolean" | "null" | "object" | "array";

const KINDS: readonly ValueKind[] = ["string", "integer", "number", "boolean", "null", "object", "array"];
/** Schemas within one another, and alternatives, that are looked into; beyond them any value is expected. */
const MAX_DEPTH = 12;
const MAX_ALTERNATIVES = 256;

type Schema = Readonly<Record<string, unknown>>;

/**
 * The types that a schema allows for a value, as far as its `type`, `enum`, `const`, combinations and references say. Markup has no quotes: only the
 * schema tells the text `123` from the number.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { ArgumentType } from "./argument_type.ts";
 *
 * const type = new ArgumentType({ anyOf: [{ type: "string" }, { type: "null" }] });
 * assert.deepEqual([...type.kinds], ["string", "null"]);
 * assert.equal(type.prefers(123), false);
 * assert.equal(type.prefers(null), true);
 * ```
 */
export class ArgumentType {
  readonly #schemas: readonly unknown[];
  readonly #root: unknown;
  #kinds: ReadonlySet<ValueKind> | undefined;

  /** The type of a schema; references are looked up in `root`. */
  constructor(schema: unknown, root: unknown = schema) {
    this.#schemas = schema instanceof Alternatives ? schema.list : [schema];
    this.#root = root;
  }

  /** The types that are allowed. */
  get kinds(): ReadonlySet<ValueKind> {
    return this.#kinds ??= new Set(this.#schemas.flatMap((schema) => [...kindsOf(schema, this.#root, 0)]));
  }

  /** Whether nothing but text is allowed, so that a value is taken as it is written. */
  get isText(): boolean {
    return this.kinds.size === 1 && this.kinds.has("string");
  }

  /** Whether text is allowed. */
  get allowsText(): boolean {
    return this.kinds.has("string");
  }

  /** The type of the property of this name, where the value is an object. */
  property(name: string): ArgumentType {
    return this.#inner((schema) => {
      const properties = member(schema, "properties");
      const own = typeof properties === "object" && properties !== null && Object.hasOwn(properties, name)
        ? member(properties, name)
        : undefined;
      return own ?? member(schema, "additionalProperties");
    });
  }

  /** The type of an item, where the value is an array. */
  item(index: number): ArgumentType {
    return this.#inner((schema) => {
      const items = member(schema, "items");
      const first = Array.isArray(items) ? items : member(schema, "prefixItems");
      if (Array.isArray(first) && index < first.length) return first[index];
      return Array.isArray(items) ? member(schema, "additionalItems") : items;
    });
  }

  /** Whether a value that stands without quotes, and could be text too, is meant as what it looks like. */
  prefers(value: unknown): boolean {
    return !this.allowsText || (typeof value !== "string" && this.kinds.has(kindOf(value)));
  }

  #inner(find: (schema: Schema) => unknown): ArgumentType {
    const found: unknown[] = [];
    for (const schema of this.#schemas) collect(schema, this.#root, 0, found, find);
    return new ArgumentType(found.length === 0 ? true : new Alternatives(found), this.#root);
  }
}

/** Several schemas, one of which is meant. */
class Alternatives {
  readonly list: readonly unknown[];

  constructor(list: readonly unknown[]) {
    this.list = list;
  }
}

/** Finds something in a schema and in all that it is combined of. */
function collect(
  schema: unknown,
  root: unknown,
  depth: number,
  found: unknown[],
  find: (schema: Schema) => unknown,
): void {
  if (depth > MAX_DEPTH || found.length >= MAX_ALTERNATIVES || !isSchema(schema)) return;
  const own = find(schema);
  if (own !== undefined) found.push(own);
  for (const part of parts(schema, root)) collect(part, root, depth + 1, found, find);
}

function parts(schema: Schema, root: unknown): unknown[] {
  const lists = ["anyOf", "oneOf", "allOf"].flatMap((key) => {
    const list = schema[key];
    return Array.isArray(list) ? list as unknown[] : [];
  });
  return typeof schema["$ref"] === "string" ? [...lists, target(schema["$ref"], root)] : lists;
}

function kindsOf(schema: unknown, root: unknown, depth: number): ReadonlySet<ValueKind> {
  if (schema === false) return new Set();
  if (depth > MAX_DEPTH || !isSchema(schema)) return new Set(KINDS);
  const union = (list: unknown): Set<ValueKind> =>
    new Set((Array.isArray(list) ? list : []).flatMap((one: unknown) => [...kindsOf(one, root, depth + 1)]));
  const allowed: ReadonlySet<ValueKind>[] = [ownKinds(schema)];
  for (const key of ["anyOf", "oneOf"]) if (Array.isArray(schema[key])) allowed.push(union(schema[key]));
  const { allOf, $ref } = schema;
  for (const one of Array.isArray(allOf) ? allOf : []) allowed.push(kindsOf(one, root, depth + 1));
  if (typeof $ref === "string") allowed.push(kindsOf(target($ref, root), root, depth + 1));
  return allowed.reduce((all, one) => new Set([...all].filter((kind) => one.has(kind))));
}

/** The types that `type`, `enum`, `const` and OpenAPI's `nullable` allow together. */
function ownKinds(schema: Schema): Set<ValueKind> {
  const { type, enum: values, nullable } = schema;
  let kinds = new Set(KINDS);
  if (type !== undefined) {
    const named: unknown[] = Array.isArray(type) ? type : [type];
    kinds = new Set(KINDS.filter((kind) => named.includes(kind) || (kind === "integer" && named.includes("number"))));
    if (nullable === true) kinds.add("null");
  }
  const listed: unknown[] | undefined = "const" in schema
    ? [schema["const"]]
    : Array.isArray(values)
    ? values
    : undefined;
  if (listed === undefined) return kinds;
  const given = new Set(listed.map(kindOf));
  return new Set([...kinds].filter((kind) => given.has(kind)));
}

/** The schema that a reference within the same document points to; any value for another one. */
function target(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return true;
  let found = root;
  for (const step of reference.slice(1).split("/").slice(1)) {
    let name = step;
    try {
      name = decodeURIComponent(step);
    } catch {
      // It stands for itself.
    }
    found = member(found, name.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return reference === "#" || reference.startsWith("#/") ? found : true;
}

function kindOf(value: unknown): ValueKind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "string" || typeof value === "boolean" ? typeof value as "string" | "boolean" : "object";
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}
