import type { SchemaDocument, SchemaNode } from "./document.ts";
import { formats } from "./formats.ts";
import { isArray, isObject, type JsonObject, type JsonValue, lengthOf, sameJson } from "./json.ts";
import { escapePointer } from "./keywords.ts";
import { matchesPattern } from "./strings.ts";

/** What is wrong with a value: where in the value, and which keyword of the schema says so. */
export interface Problem {
  /** Where in the value, as a JSON Pointer. */
  readonly at: string;
  /** Which keyword, as a JSON Pointer into the schema. */
  readonly keyword: string;
}

/** The first thing that is wrong with a value, by the supported keywords. */
export function validate(document: SchemaDocument, node: SchemaNode, value: JsonValue, at = ""): Problem | undefined {
  return validateOwn(document, node, value, at) ?? validateInPlace(document, node, value, at);
}

/** What the keywords say that speak of this very value by way of other schemas. */
function validateInPlace(
  document: SchemaDocument,
  node: SchemaNode,
  value: JsonValue,
  at: string,
): Problem | undefined {
  const schema = node.schema ?? {};
  if (schema["$ref"] !== undefined) {
    const problem = validate(document, document.target(node), value, at);
    if (problem !== undefined) return problem;
  }
  for (const [keyword, needed] of [["allOf", "all"], ["anyOf", "any"], ["oneOf", "one"]] as const) {
    const list = schema[keyword];
    if (!isArray(list)) continue;
    const problems = list.map((_, index) => validate(document, document.child(node, keyword, index), value, at));
    const valid = problems.filter((problem) => problem === undefined).length;
    const fine = needed === "all" ? valid === list.length : needed === "any" ? valid > 0 : valid === 1;
    if (!fine) return problems.find((problem) => needed === "all" && problem !== undefined) ?? wrong(node, keyword, at);
  }
  return undefined;
}

function wrong(node: SchemaNode, keyword: string, at: string): Problem {
  return { at, keyword: `${node.path}/${keyword}` };
}

/** What a schema's own keywords say, without those that bring in other schemas for the same value. */
export function validateOwn(
  document: SchemaDocument,
  node: SchemaNode,
  value: JsonValue,
  at = "",
): Problem | undefined {
  const { schema } = node;
  if (schema === undefined) return { at, keyword: node.path };
  const failed = failedKeyword(schema, value);
  if (failed !== undefined) return wrong(node, failed, at);
  if (isArray(value)) return validateItems(document, node, schema, value, at);
  if (isObject(value)) return validateProperties(document, node, schema, value, at);
  return undefined;
}

function failedKeyword(schema: JsonObject, value: JsonValue): string | undefined {
  const { type, enum: values } = schema;
  if (type !== undefined && !(isArray(type) ? type : [type]).some((one) => isOfType(value, one))) return "type";
  if (isArray(values) && !isListed(values, value)) return "enum";
  if (schema["const"] !== undefined && !sameJson(schema["const"], value)) return "const";
  if (typeof value === "number") return failedNumber(schema, value);
  if (typeof value === "string") return failedString(schema, value);
  if (isArray(value)) {
    if (value.length < number(schema["minItems"], 0)) return "minItems";
    if (value.length > number(schema["maxItems"], Infinity)) return "maxItems";
    if (
      schema["uniqueItems"] === true && value.some((one, i) => value.slice(0, i).some((other) => sameJson(one, other)))
    ) {
      return "uniqueItems";
    }
  }
  if (isObject(value)) {
    const count = Object.keys(value).length;
    if (count < number(schema["minProperties"], 0)) return "minProperties";
    if (count > number(schema["maxProperties"], Infinity)) return "maxProperties";
    const required = schema["required"];
    if (isArray(required) && !required.every((name) => Object.hasOwn(value, name as string))) return "required";
  }
  return undefined;
}

const listed = new WeakMap<readonly JsonValue[], ReadonlySet<JsonValue>>();

function isListed(values: readonly JsonValue[], value: JsonValue): boolean {
  if (typeof value === "object" && value !== null) return values.some((one) => sameJson(one, value));
  let set = listed.get(values);
  if (set === undefined) listed.set(values, set = new Set(values));
  return set.has(value);
}

function isOfType(value: JsonValue, type: JsonValue): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return isArray(value);
  if (type === "object") return isObject(value);
  if (type === "null") return value === null;
  return (typeof value as string) === type;
}

function number(value: JsonValue | undefined, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function failedNumber(schema: JsonObject, value: number): string | undefined {
  if (value < number(schema["minimum"], -Infinity)) return "minimum";
  if (value > number(schema["maximum"], Infinity)) return "maximum";
  if (value <= number(schema["exclusiveMinimum"], -Infinity)) return "exclusiveMinimum";
  if (value >= number(schema["exclusiveMaximum"], Infinity)) return "exclusiveMaximum";
  return schema["multipleOf"] === 1 && !Number.isInteger(value) ? "multipleOf" : undefined;
}

function failedString(schema: JsonObject, value: string): string | undefined {
  const { pattern, format } = schema;
  const length = lengthOf(value);
  if (length < number(schema["minLength"], 0)) return "minLength";
  if (length > number(schema["maxLength"], Infinity)) return "maxLength";
  if (typeof pattern === "string" && !fitsPattern(pattern, value)) return "pattern";
  const known = typeof format === "string" ? formats.get(format) : undefined;
  return known !== undefined && !regExp(known).test(value) ? "format" : undefined;
}

/** A backtracking `RegExp` could take for ever with a text that a model, or a schema's own values, chose. */
function fitsPattern(source: string, value: string): boolean {
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

function validateItems(
  document: SchemaDocument,
  node: SchemaNode,
  schema: JsonObject,
  value: readonly JsonValue[],
  at: string,
): Problem | undefined {
  for (let index = 0; index < value.length; index++) {
    const item = itemNode(document, node, schema, index);
    const problem = item && validate(document, item, value[index] as JsonValue, `${at}/${index}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The keyword with the schemas of the first items, and the one with that of the others. */
export function itemKeywords(schema: JsonObject): { first: string; rest: string } {
  return isArray(schema["items"])
    ? { first: "items", rest: "additionalItems" }
    : { first: "prefixItems", rest: "items" };
}

/** What a schema says of the item at an index; nothing where it doesn't speak of it. */
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

function validateProperties(
  document: SchemaDocument,
  node: SchemaNode,
  schema: JsonObject,
  value: JsonObject,
  at: string,
): Problem | undefined {
  const names = schema["propertyNames"] === undefined ? undefined : document.child(node, "propertyNames");
  for (const [name, one] of Object.entries(value)) {
    const place = `${at}/${escapePointer(name)}`;
    const property = propertyNode(document, node, schema, name);
    const problem = (names && validate(document, names, name, place)) ??
      (property && validate(document, property, one, place));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** What a schema says of the property with a name; nothing where it doesn't speak of it. */
export function propertyNode(
  document: SchemaDocument,
  node: SchemaNode,
  schema: JsonObject,
  name: string,
): SchemaNode | undefined {
  const properties = schema["properties"];
  if (isObject(properties) && Object.hasOwn(properties, name)) return document.child(node, "properties", name);
  return schema["additionalProperties"] === undefined ? undefined : document.child(node, "additionalProperties");
}
