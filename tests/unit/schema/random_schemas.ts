/** Random JSON Schemas of the supported keywords, each with a source of values that are valid for it. */

import fc from "fast-check";
import type { JsonValue } from "../../../lib/json_schema/json.ts";

import {
  anyJson,
  type Case,
  fixed,
  flat,
  formatted,
  integers,
  lengths,
  numbers,
  patterned,
  type RootCase,
  simple,
  size,
  type Source,
  strings,
} from "./flat_schemas.ts";

const names = ["a", "b", "name", "a b", "ü", "", 'q"uote', "constructor", "line\nbreak", "ab", "漢"];
const otherNames = ["other", "abc", "nam", "ä", "name2", "q"];

/** Objects, arrays and combinations of what is inside. */
function composed(inner: Source): Source {
  return fc.oneof(
    { weight: 4, arbitrary: objects(inner) },
    { weight: 3, arbitrary: arrays(inner) },
    { weight: 2, arbitrary: choices(inner) },
    { weight: 1, arbitrary: tagged(inner) },
    { weight: 2, arbitrary: merged(inner) },
  );
}

function objects(inner: Source): Source {
  return fc.record({
    properties: fc.uniqueArray(fc.tuple(fc.constantFrom(...names), inner, fc.boolean()), {
      maxLength: 4,
      selector: ([name]) => name,
    }),
    additional: fc.oneof(fc.constantFrom<undefined | boolean>(undefined, false, true), inner),
  }).map(({ properties, additional }) => {
    const schema: Record<string, unknown> = {
      type: "object",
      properties: Object.fromEntries(properties.map(([name, one]) => [name, one.schema])),
    };
    const required = properties.filter(([, , needed]) => needed).map(([name]) => name);
    if (required.length > 0) schema["required"] = required;
    const open = typeof additional === "object"
      ? additional
      : additional === true
      ? { schema: true, values: anyJson }
      : undefined;
    if (additional !== undefined) {
      schema["additionalProperties"] = typeof additional === "object" ? additional.schema : additional;
    }
    const listed = properties.map(([name, one, needed]) =>
      needed
        ? one.values.map((value): [string, JsonValue][] => [[name, value]])
        : fc.option(one.values.map((value): [string, JsonValue][] => [[name, value]]), {
          nil: [] as [string, JsonValue][],
        })
    );
    const others = open === undefined || (open.schema as unknown) === false
      ? fc.constant<[string, JsonValue][]>([])
      : fc.uniqueArray(fc.tuple(fc.constantFrom(...otherNames), open.values), {
        maxLength: 2,
        selector: ([name]) => name,
      });
    return {
      schema,
      values: fc.tuple(...listed, others).map((parts) => Object.fromEntries(parts.flat())),
    };
  });
}

function arrays(inner: Source): Source {
  const lists: Source = fc.record({
    item: inner,
    min: fc.option(size, { nil: undefined }),
    more: fc.option(size, { nil: undefined }),
  }).map(
    ({ item, min, more }) => {
      const max = more === undefined ? undefined : (min ?? 0) + more;
      return {
        schema: {
          type: "array",
          items: item.schema,
          ...(min === undefined ? {} : { minItems: min }),
          ...(max === undefined ? {} : { maxItems: max }),
        },
        values: fc.array(item.values, { minLength: min ?? 0, maxLength: max ?? 5 }),
      };
    },
  );
  const tuples: Source = fc.record({
    first: fc.array(inner, { minLength: 1, maxLength: 3 }),
    rest: fc.option(inner, { nil: undefined }),
    min: fc.option(size, { nil: undefined }),
  }).map(({ first, rest, min: wanted }) => {
    const min = wanted === undefined ? undefined : rest === undefined ? Math.min(wanted, first.length) : wanted;
    const sizes = fc.integer({
      min: min ?? first.length,
      max: Math.max(min ?? 0, first.length + (rest === undefined ? 0 : 2)),
    });
    return {
      schema: {
        type: "array",
        prefixItems: first.map(({ schema }) => schema),
        ...(rest === undefined ? { items: false } : { items: rest.schema }),
        ...(min === undefined ? {} : { minItems: min }),
      },
      values: sizes.chain((count) =>
        fc.tuple(...Array.from({ length: count }, (_, index) => (first[index] ?? rest as Case).values))
      ) as fc.Arbitrary<JsonValue>,
    };
  });
  return fc.oneof(lists, tuples);
}

function choices(inner: Source): Source {
  const any: Source = fc.array(inner, { minLength: 2, maxLength: 3 }).map((branches) => ({
    schema: { anyOf: branches.map(({ schema }) => schema) },
    values: fc.oneof(...branches.map(({ values }) => values)),
  }));
  const nullable: Source = lengths.map(({ schema, values }) => ({
    schema: { ...(schema as object), type: ["string", "null"] },
    values: fc.oneof(values, fc.constant(null)),
  }));
  const byType: Source = fc.tuple(integers, lengths).map(([one, other]) => ({
    schema: { oneOf: [one.schema, other.schema, { type: "null" }] },
    values: fc.oneof(one.values, other.values, fc.constant(null)),
  }));
  return fc.oneof(any, nullable, byType);
}

/** Objects that are told apart by a property with a constant. */
function tagged(inner: Source): Source {
  return fc.uniqueArray(fc.tuple(fc.constantFrom("circle", "square", "line"), inner), {
    minLength: 2,
    maxLength: 3,
    selector: ([tag]) => tag,
  }).map((branches) => ({
    schema: {
      oneOf: branches.map(([tag, { schema }]) => ({
        type: "object",
        properties: { kind: { const: tag }, data: schema },
        required: ["kind", "data"],
        additionalProperties: false,
      })),
    },
    values: fc.oneof(...branches.map(([tag, { values }]) => values.map((data) => ({ kind: tag, data })))),
  }));
}

function merged(inner: Source): Source {
  const properties: Source = fc.tuple(inner, inner).map(([one, other]) => ({
    schema: {
      type: "object",
      allOf: [
        { properties: { left: one.schema }, required: ["left"] },
        { properties: { right: other.schema }, required: ["right"] },
      ],
    },
    values: fc.record({ left: one.values, right: other.values }) as fc.Arbitrary<JsonValue>,
  }));
  const bounds: Source = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 0, max: 100 })).map((
    [low, span],
  ) => ({
    schema: { allOf: [{ type: "number", minimum: low }, { type: "integer" }, { maximum: low + span }] },
    values: fc.integer({ min: low, max: low + span }),
  }));
  const texts: Source = fc.integer({ min: 2, max: 5 }).map((length) => ({
    schema: {
      type: "string",
      minLength: length,
      allOf: [{ pattern: "^[a-z]+$" }, { pattern: "e" }, { maxLength: length + 2 }],
    },
    values: fc.integer({ min: length - 1, max: length + 1 }).map((count) => `e${"x".repeat(count)}`),
  }));
  return fc.oneof(properties, bounds, texts);
}

/** Schemas that hold themselves. */
const recursive: fc.Arbitrary<RootCase> = fc.tuple(integers, fc.boolean()).map(([value, tree]) => {
  const key = tree ? "children" : "next";
  const self = { $ref: "#/$defs/node" };
  const schema = {
    $ref: "#/$defs/node",
    $defs: {
      node: {
        type: "object",
        properties: {
          value: value.schema,
          [key]: tree ? { type: "array", items: self } : { anyOf: [self, { type: "null" }] },
        },
        required: ["value", key],
        additionalProperties: false,
      },
    },
  };
  const { node } = fc.letrec<{ node: JsonValue }>((tie) => ({
    node: fc.record({
      value: value.values,
      [key]: fc.oneof(
        { maxDepth: 3, depthIdentifier: "node" },
        fc.constant(tree ? [] : null),
        tree ? fc.array(tie("node"), { maxLength: 2 }) : tie("node"),
      ),
    }) as fc.Arbitrary<JsonValue>,
  }));
  return { schema, values: node, draft: "2020-12", bounded: false };
});

function nested(leaves: Source, depth: number): Source {
  return depth === 0
    ? leaves
    : fc.oneof({ weight: 1, arbitrary: leaves }, { weight: 3, arbitrary: composed(nested(leaves, depth - 1)) });
}

/** The older draft's ways of saying it. */
function draft07(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(draft07);
  if (typeof schema !== "object" || schema === null) return schema;
  const { prefixItems, items, ...others } = schema as Record<string, unknown>;
  const rest = Object.fromEntries(
    Object.entries(others).map(([key, value]) => [key, key === "const" || key === "enum" ? value : draft07(value)]),
  );
  if (Array.isArray(prefixItems)) return { ...rest, items: draft07(prefixItems), additionalItems: draft07(items) };
  return items === undefined ? rest : { ...rest, items: draft07(items) };
}

const combined: fc.Arbitrary<RootCase> = fc.tuple(
  nested(flat, 2),
  fc.constantFrom<RootCase["draft"]>("2020-12", "07"),
  fc.boolean(),
).map(([{ schema, values }, draft, byReference]) => {
  const own = draft === "07" ? draft07(schema) as Record<string, unknown> : schema;
  const key = draft === "07" ? "definitions" : "$defs";
  const whole = byReference ? { $ref: `#/${key}/a~1b%20c`, [key]: { "a/b c": own } } : own;
  return { schema: whole, values, draft, bounded: false };
});

/** Any schema of the supported keywords. */
export const randomSchemas: fc.Arbitrary<RootCase> = fc.oneof({ weight: 9, arbitrary: combined }, {
  weight: 1,
  arbitrary: recursive,
});

const shortStrings: Source = fc.tuple(size, size).map(([min, more]) => ({
  schema: { type: "string", minLength: min, maxLength: min + more },
  values: strings,
}));
const boundedFlat: Source = fc.oneof(
  simple,
  integers,
  numbers,
  shortStrings,
  patterned.filter(({ schema }) => typeof schema === "object" && schema["maxLength"] !== undefined),
  formatted.filter(({ schema }) =>
    typeof schema === "object" && ["date", "time", "uuid", "ipv4"].includes(String(schema["format"]))
  ),
  fixed,
);

function boundedComposed(inner: Source): Source {
  const object: Source = fc.uniqueArray(fc.tuple(fc.constantFrom(...names), inner, fc.boolean()), {
    maxLength: 3,
    selector: ([name]) => name,
  }).map(
    (properties) => ({
      schema: {
        type: "object",
        properties: Object.fromEntries(properties.map(([name, one]) => [name, one.schema])),
        required: properties.filter(([, , needed]) => needed).map(([name]) => name),
        additionalProperties: false,
      },
      values: fc.constant(null),
    }),
  );
  const list: Source = fc.tuple(inner, size).map(([item, max]) => ({
    schema: { type: "array", items: item.schema, maxItems: Math.min(max, 3) },
    values: fc.constant(null),
  }));
  return fc.oneof(object, list, tagged(inner), merged(inner));
}

/** Schemas for which every valid text ends before long. The values are of no use. */
export const boundedSchemas: fc.Arbitrary<RootCase> = fc.oneof(boundedFlat, boundedComposed(boundedFlat)).map(
  ({ schema, values }) => ({ schema, values, draft: "2020-12", bounded: true }),
);
