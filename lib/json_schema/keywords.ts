/**
 * The keywords of JSON Schema: which are kept to, which say nothing about values, and which are refused.
 *
 * @module
 */

import { JsonSchemaError, UnsupportedKeywordError } from "../errors.ts";
import { show } from "../support/check.ts";
import { formats } from "./formats.ts";
import { isArray, isObject, type JsonObject, type JsonValue } from "./json.ts";
import { isRegExp } from "./pattern.ts";

type Check = (value: JsonValue) => boolean;

const isSchema: Check = (value) => typeof value === "boolean" || isObject(value);
const isSchemas: Check = (value) => isArray(value) && value.length > 0 && value.every(isSchema);
const isSchemaMap: Check = (value) => isObject(value) && Object.values(value).every(isSchema);
const isCount: Check = (value) => typeof value === "number" && Number.isInteger(value) && value >= 0;
const isNumber: Check = (value) => typeof value === "number";
const isBoolean: Check = (value) => typeof value === "boolean";
const isString: Check = (value) => typeof value === "string";
const isStrings: Check = (value) => isArray(value) && value.every(isString);

/** The names of types. */
export const typeNames = ["null", "boolean", "object", "array", "number", "integer", "string"] as const;
/** The name of a type. */
export type TypeName = (typeof typeNames)[number];

const isType: Check = (value) => (typeNames as readonly JsonValue[]).includes(value);
const isTypes: Check = (value) => isType(value) || (isArray(value) && value.length > 0 && value.every(isType));

/** What each supported keyword must be like, and what it speaks of. */
const supported: Readonly<Record<string, { check: Check; expected: string; type?: TypeName }>> = {
  $ref: { check: isString, expected: "a reference" },
  type: { check: isTypes, expected: `one or more of ${typeNames.join(", ")}` },
  enum: { check: (value) => isArray(value) && value.length > 0, expected: "an array of at least one value" },
  const: { check: () => true, expected: "a value" },
  allOf: { check: isSchemas, expected: "an array of schemas" },
  anyOf: { check: isSchemas, expected: "an array of schemas" },
  oneOf: { check: isSchemas, expected: "an array of schemas" },
  properties: { check: isSchemaMap, expected: "an object of schemas", type: "object" },
  required: { check: isStrings, expected: "an array of names", type: "object" },
  additionalProperties: { check: isSchema, expected: "a schema", type: "object" },
  propertyNames: { check: isSchema, expected: "a schema", type: "object" },
  minProperties: { check: isCount, expected: "a whole number from 0", type: "object" },
  maxProperties: { check: isCount, expected: "a whole number from 0", type: "object" },
  prefixItems: { check: isSchemas, expected: "an array of schemas", type: "array" },
  items: {
    check: (value) => isSchema(value) || (isArray(value) && value.every(isSchema)),
    expected: "a schema, or an array of schemas",
    type: "array",
  },
  additionalItems: { check: isSchema, expected: "a schema", type: "array" },
  minItems: { check: isCount, expected: "a whole number from 0", type: "array" },
  maxItems: { check: isCount, expected: "a whole number from 0", type: "array" },
  uniqueItems: { check: isBoolean, expected: "true or false", type: "array" },
  minimum: { check: isNumber, expected: "a number", type: "number" },
  maximum: { check: isNumber, expected: "a number", type: "number" },
  exclusiveMinimum: { check: isNumber, expected: "a number", type: "number" },
  exclusiveMaximum: { check: isNumber, expected: "a number", type: "number" },
  multipleOf: {
    check: (value) => typeof value === "number" && value > 0,
    expected: "a number above 0",
    type: "number",
  },
  minLength: { check: isCount, expected: "a whole number from 0", type: "string" },
  maxLength: { check: isCount, expected: "a whole number from 0", type: "string" },
  pattern: {
    check: (value) => typeof value === "string" && isRegExp(value),
    expected: "a regular expression of JavaScript",
    type: "string",
  },
  format: { check: isString, expected: "the name of a format", type: "string" },
};

/** Keywords that say nothing about which values are valid. */
const annotations = new Set([
  "$schema",
  "$id",
  "id",
  "$anchor",
  "$comment",
  "$defs",
  "definitions",
  "$vocabulary",
  "title",
  "description",
  "default",
  "examples",
  "example",
  "deprecated",
  "readOnly",
  "writeOnly",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
]);

/** Keywords of the standard that no grammar can keep to. */
export const refusedKeywords = [
  "not",
  "if",
  "then",
  "else",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "patternProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "contains",
  "minContains",
  "maxContains",
  "$dynamicRef",
  "$dynamicAnchor",
  "$recursiveRef",
  "$recursiveAnchor",
] as const;

/** The supported keywords. */
export const supportedKeywords: readonly string[] = Object.keys(supported);

/** The type that a keyword speaks of. */
export function typeOfKeyword(keyword: string): TypeName | undefined {
  return Object.hasOwn(supported, keyword) ? supported[keyword]?.type : undefined;
}

/** Checks the keywords of one schema, not those of the schemas inside. Throws {@linkcode JsonSchemaError} or one of its kind. */
export function checkKeywords(schema: JsonObject, path: string): void {
  for (const [keyword, value] of Object.entries(schema)) {
    if (annotations.has(keyword) || keyword.startsWith("x-")) continue;
    const rule = Object.hasOwn(supported, keyword) ? supported[keyword] : undefined;
    if (rule === undefined) refuse(keyword, value, `${path}/${escapePointer(keyword)}`);
    const place = `${path}/${keyword}`;
    if (!rule.check(value)) {
      throw new JsonSchemaError(`the schema's ${place} is ${show(value)}; it must be ${rule.expected}`, {
        path: place,
        value,
        expected: rule.expected,
      });
    }
    if (keyword === "format" && !formats.has(value as string)) refuseFormat(value, place);
    if (keyword === "multipleOf" && value !== 1) {
      throw new UnsupportedKeywordError(
        `the schema's ${place} is ${show(value)}; only 1, whole numbers, can be kept to`,
        {
          path: place,
          value,
          expected: "1, or no multipleOf",
        },
      );
    }
  }
}

function refuse(keyword: string, value: JsonValue, path: string): never {
  const isStandard = (refusedKeywords as readonly string[]).includes(keyword);
  throw new UnsupportedKeywordError(
    isStandard
      ? `the schema's ${path} can't be kept to by a grammar; say it with other keywords, or check the result yourself`
      : `the schema's ${path} is no keyword that is known; leave it out, or name it x-${keyword} if it is only a note`,
    { path, value, expected: "a supported keyword" },
  );
}

function refuseFormat(value: JsonValue, path: string): never {
  const names = [...formats.keys()].join(", ");
  throw new UnsupportedKeywordError(
    `the schema's ${path} is ${show(value)}; supported are ${names}. Say others by a pattern`,
    {
      path,
      value,
      expected: names,
    },
  );
}

/** A key as it is written in a JSON Pointer. */
export function escapePointer(key: string): string {
  if (!/[~/]/.test(key)) return key;
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
