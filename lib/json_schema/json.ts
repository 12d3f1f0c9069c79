import { notASchema, readSchema, type SchemaBuilder } from "./read.ts";

/** A JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A JSON Schema of draft 2020-12 or draft-07: an object of keywords, `true` (anything) or `false` (nothing). */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** A schema as plain data. */
export type PlainSchema = JsonObject | boolean;

/** Whether a value is an object with keys. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is an array. */
export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/**
 * Copies a schema to plain data. Objects that are used several times are copied once.
 *
 * Throws {@linkcode JsonSchemaError} for anything that isn't a schema or can't be written as JSON, and {@linkcode SchemaTooComplexError} for a schema that
 * is too large or nested too deep.
 */
export function plainSchema(schema: unknown): PlainSchema {
  const reading = readSchema(schema, plainBuilder);
  for (;;) {
    const { done, value } = reading.next();
    if (done !== true) continue;
    if (isObject(value) || typeof value === "boolean") return value;
    throw notASchema(value);
  }
}

const plainBuilder: SchemaBuilder<JsonValue> = {
  atom: (value) => value,
  begin: (isArray) => {
    if (isArray) {
      const items: JsonValue[] = [];
      return { add: (_, value) => void items.push(value), end: () => items };
    }
    const result: Record<string, JsonValue> = Object.create(null);
    return { add: (key, value) => void (result[key] = value), end: () => result };
  },
};

/** Whether two JSON values are the same, whatever the order of keys. */
export function sameJson(a: JsonValue, b: JsonValue): boolean {
  if (isArray(a)) {
    return isArray(b) && a.length === b.length && a.every((one, index) => sameJson(one, b[index] as JsonValue));
  }
  if (!isObject(a)) return a === b;
  if (!isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key] as JsonValue, b[key] as JsonValue));
}

/** Returns a text that only equal values have. */
export function canonicalJson(value: JsonValue): string {
  if (isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (!isObject(value)) return Object.is(value, -0) ? "0" : JSON.stringify(value);
  return `{${
    Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as JsonValue)}`)
  }}`;
}

/** The number of code points of a text, which is its length in a schema. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}
