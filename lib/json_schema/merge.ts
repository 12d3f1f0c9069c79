/**
 * Combined rules of several schemas for the same value, type by type.
 *
 * @module
 */

import { SchemaTooComplexError, UnsupportedKeywordError } from "../errors.ts";
import { fitsPattern } from "./assertions.ts";
import type { SchemaDocument, SchemaNode } from "./document.ts";
import { isArray, isObject, type JsonValue, sameJson } from "./json.ts";
import { internal, type TypeName, typeNames, typeOfKeyword } from "./keywords.ts";
import type { Leaf } from "./leaves.ts";
import { nextNumber, type NumberRules } from "./numbers.ts";
import type { StringRules } from "./strings.ts";
import {
  itemKeywords,
  itemNode,
  nameFits,
  propertyNodes,
  type SomeProperty,
  somePropertyOf,
  validateOwn,
} from "./validate.ts";

/** Items of which some must be like a schema. */
export interface ContainsRules {
  /** The schema. */
  readonly node: SchemaNode;
  /** Minimum number. */
  readonly min: number;
  /** Maximum number. */
  readonly max: number;
  /** The index from which on they count. */
  readonly from: number;
}

/** Rules for arrays. */
export interface ArrayRules {
  /** The schemas of the first items. */
  readonly first: readonly (readonly SchemaNode[])[];
  /** The schemas of the other items; `undefined` when there are none. */
  readonly rest: readonly SchemaNode[] | undefined;
  /** Minimum number of items. */
  readonly min: number;
  /** Maximum number of items. */
  readonly max: number;
  /** Items that they must contain. */
  readonly contains: readonly ContainsRules[];
  /** Whether no two items may be equal. */
  readonly unique: boolean;
}

/** Other properties than the named ones, as far as the same patterns match their names. */
export interface NameClass {
  /** Patterns that match the names. */
  readonly match: readonly string[];
  /** Patterns that don't match them. */
  readonly miss: readonly string[];
  /** The schemas of the values. */
  readonly nodes: readonly SchemaNode[];
}

/** Rules for objects. */
export interface ObjectRules {
  /** The schemas of the properties that are named, in order. */
  readonly properties: ReadonlyMap<string, readonly SchemaNode[]>;
  /** Which of them must be there. */
  readonly required: ReadonlySet<string>;
  /** Other properties; none when there are no others. */
  readonly others: readonly NameClass[];
  /** The schemas of the names. */
  readonly names: readonly SchemaNode[];
  /** Minimum number of properties. */
  readonly min: number;
  /** Maximum number of properties. */
  readonly max: number;
  /** Another property that must be there, as the last one; none where it is empty. */
  readonly last: readonly NameClass[];
}

const allTypes: ReadonlySet<TypeName> = new Set(typeNames.filter((type) => type !== "integer"));

/** Types and values of a leaf. */
export interface Merged {
  /** The types it allows, `integer` never beside `number`. */
  readonly types: ReadonlySet<TypeName>;
  /** The only values it allows; `undefined` when it doesn't name them. */
  readonly values: readonly JsonValue[] | undefined;
  /** Where the leaf is in the schema, for errors. */
  readonly path: string;
}

/**
 * Returns the types and values of a leaf. A schema without `type` allows all types; when `narrow`, only those that its keywords speak of, as whoever writes
 * `properties` means an object.
 */
export function mergeLeaf(document: SchemaDocument, leaf: Leaf, narrow: boolean): Merged {
  const path = leaf[0]?.path ?? "";
  const values = valuesOf(document, leaf);
  let types = allTypes;
  let named = false;
  for (const { schema, made } of leaf) {
    if (schema === undefined) return { types: new Set(), values: undefined, path };
    if (schema["type"] === undefined) continue;
    named ||= !made;
    const list = (isArray(schema["type"]) ? schema["type"] : [schema["type"]]) as TypeName[];
    types = commonTypes(types, new Set(list));
  }
  if (!named && narrow) {
    const meant = new Set<TypeName>();
    for (const { schema, made } of leaf) {
      if (made) continue;
      for (const keyword in schema) {
        const type = typeOfKeyword(keyword);
        if (type !== undefined) meant.add(type);
      }
    }
    if (meant.size > 0) types = commonTypes(types, meant);
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
  const naming = leaf.find(({ schema }) => schema?.["enum"] !== undefined)?.schema;
  if (naming === undefined) return undefined;
  const list = naming["enum"] as readonly JsonValue[];
  const unique = list.length > 200
    ? [...new Map(list.map((value) => [JSON.stringify(value), value])).values()]
    : list.filter((value, index) => !list.slice(0, index).some((other) => sameJson(value, other)));
  return leaf.length === 1 ? unique : unique.filter((value) => allowsValue(document, leaf, value));
}

/** Whether a value is valid for all own keywords of a leaf. */
export function allowsValue(document: SchemaDocument, leaf: Leaf, value: JsonValue): boolean {
  return leaf.every((node) => validateOwn(document, node, value) === undefined);
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

/** The values of all lists of a keyword. */
function listed<T>(leaf: Leaf, keyword: string): T[] {
  return all<readonly T[]>(leaf, keyword).flatMap(({ value }) => value);
}

function most(leaf: Leaf, keyword: string, start: number): number {
  return Math.max(start, ...all<number>(leaf, keyword).map(({ value }) => value));
}

function least(leaf: Leaf, keyword: string): number {
  return Math.min(Infinity, ...all<number>(leaf, keyword).map(({ value }) => value));
}

/** Merges the rules of a leaf for numbers. */
export function mergeNumbers(leaf: Leaf, integer: boolean): NumberRules {
  const above = all<number>(leaf, "exclusiveMinimum").map(({ value }) => nextNumber(value, true));
  const below = all<number>(leaf, "exclusiveMaximum").map(({ value }) => nextNumber(value, false));
  const multiples = [...new Set(all<number>(leaf, "multipleOf").map(({ value }) => value))];
  return {
    integer: integer || multiples.includes(1),
    min: Math.max(most(leaf, "minimum", -Infinity), ...above),
    max: Math.min(least(leaf, "maximum"), ...below),
    multiples: multiples.filter((one) => one !== 1),
    notMultiples: listed<number>(leaf, internal.notMultipleOf),
    fraction: all(leaf, internal.fraction).length > 0,
    except: listed<JsonValue>(leaf, internal.except).filter((value) => typeof value === "number"),
    path: all(leaf, "multipleOf")[0]?.path ?? leaf[0]?.path ?? "",
  };
}

/** Merges the rules of a leaf for strings. */
export function mergeStrings(leaf: Leaf): StringRules {
  const patterns = new Map(all<string>(leaf, "pattern").map(({ value, path }) => [value, path]));
  const not = leaf.flatMap(({ schema, path }) => {
    const list = schema?.[internal.notPattern];
    return isArray(list) ? list.map((source) => ({ source: source as string, path })) : [];
  });
  return {
    minLength: most(leaf, "minLength", 0),
    maxLength: least(leaf, "maxLength"),
    patterns: [...patterns].map(([source, path]) => ({ source, path })),
    notPatterns: not,
    formats: [...new Set(all<string>(leaf, "format").map(({ value }) => value))],
    except: listed<JsonValue>(leaf, internal.except).filter((value) => typeof value === "string"),
    path: leaf[0]?.path ?? "",
  };
}

/**
 * Merges the rules of a leaf for arrays. When `narrow`, where no keyword is about items behind the first ones there are none, and where none is about the number of items
 * all the first ones are there: both are narrower than the schema.
 */
export function mergeArrays(document: SchemaDocument, leaf: Leaf, narrow = true): ArrayRules {
  const lengthOf = (nodes: Leaf) =>
    Math.max(
      0,
      ...nodes.map(({ schema }) => {
        const list = schema?.[itemKeywords(schema).first];
        return isArray(list) ? list.length : 0;
      }),
    );
  const length = lengthOf(leaf);
  const said = narrow ? lengthOf(leaf.filter(({ made }) => !made)) : 0;
  const at = (index: number) =>
    leaf.flatMap((node) => {
      const item = itemNode(document, node, node.schema ?? {}, index);
      return item === undefined ? [] : [item];
    });
  const max = least(leaf, "maxItems");
  const saidMin = all<number>(leaf.filter(({ made }) => !made), "minItems").length > 0;
  const min = Math.max(most(leaf, "minItems", 0), saidMin ? 0 : Math.min(said, max));
  const open = said === 0 || min > said ||
    leaf.some(({ schema }) => schema !== undefined && schema[itemKeywords(schema).rest] !== undefined);
  const end = open ? max : Math.min(max, said);
  return {
    first: Array.from({ length: Math.min(length, end) }, (_, index) => at(index)),
    rest: open ? at(length) : undefined,
    min,
    max: end,
    contains: containsOf(document, leaf),
    unique: all<boolean>(leaf, "uniqueItems").some(({ value }) => value),
  };
}

function containsOf(document: SchemaDocument, leaf: Leaf): ContainsRules[] {
  return leaf.flatMap((node) => {
    const { schema } = node;
    if (schema?.["contains"] === undefined) return [];
    const { minContains = 1, maxContains = Infinity, [internal.containsFrom]: from = 0 } = schema;
    const rules = { min: minContains as number, max: maxContains as number, from: from as number };
    if (rules.min === 0 && rules.max === Infinity) return [];
    return [{ node: document.child(node, "contains"), ...rules }];
  });
}

const objects = {
  narrow: new WeakMap<Leaf, readonly ObjectRules[]>(),
  wide: new WeakMap<Leaf, readonly ObjectRules[]>(),
};

/**
 * Merges the rules of a leaf for objects: the ways to be valid, one of which has to be kept to. When `narrow`, where properties are named and no keyword is about others there
 * are no others, which is narrower than the schema.
 */
export function mergeObjects(document: SchemaDocument, leaf: Leaf, narrow = true): readonly ObjectRules[] {
  const known = narrow ? objects.narrow : objects.wide;
  let rules = known.get(leaf);
  if (rules === undefined) known.set(leaf, rules = mergeObjectsAnew(document, leaf, narrow));
  return rules;
}

function mergeObjectsAnew(document: SchemaDocument, leaf: Leaf, narrow: boolean): readonly ObjectRules[] {
  const lacks = new Set(listed<string>(leaf, internal.lacks));
  const required = new Set(listed<string>(leaf, "required"));
  const keysOf = (nodes: Leaf, keyword: string) =>
    nodes.flatMap(({ schema }) => isObject(schema?.[keyword]) ? Object.keys(schema[keyword]) : []);
  const properties = new Map<string, readonly SchemaNode[]>();
  for (const name of [...keysOf(leaf, "properties"), ...required, ...lacks]) {
    if (properties.has(name)) continue;
    const nodes = leaf.flatMap((node) => propertyNodes(document, node, node.schema ?? {}, name));
    properties.set(name, lacks.has(name) ? [document.nothing(leaf[0]?.path ?? "")] : nodes);
  }
  const own = leaf.filter(({ made }) => !made);
  const closing = narrow && keysOf(own, "properties").length + keysOf(own, "patternProperties").length > 0;
  const open = !closing || leaf.some(({ schema }) => schema?.["additionalProperties"] !== undefined);
  const base: ObjectRules = {
    properties,
    required,
    others: nameClasses(document, leaf, [...new Set(keysOf(leaf, "patternProperties"))], open),
    names: leaf.filter(({ schema }) => schema?.["propertyNames"] !== undefined).map((node) =>
      document.child(node, "propertyNames")
    ),
    min: most(leaf, "minProperties", 0),
    max: least(leaf, "maxProperties"),
    last: [],
  };
  let ways: ObjectRules[] = [base];
  for (const node of leaf) {
    const some = somePropertyOf(node.schema ?? {});
    if (some === undefined) continue;
    const value = document.child(node, internal.someProperty, "schema");
    ways = ways.flatMap((rules) => withSome(rules, some, value, narrow));
  }
  return ways;
}

const MAX_PATTERNS = 6;

/** Other properties by which of the patterns match their names. */
function nameClasses(
  document: SchemaDocument,
  leaf: Leaf,
  patterns: readonly string[],
  open: boolean,
): NameClass[] {
  if (patterns.length > MAX_PATTERNS) {
    const path = placeOf(leaf, "patternProperties");
    throw new SchemaTooComplexError(`the schema's ${path} has more than ${MAX_PATTERNS} patterns; have fewer`, {
      path,
      value: patterns.length,
      expected: `at most ${MAX_PATTERNS} patterns`,
    });
  }
  const classes: NameClass[] = [];
  for (let mask = open ? 0 : 1; mask < 1 << patterns.length; mask++) {
    const match = patterns.filter((_, at) => (mask >> at) % 2 === 1);
    const nodes = leaf.flatMap((node) => {
      const { patternProperties, additionalProperties } = node.schema ?? {};
      const own = isObject(patternProperties) ? match.filter((one) => Object.hasOwn(patternProperties, one)) : [];
      if (own.length > 0) return own.map((one) => document.child(node, "patternProperties", one));
      return additionalProperties === undefined ? [] : [document.child(node, "additionalProperties")];
    });
    classes.push({ match, miss: patterns.filter((one) => !match.includes(one)), nodes });
  }
  return classes;
}

/** The ways to have some property: one of the named ones, or another one. */
function withSome(rules: ObjectRules, some: SomeProperty, value: SchemaNode, narrow: boolean): ObjectRules[] {
  const named = [...rules.properties].filter(([name]) => nameFits(some, name)).map(([name, nodes]): ObjectRules => ({
    ...rules,
    properties: new Map([...rules.properties, [name, [...nodes, value]]]),
    required: new Set([...rules.required, name]),
  }));
  const last = rules.others.map(({ match, miss, nodes }): NameClass => ({
    match: some.match === null ? match : [...match, some.match],
    miss: [...miss, ...some.patterns, ...some.names.map(exactly)],
    nodes: [...nodes, value],
  }));
  // Two others might be the same, where the second one counts: only one of them is asked for.
  if (last.length === 0) return named;
  if (rules.last.length === 0) return [...named, { ...rules, last }];
  if (!narrow) return [...named, rules];
  if (named.length > 0) return named;
  throw new UnsupportedKeywordError(
    `the schema's ${value.path} asks for several other properties, which no grammar can express; name them`,
    { path: value.path, expected: "named properties" },
  );
}

/** The pattern of exactly one text. */
function exactly(name: string): string {
  return `^${[...name].map((char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`).join("")}$`;
}

/** Whether a class of names has one. */
export function isInClass({ match, miss }: NameClass, name: string): boolean {
  return match.every((one) => fitsPattern(one, name)) && !miss.some((one) => fitsPattern(one, name));
}

/** Where a keyword stands. */
export function placeOf(leaf: Leaf, keyword: string): string {
  return all(leaf, keyword)[0]?.path ?? leaf[0]?.path ?? "";
}
