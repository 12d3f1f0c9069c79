import { JsonSchemaError } from "../errors.ts";
import { show } from "../support/check.ts";

/** A JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A JSON Schema of draft 2020-12 or draft-07: an object of keywords, `true` (anything) or `false` (nothing). */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** Whether a value is an object with keys. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is an array. */
export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** A schema as plain data of its own. Throws {@linkcode JsonSchemaError} for what isn't a schema. */
export function plainSchema(schema: unknown): JsonObject | boolean {
  if (typeof schema === "boolean") return schema;
  let plain: JsonValue | undefined;
  try {
    const text = JSON.stringify(schema);
    plain = text === undefined ? undefined : JSON.parse(text);
  } catch (cause) {
    throw new JsonSchemaError(
      "the schema can't be written as JSON; give plain data, with $ref for what refers to itself",
      {
        cause,
        expected: "a JSON Schema",
      },
    );
  }
  if (isObject(plain)) return plain;
  throw new JsonSchemaError(`the schema is ${show(schema)}; give a JSON Schema, which is an object, true or false`, {
    value: schema,
    expected: "an object, true or false",
  });
}

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

/** The number of code points of a text, which is what a schema counts. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}
