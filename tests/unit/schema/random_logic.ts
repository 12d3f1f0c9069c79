/** Random schemas that combine all keywords in any way, over few and small values, so that keywords meet. */

import type { JsonSchema, JsonValue } from "../../../lib/json_schema/mod.ts";

type Next = (below: number) => number;

const names = ["a", "b", "ab", "c"];
const texts = ["", "a", "b", "ab", "ba", "abc", "c"];
const numbers = [0, 1, 2, 3, 4, 6, -1, -2, 0.5, 1.5, 2.25];
const patterns = ["a", "^a", "b$", "^[ab]+$", "^.?$", "^(?!b)"];

function one<T>(list: readonly T[], next: Next): T {
  return list[next(list.length)] as T;
}

function some<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}

/** A value of the small world. */
export function randomValue(next: Next, depth = 2): JsonValue {
  const kind = next(depth > 0 ? 8 : 4);
  if (kind === 0) return one([null, true, false], next);
  if (kind === 1) return one(numbers, next);
  if (kind < 4) return one(texts, next);
  if (kind < 6) return some(next(4), () => randomValue(next, depth - 1));
  return Object.fromEntries(some(next(4), () => [one(names, next), randomValue(next, depth - 1)]));
}

/** A schema of the small world; one in four may have `unevaluatedProperties` and `unevaluatedItems`. */
export function randomLogic(next: Next): JsonSchema {
  return logic(next, 3, next(4) === 0 ? makers : makers.filter((make) => !make.toString().includes("unevaluated")));
}

function logic(next: Next, depth: number, makers: readonly Maker[]): JsonSchema {
  const kind = next(16);
  if (depth === 0 || kind === 0) return simple(next);
  const schema: Record<string, unknown> = {};
  for (let count = 1 + next(3); count > 0; count--) {
    Object.assign(schema, one(makers, next)(() => logic(next, next(2) === 0 ? depth - 1 : 0, makers), next));
  }
  // Ajv passes over `contains` beside `prefixItems` where the array ends within these; branches of `allOf` combine them all the same.
  if ("contains" in schema) delete schema["prefixItems"];
  if (next(3) === 0) {
    schema["type"] = one(
      ["object", "array", "string", "number", "integer", ["object", "null"], ["array", "string"]],
      next,
    );
  }
  return schema;
}

function simple(next: Next): JsonSchema {
  const kind = next(8);
  if (kind === 0) return next(3) > 0;
  if (kind === 1) return { const: randomValue(next, 1) };
  if (kind === 2) return { enum: some(1 + next(3), () => randomValue(next, 1)) };
  if (kind === 3) return { type: one(["null", "boolean", "integer", "number", "string", "array", "object"], next) };
  return Object.assign({}, one(plain, next)(next), next(2) === 0 ? one(plain, next)(next) : {});
}

const plain: readonly ((next: Next) => Record<string, unknown>)[] = [
  (next) => ({ minimum: one(numbers, next) }),
  (next) => ({ exclusiveMaximum: one(numbers, next) }),
  (next) => ({ multipleOf: one([1, 2, 3, 0.5, 1.5], next) }),
  (next) => ({ minLength: next(3) }),
  (next) => ({ maxLength: next(3) }),
  (next) => ({ pattern: one(patterns, next) }),
  (next) => ({ type: "string", pattern: one(patterns, next) }),
  (next) => ({ type: "integer", minimum: next(3), maximum: 2 + next(3) }),
  (next) => ({ required: [one(names, next)] }),
  (next) => ({ minItems: next(3) }),
  (next) => ({ maxItems: next(3) }),
  (next) => ({ minProperties: next(3) }),
  (next) => ({ maxProperties: next(3) }),
];

type Maker = (inner: () => JsonSchema, next: Next) => Record<string, unknown>;

const makers: readonly Maker[] = [
  (inner, next) => ({ properties: Object.fromEntries(some(1 + next(2), () => [one(names, next), inner()])) }),
  (inner, next) => ({
    type: "object",
    properties: Object.fromEntries(some(1 + next(3), () => [one(names, next), inner()])),
    required: [one(names, next)],
  }),
  (inner) => ({ additionalProperties: inner() }),
  () => ({ additionalProperties: false }),
  (inner, next) => ({ patternProperties: Object.fromEntries(some(1 + next(2), () => [one(patterns, next), inner()])) }),
  (inner, next) => ({ propertyNames: next(2) === 0 ? { enum: ["a", "b"] } : inner() }),
  (_, next) => ({
    required: some(1 + next(2), () => one(names, next)).filter((name, at, all) => all.indexOf(name) === at),
  }),
  (_, next) => ({ dependentRequired: { [one(names, next)]: [one(names, next)] } }),
  (inner, next) => ({ dependentSchemas: { [one(names, next)]: inner() } }),
  (inner) => ({ unevaluatedProperties: inner() }),
  () => ({ unevaluatedProperties: false }),
  (inner) => ({ items: inner() }),
  (inner, next) => ({ prefixItems: some(1 + next(2), inner), ...(next(2) === 0 ? { items: inner() } : {}) }),
  (inner, next) => ({ contains: inner(), ...(next(2) === 0 ? { minContains: next(3) } : {}) }),
  (inner, next) => ({ contains: inner(), maxContains: 1 + next(2), minContains: next(2) }),
  () => ({ unevaluatedItems: false }),
  (inner) => ({ unevaluatedItems: inner() }),
  (_, next) => ({ items: { enum: some(1 + next(3), () => randomValue(next, 1)) }, uniqueItems: true }),
  (inner) => ({ not: inner() }),
  (inner) => ({ not: inner() }),
  (inner, next) => ({
    if: inner(),
    ...(next(3) > 0 ? { then: inner() } : {}),
    ...(next(2) === 0 ? { else: inner() } : {}),
  }),
  (inner, next) => ({ oneOf: some(2 + next(2), inner) }),
  (inner, next) => ({ oneOf: some(2 + next(2), inner) }),
  (inner, next) => ({ anyOf: some(2 + next(2), inner) }),
  (inner, next) => ({ allOf: some(1 + next(2), inner) }),
  (_, next) => one(plain, next)(next),
  (_, next) => one(plain, next)(next),
];
