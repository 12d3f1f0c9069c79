/**
 * The keywords of JSON Schema, and what each must look like.
 *
 * @module
 */

import { JsonSchemaError, UnsupportedKeywordError } from "../errors.ts";
import { show } from "../../base/check.ts";
import { isArray, isObject, type JsonObject, type JsonValue } from "./json.ts";
import { escapePointer } from "./pointer.ts";
import { isRegExp } from "./pattern.ts";

export { escapePointer } from "./pointer.ts";

type Check = (value: JsonValue) => boolean;

const isSchema: Check = (value) => typeof value === "boolean" || isObject(value);
const isSchemas: Check = (value) => isArray(value) && value.length > 0 && value.every(isSchema);
const isSchemaMap: Check = (value) => isObject(value) && Object.values(value).every(isSchema);
const isPatternMap: Check = (value) => isSchemaMap(value) && Object.keys(value as JsonObject).every(isRegExp);
const isCount: Check = (value) => typeof value === "number" && Number.isInteger(value) && value >= 0;
const isNumber: Check = (value) => typeof value === "number";
const isBoolean: Check = (value) => typeof value === "boolean";
const isString: Check = (value) => typeof value === "string";
const isStrings: Check = (value) => isArray(value) && value.every(isString);
const isNameLists: Check = (value) => isObject(value) && Object.values(value).every(isStrings);

/** The names of types. */
export const typeNames = ["null", "boolean", "object", "array", "number", "integer", "string"] as const;
/** The name of a type. */
export type TypeName = (typeof typeNames)[number];

const isType: Check = (value) => (typeNames as readonly JsonValue[]).includes(value);
const isTypes: Check = (value) => isType(value) || (isArray(value) && value.length > 0 && value.every(isType));

/** Which versions of the standard a schema may be read as; `"any"` where it doesn't say. */
export type Dialect = "draft-07" | "2020-12" | "any";

interface Keyword {
  readonly check: Check;
  readonly expected: string;
  /** The type of the values that it constrains. */
  readonly type?: TypeName;
  /** The only dialect that has it, beside `"any"`. */
  readonly only?: Dialect;
}

const schema = { check: isSchema, expected: "a schema" };
const schemas = { check: isSchemas, expected: "an array of schemas" };
const schemaMap = { check: isSchemaMap, expected: "an object of schemas" };
const count = { check: isCount, expected: "a whole number from 0" };
const number = { check: isNumber, expected: "a number", type: "number" } as const;
const reference = { check: isString, expected: "a reference" };

const supported: Readonly<Record<string, Keyword>> = {
  $ref: reference,
  $dynamicRef: { ...reference, only: "2020-12" },
  type: { check: isTypes, expected: `one or more of ${typeNames.join(", ")}` },
  enum: { check: (value) => isArray(value) && value.length > 0, expected: "an array of at least one value" },
  const: { check: () => true, expected: "a value" },
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  if: schema,
  then: schema,
  else: schema,
  properties: { ...schemaMap, type: "object" },
  patternProperties: {
    check: isPatternMap,
    expected: "an object of schemas whose keys are regular expressions",
    type: "object",
  },
  required: { check: isStrings, expected: "an array of names", type: "object" },
  additionalProperties: { ...schema, type: "object" },
  unevaluatedProperties: { ...schema, type: "object", only: "2020-12" },
  propertyNames: { ...schema, type: "object" },
  minProperties: { ...count, type: "object" },
  maxProperties: { ...count, type: "object" },
  dependentRequired: { check: isNameLists, expected: "an object of arrays of names", type: "object", only: "2020-12" },
  dependentSchemas: { ...schemaMap, type: "object", only: "2020-12" },
  dependencies: {
    check: (value) => isObject(value) && Object.values(value).every((one) => isStrings(one) || isSchema(one)),
    expected: "an object of schemas or arrays of names",
    type: "object",
    only: "draft-07",
  },
  prefixItems: { ...schemas, type: "array", only: "2020-12" },
  items: {
    check: (value) => isSchema(value) || (isArray(value) && value.every(isSchema)),
    expected: "a schema, or an array of schemas",
    type: "array",
  },
  additionalItems: { ...schema, type: "array", only: "draft-07" },
  unevaluatedItems: { ...schema, type: "array", only: "2020-12" },
  contains: { ...schema, type: "array" },
  minContains: { ...count, type: "array", only: "2020-12" },
  maxContains: { ...count, type: "array", only: "2020-12" },
  minItems: { ...count, type: "array" },
  maxItems: { ...count, type: "array" },
  uniqueItems: { check: isBoolean, expected: "true or false", type: "array" },
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: {
    check: (value) => typeof value === "number" && value > 0,
    expected: "a number above 0",
    type: "number",
  },
  minLength: { ...count, type: "string" },
  maxLength: { ...count, type: "string" },
  pattern: {
    check: (value) => typeof value === "string" && isRegExp(value),
    expected: "a regular expression of JavaScript",
    type: "string",
  },
  format: { check: isString, expected: "the name of a format", type: "string" },
};

/** Keywords of a version of the standard that isn't supported; ignoring them would let invalid values through. */
export const refusedKeywords = ["$recursiveRef", "$recursiveAnchor"] as const;

/** The supported keywords. */
export const supportedKeywords: readonly string[] = Object.keys(supported);

/** Keywords that only the library itself gives to schemas, where the standard has none: negations, mostly. */
export const internal = {
  /** An array of values that are forbidden: neither arrays nor objects. */
  except: "\0except",
  /** `true`: only numbers that aren't whole. */
  fraction: "\0fraction",
  /** An array of numbers of which a number must not be a multiple. */
  notMultipleOf: "\0notMultipleOf",
  /** An array of patterns that must not be found. */
  notPattern: "\0notPattern",
  /** An array of names that an object must not have. */
  lacks: "\0lacks",
  /** A property that an object must have: see `SomeProperty`. */
  someProperty: "\0someProperty",
  /** The index from which on `contains` counts. */
  containsFrom: "\0containsFrom",
} as const;

/** The type that a keyword constrains. */
export function typeOfKeyword(keyword: string): TypeName | undefined {
  return Object.hasOwn(supported, keyword) ? supported[keyword]?.type : undefined;
}

/**
 * Returns a schema's keywords that constrain values in a dialect. All others are annotations. The schemas inside are not looked at.
 *
 * Throws {@linkcode JsonSchemaError} for a keyword with a wrong value.
 */
export function constraintsOf(given: JsonObject, path: string, dialect: Dialect): JsonObject {
  const result: Record<string, JsonValue> = {};
  for (const [keyword, value] of Object.entries(given)) {
    if ((refusedKeywords as readonly string[]).includes(keyword)) refuse(keyword, value, path);
    const rule = Object.hasOwn(supported, keyword) ? supported[keyword] : undefined;
    if (rule === undefined) continue;
    if (rule.only !== undefined && dialect !== "any" && dialect !== rule.only) continue;
    // Draft-07: a reference's neighbors say nothing.
    if (dialect === "draft-07" && keyword !== "$ref" && typeof given["$ref"] === "string") continue;
    if (!rule.check(value)) {
      const place = `${path}/${escapePointer(keyword)}`;
      throw new JsonSchemaError(`the schema's ${place} is ${show(value)}; it must be ${rule.expected}`, {
        path: place,
        value,
        expected: rule.expected,
      });
    }
    result[keyword] = value;
  }
  return result;
}

function refuse(keyword: string, value: JsonValue, at: string): never {
  const path = `${at}/${keyword}`;
  throw new UnsupportedKeywordError(
    `the schema's ${path} is of draft 2019-09, which isn't supported; use $dynamicRef of draft 2020-12`,
    { path, value, expected: "a keyword of draft 2020-12 or draft-07" },
  );
}

/** The dialect that a `$schema` names; `undefined` for another one. */
export function dialectOf(value: JsonValue | undefined): Dialect | undefined {
  if (typeof value !== "string") return undefined;
  if (/\/draft-0[67]\//.test(value)) return "draft-07";
  return value.includes("/draft/2020-12/") ? "2020-12" : undefined;
}
