import { GgmlError, JsonSchemaError, SchemaTooComplexError } from "../errors.ts";
import { show } from "../../base/check.ts";

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

/** Parts of a schema, each counted once however often it is used. */
const MAX_PARTS = 200_000;

/**
 * Copies a schema to plain data. Objects that are used several times are copied once.
 *
 * Throws {@linkcode JsonSchemaError} for anything that isn't a schema or can't be written as JSON, and {@linkcode SchemaTooComplexError} for a schema that
 * is too large or nested too deep.
 */
export function plainSchema(schema: unknown): PlainSchema {
  if (typeof schema === "boolean") return schema;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new JsonSchemaError(`the schema is ${show(schema)}; give a JSON Schema, which is an object, true or false`, {
      value: schema,
      expected: "an object, true or false",
    });
  }
  let plain: JsonValue;
  try {
    plain = new Copier().copy(schema, "", "");
  } catch (cause) {
    if (cause instanceof GgmlError) throw cause;
    if (cause instanceof RangeError) {
      throw new SchemaTooComplexError("the schema is nested too deep; make it flatter", { cause });
    }
    throw new JsonSchemaError(`the schema can't be read (${cause}); give plain data`, {
      cause,
      expected: "plain data",
    });
  }
  if (isObject(plain) || typeof plain === "boolean") return plain;
  throw new JsonSchemaError(`the schema is ${show(plain)}; give a JSON Schema, which is an object, true or false`, {
    value: plain,
    expected: "an object, true or false",
  });
}

class Copier {
  /** By the base address they stand under: equal references mean different things under different ones. */
  readonly #copies = new Map<string, Map<object, JsonValue>>();
  readonly #active = new Set<object>();
  #parts = 0;

  copy(value: unknown, path: string, base: string): JsonValue {
    if (value === null || typeof value === "boolean" || typeof value === "string") return value;
    if (typeof value === "number") return Number.isFinite(value) ? value : null;
    if (typeof value !== "object") return this.#refuse(value, path);
    const id = (value as Record<string, unknown>)["$id"];
    const own = typeof id === "string" ? `${base} ${id}` : base;
    let copies = this.#copies.get(own);
    if (copies === undefined) this.#copies.set(own, copies = new Map());
    const known = copies.get(value);
    if (known !== undefined) return known;
    if (this.#active.has(value)) {
      throw new JsonSchemaError(
        `the schema can't be written as JSON: its ${path} holds itself; refer to it by $ref`,
        { path, expected: "a schema without circles" },
      );
    }
    if (++this.#parts > MAX_PARTS) {
      throw new SchemaTooComplexError(`the schema has more than ${MAX_PARTS} parts; make it smaller`, { path });
    }
    this.#active.add(value);
    const copied = this.#copyObject(value, path, own);
    this.#active.delete(value);
    copies.set(value, copied);
    return copied;
  }

  #copyObject(value: object, path: string, base: string): JsonValue {
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === "function") {
      const json: unknown = toJSON.call(value, "");
      return json === value ? this.#refuse(value, path) : this.copy(json, path, base);
    }
    // `Array.from` visits holes, too.
    if (Array.isArray(value)) return Array.from(value, (item, index) => this.copy(item, `${path}/${index}`, base));
    const result: Record<string, JsonValue> = Object.create(null);
    for (const [key, part] of Object.entries(value)) {
      if (part !== undefined) result[key] = this.copy(part, `${path}/${escapePointer(key)}`, base);
    }
    return result;
  }

  #refuse(value: unknown, path: string): never {
    throw new JsonSchemaError(
      `the schema can't be written as JSON: its ${path || "root"} is ${show(value)}; give plain data`,
      { path, value, expected: "null, a boolean, a number, a string, an array or an object" },
    );
  }
}

/** Escapes a key for a JSON Pointer. */
export function escapePointer(key: string): string {
  if (!/[~/]/.test(key)) return key;
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
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
