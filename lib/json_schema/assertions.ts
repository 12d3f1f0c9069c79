/**
 * Keywords that are checked by a value alone, without other schemas.
 *
 * @module
 */

import { formats } from "./formats.ts";
import { canonicalJson, isArray, isObject, type JsonObject, type JsonValue, lengthOf, sameJson } from "./json.ts";
import { internal } from "./keywords.ts";
import { isMultiple } from "./multiples.ts";
import { matchesPattern } from "./strings.ts";

/** Returns the first keyword of a schema that a value breaks, of those that bring in no other schemas. */
export function failedKeyword(schema: JsonObject, value: JsonValue): string | undefined {
  const { type, enum: values } = schema;
  const except = schema[internal.except];
  if (type !== undefined && !(isArray(type) ? type : [type]).some((one) => isOfType(value, one))) return "type";
  if (isArray(values) && !isListed(values, value)) return "enum";
  if (schema["const"] !== undefined && !sameJson(schema["const"], value)) return "const";
  if (isArray(except) && isListed(except, value)) return internal.except;
  if (typeof value === "number") return failedNumber(schema, value);
  if (typeof value === "string") return failedString(schema, value);
  if (isArray(value)) return failedArray(schema, value);
  return isObject(value) ? failedObject(schema, value) : undefined;
}

function failedArray(schema: JsonObject, value: readonly JsonValue[]): string | undefined {
  if (value.length < number(schema["minItems"], 0)) return "minItems";
  if (value.length > number(schema["maxItems"], Infinity)) return "maxItems";
  const unique = schema["uniqueItems"] !== true || new Set(value.map(canonicalJson)).size === value.length;
  return unique ? undefined : "uniqueItems";
}

function failedObject(schema: JsonObject, value: JsonObject): string | undefined {
  const { required, dependentRequired, dependencies } = schema;
  const count = Object.keys(value).length;
  if (count < number(schema["minProperties"], 0)) return "minProperties";
  if (count > number(schema["maxProperties"], Infinity)) return "maxProperties";
  const has = (name: JsonValue) => Object.hasOwn(value, name as string);
  if (isArray(required) && !required.every(has)) return "required";
  const lacks = schema[internal.lacks];
  if (isArray(lacks) && lacks.some(has)) return internal.lacks;
  for (const [keyword, map] of [["dependentRequired", dependentRequired], ["dependencies", dependencies]] as const) {
    if (!isObject(map)) continue;
    for (const [name, list] of Object.entries(map)) {
      if (isArray(list) && has(name) && !list.every(has)) return keyword;
    }
  }
  return undefined;
}

const lists = new WeakMap<readonly JsonValue[], Set<JsonValue> | null>();

/** Whether a value is one of a list. Lists of texts are long at times. */
function isListed(values: readonly JsonValue[], value: JsonValue): boolean {
  let set = lists.get(values);
  if (set === undefined) {
    const plain = values.length > 20 && values.every((one) => typeof one !== "object");
    lists.set(values, set = plain ? new Set(values) : null);
  }
  return set === null ? values.some((one) => sameJson(one, value)) : set.has(value);
}

function isOfType(value: JsonValue, type: JsonValue): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return isArray(value);
  if (type === "object") return isObject(value);
  if (type === "null") return value === null;
  return (typeof value as string) === type;
}

/** Returns a keyword's number, or another one where it has none. */
export function number(value: JsonValue | undefined, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function failedNumber(schema: JsonObject, value: number): string | undefined {
  if (value < number(schema["minimum"], -Infinity)) return "minimum";
  if (value > number(schema["maximum"], Infinity)) return "maximum";
  if (value <= number(schema["exclusiveMinimum"], -Infinity)) return "exclusiveMinimum";
  if (value >= number(schema["exclusiveMaximum"], Infinity)) return "exclusiveMaximum";
  if (schema[internal.fraction] === true && Number.isInteger(value)) return internal.fraction;
  const not = schema[internal.notMultipleOf];
  if (isArray(not) && not.some((one) => isMultiple(value, one as number))) return internal.notMultipleOf;
  const { multipleOf } = schema;
  return typeof multipleOf === "number" && !isMultiple(value, multipleOf) ? "multipleOf" : undefined;
}

function failedString(schema: JsonObject, value: string): string | undefined {
  const { pattern, format } = schema;
  const not = schema[internal.notPattern];
  const length = lengthOf(value);
  if (length < number(schema["minLength"], 0)) return "minLength";
  if (length > number(schema["maxLength"], Infinity)) return "maxLength";
  if (typeof pattern === "string" && !fitsPattern(pattern, value)) return "pattern";
  if (isArray(not) && not.some((one) => fitsPattern(one as string, value))) return internal.notPattern;
  const known = typeof format === "string" ? formats.get(format) : undefined;
  return known !== undefined && !regExp(known).test(value) ? "format" : undefined;
}

/** Whether a pattern is found in a text. A backtracking `RegExp` could take forever with a text that a model, or a schema's own values, chose. */
export function fitsPattern(source: string, value: string): boolean {
  return matchesPattern(source, value) ?? regExp(source).test(value);
}

const regExps = new Map<string, RegExp>();

/** Patterns are meant with the flag `u`; some are right only without. */
function regExp(source: string): RegExp {
  let found = regExps.get(source);
  if (found !== undefined) return found;
  try {
    found = new RegExp(source, "u");
  } catch {
    found = new RegExp(source);
  }
  if (regExps.size > 500) regExps.clear();
  regExps.set(source, found);
  return found;
}
