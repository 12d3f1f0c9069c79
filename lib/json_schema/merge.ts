/**
 * What several schemas that all speak of the same value say together, type by type.
 *
 * @module
 */

import { UnsupportedKeywordError } from "../errors.ts";
import type { SchemaDocument, SchemaNode } from "./document.ts";
import { isArray, isObject, type JsonValue, sameJson } from "./json.ts";
import { type TypeName, typeNames, typeOfKeyword } from "./keywords.ts";
import type { Leaf } from "./leaves.ts";
import { nextNumber, type NumberBounds } from "./numbers.ts";
import type { StringRules } from "./strings.ts";
import { itemKeywords, itemNode, propertyNode, validateOwn } from "./validate.ts";

/** What arrays must be like. */
export interface ArrayRules {
  /** The schemas of the first items. */
  readonly first: readonly (readonly SchemaNode[])[];
  /** The schemas of the other items; nothing when there are none. */
  readonly rest: readonly SchemaNode[] | undefined;
  /** How many items at least. */
  readonly min: number;
  /** How many items at most. */
  readonly max: number;
}

/** What objects must be like. */
export interface ObjectRules {
  /** The schemas of the properties that are named, in order. */
  readonly properties: ReadonlyMap<string, readonly SchemaNode[]>;
  /** Which of them must be there. */
  readonly required: ReadonlySet<string>;
  /** The schemas of other properties; nothing when there are none. */
  readonly other: readonly SchemaNode[] | undefined;
  /** The schemas of the names. */
  readonly names: readonly SchemaNode[];
  /** How many properties at least. */
  readonly min: number;
  /** How many properties at most. */
  readonly max: number;
}

const allTypes: ReadonlySet<TypeName> = new Set(typeNames.filter((type) => type !== "integer"));

/** What a leaf says. */
export interface Merged {
  /** The types it allows, `integer` never beside `number`. */
  readonly types: ReadonlySet<TypeName>;
  /** The only values it allows; nothing when it doesn't name them. */
  readonly values: readonly JsonValue[] | undefined;
  /** Where the leaf is in the schema, for errors. */
  readonly path: string;
}

/**
 * The types and values of a leaf. A schema without `type` allows all types; when `narrow`, only those that its keywords speak of, as whoever writes
 * `properties` means an object.
 */
export function mergeLeaf(document: SchemaDocument, leaf: Leaf, narrow: boolean): Merged {
  const path = leaf[0]?.path ?? "";
  const values = valuesOf(document, leaf);
  let types = allTypes;
  let named = false;
  for (const { schema } of leaf) {
    if (schema === undefined) return { types: new Set(), values: undefined, path };
    if (schema["type"] === undefined) continue;
    named = true;
    const list = (isArray(schema["type"]) ? schema["type"] : [schema["type"]]) as TypeName[];
    types = commonTypes(types, new Set(list));
  }
  if (!named && narrow) {
    const meant = new Set<TypeName | undefined>();
    for (const { schema } of leaf) for (const keyword in schema) meant.add(typeOfKeyword(keyword));
    meant.delete(undefined);
    if (meant.size > 0) types = meant as Set<TypeName>;
  }
  return { types, values, path };
}

function commonTypes(a: ReadonlySet<TypeName>, b: ReadonlySet<TypeName>): ReadonlySet<TypeName> {
  if (a === allTypes && !b.has("integer")) return b;
  const common = new Set<TypeName>();
  for (const type of typeNames) {
    const has = (set: ReadonlySet<TypeName>) => set.has(type) || (type === "integer" && set.has("number"));
    if (has(a) && has(b)) common.add(type);
  }
  if (common.has("number")) common.delete("integer");
  return common;
}

function valuesOf(document: SchemaDocument, leaf: Leaf): readonly JsonValue[] | undefined {
  const naming = leaf.find(({ schema }) => schema?.["enum"] !== undefined || schema?.["const"] !== undefined)?.schema;
  if (naming === undefined) return undefined;
  const list = naming["const"] === undefined ? naming["enum"] as readonly JsonValue[] : [naming["const"]];
  const unique = list.length > 200
    ? [...new Map(list.map((value) => [JSON.stringify(value), value])).values()]
    : list.filter((value, index) => !list.slice(0, index).some((other) => sameJson(value, other)));
  return unique.filter((value) => leaf.every((node) => validateOwn(document, node, value) === undefined));
}

/** All values of a keyword, and where it stands. */
function all<T>(leaf: Leaf, keyword: string): { value: T; path: string }[] {
  const found: { value: T; path: string }[] = [];
  for (const { schema, path } of leaf) {
    const value = schema?.[keyword];
    if (value !== undefined) found.push({ value: value as T, path: `${path}/${keyword}` });
  }
  return found;
}

function most(leaf: Leaf, keyword: string, start: number): number {
  return Math.max(start, ...all<number>(leaf, keyword).map(({ value }) => value));
}

function least(leaf: Leaf, keyword: string): number {
  return Math.min(Infinity, ...all<number>(leaf, keyword).map(({ value }) => value));
}

/** The bounds of numbers. */
export function mergeNumbers(leaf: Leaf, integer: boolean): NumberBounds {
  const above = all<number>(leaf, "exclusiveMinimum").map(({ value }) => nextNumber(value, true));
  const below = all<number>(leaf, "exclusiveMaximum").map(({ value }) => nextNumber(value, false));
  return {
    integer: integer || all(leaf, "multipleOf").length > 0,
    min: Math.max(most(leaf, "minimum", -Infinity), ...above),
    max: Math.min(least(leaf, "maximum"), ...below),
  };
}

/** What strings must be like. */
export function mergeStrings(leaf: Leaf): StringRules {
  const patterns = new Map(all<string>(leaf, "pattern").map(({ value, path }) => [value, path]));
  return {
    minLength: most(leaf, "minLength", 0),
    maxLength: least(leaf, "maxLength"),
    patterns: [...patterns].map(([source, path]) => ({ source, path })),
    formats: [...new Set(all<string>(leaf, "format").map(({ value }) => value))],
    except: [],
    path: leaf[0]?.path ?? "",
  };
}

/**
 * What arrays must be like. Where nothing is said of items behind the first ones there are none, and where nothing is said of the number of items all the
 * first ones are there: both are narrower than the schema.
 */
export function mergeArrays(document: SchemaDocument, leaf: Leaf): ArrayRules {
  const lists = leaf.map(({ schema }) => {
    const list = schema?.[itemKeywords(schema).first];
    return isArray(list) ? list.length : 0;
  });
  const length = Math.max(0, ...lists);
  const at = (index: number) =>
    leaf.flatMap((node) => {
      const item = itemNode(document, node, node.schema ?? {}, index);
      return item === undefined ? [] : [item];
    });
  const saidMin = all<number>(leaf, "minItems").length > 0;
  const max = least(leaf, "maxItems");
  const min = saidMin ? most(leaf, "minItems", 0) : Math.min(length, max);
  const open = length === 0 || min > length ||
    leaf.some(({ schema }) => schema !== undefined && schema[itemKeywords(schema).rest] !== undefined);
  refuseUnique(leaf, open ? max : Math.min(max, length));
  const first = Array.from({ length: Math.min(length, max) }, (_, index) => at(index));
  return { first, rest: open ? at(length) : undefined, min, max: open ? max : Math.min(max, length) };
}

function refuseUnique(leaf: Leaf, max: number): void {
  const unique = all<boolean>(leaf, "uniqueItems").find(({ value }) => value);
  if (unique === undefined || max <= 1) return;
  throw new UnsupportedKeywordError(
    `the schema's ${unique.path} can't be kept to by a grammar for more than one item; leave it out, or check the result yourself`,
    { path: unique.path, value: true, expected: "no uniqueItems, or maxItems 1" },
  );
}

const objects = new WeakMap<Leaf, ObjectRules>();

/** What objects must be like. Where properties are named and nothing is said of others there are no others, which is narrower than the schema. */
export function mergeObjects(document: SchemaDocument, leaf: Leaf): ObjectRules {
  let rules = objects.get(leaf);
  if (rules === undefined) objects.set(leaf, rules = mergeObjectsAnew(document, leaf));
  return rules;
}

function mergeObjectsAnew(document: SchemaDocument, leaf: Leaf): ObjectRules {
  const properties = new Map<string, readonly SchemaNode[]>();
  const required = new Set(all<readonly string[]>(leaf, "required").flatMap(({ value }) => value));
  const named = leaf.flatMap(({ schema }) => isObject(schema?.["properties"]) ? Object.keys(schema["properties"]) : []);
  for (const name of [...named, ...required]) {
    if (properties.has(name)) continue;
    properties.set(
      name,
      leaf.flatMap((node) => {
        const property = propertyNode(document, node, node.schema ?? {}, name);
        return property === undefined ? [] : [property];
      }),
    );
  }
  const speaking = leaf.filter(({ schema }) => schema?.["additionalProperties"] !== undefined);
  const other = speaking.map((node) => document.child(node, "additionalProperties"));
  const names = leaf.filter(({ schema }) => schema?.["propertyNames"] !== undefined);
  return {
    properties,
    required,
    other: speaking.length > 0 || named.length === 0 ? other : undefined,
    names: names.map((node) => document.child(node, "propertyNames")),
    min: most(leaf, "minProperties", 0),
    max: least(leaf, "maxProperties"),
  };
}

/** Whether any schema of a leaf has a keyword. */
export function hasKeyword(leaf: Leaf, keyword: string): boolean {
  return all(leaf, keyword).length > 0;
}

/** Where a keyword stands. */
export function placeOf(leaf: Leaf, keyword: string): string {
  return all(leaf, keyword)[0]?.path ?? leaf[0]?.path ?? "";
}
