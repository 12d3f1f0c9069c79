/** Random JSON Schemas of the supported keywords, each with a source of values that are valid for it. */

import fc from "fast-check";
import type { JsonValue } from "../../../lib/json_schema/json.ts";

/** A part of a schema, with values that are valid for it. */
export interface Case {
  /** The schema. */
  schema: Record<string, unknown> | boolean;
  /** Values, objects with their properties in the schema's order. */
  values: fc.Arbitrary<JsonValue>;
}

/** A whole schema. */
export interface RootCase extends Case {
  /** Which draft it keeps to. */
  draft: "2020-12" | "07";
  /** Whether every text that is valid for it is bounded. */
  bounded: boolean;
}

type Source = fc.Arbitrary<Case>;

const strings = fc.string({ unit: "grapheme", maxLength: 12 }).filter((text) => text.isWellFormed());
const anyJson: fc.Arbitrary<JsonValue> = fc.jsonValue({ maxDepth: 2, stringUnit: "grapheme-ascii" }).filter((value) =>
  plainNumbers(value as JsonValue)
) as fc.Arbitrary<JsonValue>;

/** Numbers that `JSON.stringify` writes with at most 16 digits before the point, and objects whose keys keep their order. */
function plainNumbers(value: JsonValue): boolean {
  if (typeof value === "number") {
    const size = Math.abs(value);
    return Number.isFinite(value) && (size < 1e16 || (size >= 1e21 && size < 1e307)) && !Object.is(value, -0);
  }
  if (typeof value === "string") return value.isWellFormed();
  if (value === null || typeof value !== "object") return true;
  return Object.entries(value).every(([key, one]) => key.isWellFormed() && plainNumbers(one));
}

const size = fc.integer({ min: 0, max: 4 });
const hundredths = (from: number, to: number) =>
  fc.integer({ min: Math.ceil(from * 100), max: Math.floor(to * 100) }).map((value) => value / 100);

const simple: Source = fc.constantFrom<Case>(
  { schema: { type: "null" }, values: fc.constant(null) },
  { schema: { type: "boolean" }, values: fc.boolean() },
);

const integers: Source = fc.record({
  low: fc.option(fc.integer({ min: -2000, max: 2000 }), { nil: undefined }),
  span: fc.option(fc.integer({ min: 1, max: 5000 }), { nil: undefined }),
  exclusive: fc.boolean(),
}).map(({ low, span, exclusive }) => {
  const from = low ?? -3000;
  const to = span === undefined ? from + 1_000_000 : from + span;
  const schema: Record<string, unknown> = { type: "integer" };
  if (low !== undefined) exclusive ? schema["exclusiveMinimum"] = low - 1 : schema["minimum"] = low;
  if (span !== undefined) exclusive ? schema["exclusiveMaximum"] = to + 0.5 : schema["maximum"] = to;
  return { schema, values: fc.integer({ min: from, max: to }) };
});

const numbers: Source = fc.oneof(
  fc.constant<Case>({
    schema: { type: "number" },
    values: fc.double({ noNaN: true, noDefaultInfinity: true }).filter(plainNumbers),
  }),
  fc.record({ low: hundredths(-50, 50), span: fc.integer({ min: 1, max: 900 }), exclusive: fc.boolean() }).map(
    ({ low, span, exclusive }) => {
      const high = low + span / 7;
      return {
        schema: exclusive
          ? { type: "number", exclusiveMinimum: low, exclusiveMaximum: high }
          : { type: "number", minimum: low, maximum: high },
        values: hundredths(low, high).filter((value) =>
          exclusive ? value > low && value < high : value >= low && value <= high
        ),
      };
    },
  ),
  hundredths(-9, 9).map((low): Case => ({
    schema: { type: "number", minimum: low },
    values: hundredths(low, low + 1e6).filter((value) => value >= low),
  })),
);

const lengths: Source = fc.record({
  min: fc.option(size, { nil: undefined }),
  more: fc.option(size, { nil: undefined }),
}).map(
  ({ min, more }) => {
    const max = more === undefined ? undefined : (min ?? 0) + more;
    return {
      schema: {
        type: "string",
        ...(min === undefined ? {} : { minLength: min }),
        ...(max === undefined ? {} : { maxLength: max }),
      },
      values: fc.array(fc.constantFrom(...'abcXYZ019 äß漢🌍"\\/\n\t\u0001\u007f'), {
        minLength: min ?? 0,
        maxLength: max ?? 12,
      }).map(
        (chars) => chars.join(""),
      ),
    };
  },
);

const patterns = [
  "^[a-z]{2,5}$",
  "^(foo|bar)-[0-9]{3}$",
  "[0-9]+x",
  "^a.*z$",
  "b{2}",
  "^\\d+(?:\\.\\d\\d?)?$",
  "^[^a-f]*$",
  "^(?:ab?){1,3}$|^$",
  "^x",
  "y$",
  '^["\\\\]{1,2}$',
  "^\\p{Lu}\\p{Ll}+$",
  "^(?!no)[a-z]{1,4}$",
  "^[\\w.-]{1,8}$",
];
const patterned: Source = fc.record({
  pattern: fc.constantFrom(...patterns),
  max: fc.option(fc.integer({ min: 8, max: 20 }), { nil: undefined }),
}).map(
  ({ pattern, max }) => ({
    schema: { type: "string", pattern, ...(max === undefined ? {} : { maxLength: max }) },
    values: textsFor(pattern).filter((text) => text.isWellFormed() && [...text].length <= (max ?? Infinity)),
  }),
);

function textsFor(pattern: string): fc.Arbitrary<string> {
  if (pattern.includes("\\p")) return fc.constantFrom("Ab", "Äöü", "Zaz");
  if (pattern.includes("(?!")) return fc.constantFrom("yes", "a", "nah", "on");
  return fc.stringMatching(new RegExp(pattern, "u"));
}

const two = (max: number, min = 0) => fc.integer({ min, max }).map((value) => String(value).padStart(2, "0"));
const time = fc.tuple(two(23), two(59), two(59), fc.constantFrom("Z", "+02:00", "-11:30", ".5Z", ".123456Z")).map(
  ([h, m, s, zone]) => `${h}:${m}:${s}${zone}`,
);
const date = fc.oneof(
  fc.tuple(fc.integer({ min: 1000, max: 9999 }), two(12, 1), two(28, 1)).map((parts) => parts.join("-")),
  fc.constantFrom("2024-02-29", "2000-02-29", "2023-01-31", "0004-02-29"),
);
const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  date,
  time,
  "date-time": fc.tuple(date, time).map((parts) => parts.join("T")),
  uuid: fc.uuid(),
  email: fc.constantFrom("a@b.de", "first.last+tag@mail.example.org", "x_y-z@a-b.co"),
  uri: fc.constantFrom(
    "https://example.org",
    "http://a.b/c?d=e#f",
    "mailto:a@b.de",
    "urn:isbn:123",
    "ftp://x:21/y%20z",
  ),
  ipv4: fc.ipV4(),
  ipv6: fc.ipV6(),
  hostname: fc.constantFrom("localhost", "a.example.org", "x-1.de"),
};
const formatted: Source = fc.constantFrom(...Object.entries(formats)).map(([format, values]) => ({
  schema: { type: "string", format },
  values,
}));

const fixed: Source = fc.oneof(
  anyJson.map((value): Case => ({ schema: { const: value }, values: fc.constant(value) })),
  fc.uniqueArray(anyJson, { minLength: 1, maxLength: 4, selector: (value) => JSON.stringify(value) }).map((list) => ({
    schema: { enum: list },
    values: fc.constantFrom(...list),
  })),
);

const anything: Source = fc.constant<Case>({ schema: {}, values: anyJson });

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

const flat: Source = fc.oneof(simple, integers, numbers, lengths, patterned, formatted, fixed, anything);

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
