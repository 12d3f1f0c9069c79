/** Random JSON Schemas of single values, each with a source of values that are valid for it. */

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

/** Random cases. */
export type Source = fc.Arbitrary<Case>;

export const strings = fc.string({ unit: "grapheme", maxLength: 12 }).filter((text) => text.isWellFormed());
export const anyJson: fc.Arbitrary<JsonValue> = fc.jsonValue({ maxDepth: 2, stringUnit: "grapheme-ascii" }).filter((
  value,
) => plainNumbers(value as JsonValue)) as fc.Arbitrary<JsonValue>;

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

export const size = fc.integer({ min: 0, max: 4 });
const hundredths = (from: number, to: number) =>
  fc.integer({ min: Math.ceil(from * 100), max: Math.floor(to * 100) }).map((value) => value / 100);

export const simple: Source = fc.constantFrom<Case>(
  { schema: { type: "null" }, values: fc.constant(null) },
  { schema: { type: "boolean" }, values: fc.boolean() },
);

export const integers: Source = fc.record({
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

export const numbers: Source = fc.oneof(
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

export const lengths: Source = fc.record({
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
export const patterned: Source = fc.record({
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
const time = fc.tuple(two(23), two(59), two(59), fc.constantFrom("Z", "+02:00", "-11:30", ".5Z", ".123456Z"))
  .map(
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
export const formatted: Source = fc.constantFrom(...Object.entries(formats)).map(([format, values]) => ({
  schema: { type: "string", format },
  values,
}));

export const fixed: Source = fc.oneof(
  anyJson.map((value): Case => ({ schema: { const: value }, values: fc.constant(value) })),
  fc.uniqueArray(anyJson, { minLength: 1, maxLength: 4, selector: (value) => JSON.stringify(value) }).map((list) => ({
    schema: { enum: list },
    values: fc.constantFrom(...list),
  })),
);

const anything: Source = fc.constant<Case>({ schema: {}, values: anyJson });

export const flat: Source = fc.oneof(simple, integers, numbers, lengths, patterned, formatted, fixed, anything);
