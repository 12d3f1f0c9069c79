import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import * as z from "zod";
import { GrammarError, InvalidArgumentError, JsonSchemaError, SchemaTooComplexError } from "../../../lib/errors.ts";
import { GrammarMatcher, matchesGrammar, parseGrammar } from "../../../lib/gbnf/mod.ts";
import { compileSchema, type JsonSchema, schemaToGrammar, schemaValidator } from "../../../lib/json_schema/mod.ts";

function allows(schema: unknown, text: string): boolean {
  return matchesGrammar(parseGrammar(schemaToGrammar(schema as JsonSchema)), text);
}

function check(schema: unknown, good: readonly string[], bad: readonly string[]): void {
  const grammar = parseGrammar(schemaToGrammar(schema as JsonSchema));
  const refused = good.filter((text) => !matchesGrammar(grammar, text));
  const allowed = bad.filter((text) => matchesGrammar(grammar, text));
  if (refused.length + allowed.length === 0) return;
  // Written only here: schemas with shared parts can't be.
  assert.fail(`valid and refused: ${refused}; invalid and allowed: ${allowed}; for ${JSON.stringify(schema)}`);
}

const texts = (list: readonly string[]) => list.map((text) => JSON.stringify(text));

test("bounds from 1e21 on are kept to, also Zod's of float32", () => {
  check({ type: "number", maximum: 1e21 }, ["1", "-5", "1e+21", "999999999999999999999"], [
    "1e300",
    "1e+300",
    "1.1e+21",
    "1e22",
  ]);
  check({ type: "number", minimum: -2.5e30 }, ["-2.5e+30", "-1e+25", "-1.25E+30", "3"], ["-2.6e+30", "-1e+31"]);
  check({ type: "number", minimum: 1e22, maximum: 1e25 }, ["10000000000000000000000", "9999999999999999999999999"], [
    "1e300",
    "1",
    "1e26",
  ]);
  const float32 = z.toJSONSchema(z.float32());
  check(float32, ["1.5", "3.4e+38", "-3.4028234663852886e+38", "3.4028234663852886e+38"], [
    "1e300",
    "3.5e+38",
    "-1e+39",
  ]);
  assert.ok(allows({ type: "integer" }, "12345678901234567890"));
  check({ type: "integer", maximum: 1e30 }, ["1000000000000000000000000000000", "-7"], [
    "2000000000000000000000000000000",
  ]);
});

test("multiples are exact, to the last decimal digit", () => {
  check({ type: "number", multipleOf: 0.01 }, ["0.07", "4.35", "1.1", "12", "-0.5", "0.10"], [
    "0.075",
    "1.001",
    "1e-2",
  ]);
  check({ type: "integer", multipleOf: 7, minimum: 10, maximum: 1000 }, ["14", "994"], ["7", "15", "1001"]);
  check({ type: "number", multipleOf: 1.5 }, ["3", "4.5", "-1.5", "0"], ["1", "2.5", "4"]);
  check({ type: "integer", not: { multipleOf: 2 } }, ["1", "-3", "15"], ["2", "0", "10"]);
  check({ type: "number", not: { type: "integer" } }, ["0.5", "-1.25", "2.50"], ["1", "2.0", "0.0"]);
  check({ type: "integer", multipleOf: 123456789 }, ["0", "123456789", "-246913578"], ["1", "123456788"]);
  check({ type: "integer", not: { enum: [0, 5, -3] } }, ["1", "4", "6", "-2", "-4"], ["0", "5", "-3"]);
  const problem = schemaValidator({ multipleOf: 0.01 });
  for (const value of [4.35, 0.07, 1.1, 1e15, 1e300, 19.99]) assert.equal(problem(value), undefined, String(value));
  for (const value of [4.355, 1e-3, 0.0700000001]) assert.equal(problem(value)?.keyword, "/multipleOf", String(value));
});

test("formats take leap seconds, small letters, hosts by IPv6 and punycode", () => {
  const format = (name: string) => ({ type: "string", format: name });
  check(
    format("date-time"),
    texts(["2016-12-31T23:59:60Z", "2016-12-31t23:59:60.5z", "1990-12-31T15:59:60-08:00", "2024-02-29T01:29:60+01:30"]),
    texts([
      "2016-12-31T22:59:60Z",
      "1990-12-31T15:59:60-07:00",
      "2016-12-31T23:59:61Z",
      "2016-12-31 23:59:60Z",
      "2023-02-29T00:00:00Z",
    ]),
  );
  check(format("time"), texts(["12:00:00z", "23:59:60+00:00"]), texts(["12:00:60Z", "24:00:00Z"]));
  check(
    format("uri"),
    texts(["http://[2001:db8::1]:80/x", "https://[::1]", "https://xn--bcher-kva.example/a", "urn:a:b"]),
    texts(["http://[2001:db8::1", "http://[x]/", "no uri"]),
  );
  check(format("hostname"), texts(["xn--bcher-kva.example", "a.b.c.d"]), texts(["-a", "a..b"]));
});

test("Zod's strings keep to Zod's patterns, whatever their format is called", () => {
  const cases: Readonly<Record<string, readonly [z.ZodType, readonly string[], readonly string[]]>> = {
    endsWith: [z.string().endsWith("x"), ["ax"], ["a"]],
    startsWith: [z.string().startsWith("b"), ["bc"], ["ab"]],
    includes: [z.string().includes("b"), ["abc"], ["ac"]],
    ulid: [z.ulid(), ["01ARZ3NDEKTSV4RRFFQ69G5FAV"], ["x"]],
    nanoid: [z.nanoid(), ["V1StGXR8_Z5jdHi6B-myT"], ["x"]],
    cuid: [z.cuid(), ["cjld2cjxh0000qzrmn831i7rn"], ["x"]],
    base64: [z.base64(), ["aGk="], ["a"]],
    e164: [z.e164(), ["+14155552671"], ["1"]],
    cidrv4: [z.cidrv4(), ["10.0.0.0/8"], ["10.0.0.0"]],
    mac: [z.mac(), ["00:1A:2B:3C:4D:5E"], ["x"]],
    hostname: [z.hostname(), ["example.org", "a-b.c"], ["-a", "a..b"]],
    emoji: [z.emoji(), ["😀"], ["a"]],
    jwt: [z.jwt(), ["a.b.c"], []],
    datetime: [z.iso.datetime({ offset: true }), ["2024-02-29T12:00:00+01:00"], ["x"]],
  };
  for (const [name, [schema, good, bad]] of Object.entries(cases)) {
    const json = z.toJSONSchema(schema);
    const grammar = parseGrammar(schemaToGrammar(json as JsonSchema));
    for (const text of good) assert.ok(matchesGrammar(grammar, JSON.stringify(text)), `${name}: ${text}`);
    for (const text of bad) assert.ok(!matchesGrammar(grammar, JSON.stringify(text)), `${name}: ${text}`);
  }
});

test("patterns with properties of characters give the same grammar in every runtime", () => {
  const hash = (pattern: string) =>
    createHash("sha256").update(schemaToGrammar({ type: "string", pattern })).digest("hex").slice(0, 16);
  assert.deepEqual(
    ["^\\p{L}+$", "^[^\\p{Lu}]\\P{Script=Greek}$", "^\\p{Extended_Pictographic}\\p{Ll}\\p{Lo}$"].map(hash),
    ["aaaeb98e42cdc6eb", "ab96e79b15e9b9d3", "ee8f895799037e90"],
  );
});

test("objects and arrays keep to what combines their parts", () => {
  const open = { type: "object", additionalProperties: { type: "integer" } };
  check({ ...open, minProperties: 2, maxProperties: 3 }, ['{"a":1,"b":2}', '{"foo":1,"goo":2,"x":3}'], [
    "{}",
    '{"a":1}',
    '{"a":1,"a":2}',
    '{"a":1,"b":2,"c":3,"d":4}',
  ]);
  check({
    type: "object",
    patternProperties: { "^n_": { type: "integer" }, "_s$": { maxLength: 1, type: "string" } },
    additionalProperties: false,
  }, [
    '{"n_a":1,"b_s":"x"}',
    "{}",
  ], ['{"n_a":"x"}', '{"other":1}', '{"n_s":1}', '{"n_s":"x"}']);
  check({ type: "array", items: { enum: [1, 2, 3, 4] }, contains: { const: 2 }, minContains: 2, maxContains: 2 }, [
    "[2,1,2]",
    "[2,2]",
  ], [
    "[2]",
    "[2,2,2]",
    "[1,3]",
  ]);
  check({ type: "array", items: { enum: [..."abcdefghij"] }, uniqueItems: true, minItems: 2 }, [
    '["a","j"]',
    '["b","c","d"]',
  ], [
    '["a","a"]',
    '["a"]',
  ]);
  const shape = {
    type: "object",
    properties: { kind: { enum: ["circle", "box"] }, radius: { type: "number" }, side: { type: "number" } },
    required: ["kind"],
    if: { properties: { kind: { const: "circle" } } },
    then: { required: ["radius"] },
    else: { required: ["side"] },
  };
  check(shape, ['{"kind":"circle","radius":1}', '{"kind":"box","side":2}'], [
    '{"kind":"circle","side":1}',
    '{"kind":"box"}',
  ]);
  const tagged = (kind: string, rest: object) => ({
    properties: { kind: { const: kind }, ...rest },
    required: ["kind", ...Object.keys(rest)],
  });
  check(
    { type: "object", oneOf: [tagged("a", { x: { type: "integer" } }), tagged("b", { y: { type: "string" } })] },
    ['{"kind":"a","x":1}', '{"kind":"b","y":""}'],
    ['{"kind":"a","y":""}', '{"kind":"c"}'],
  );
  check({ oneOf: [{ type: "integer" }, { type: "number", minimum: 2 }] }, ["1", "2.5", "-7"], ["2", "3", "1.5"]);
});

test("other schemas are given by their addresses, and draft-07's references stand alone", () => {
  const schemas = {
    "https://example.org/color.json": { $defs: { shade: { enum: ["dark", "light"] } }, type: "string" },
  };
  const schema = {
    properties: { shade: { $ref: "https://example.org/color.json#/$defs/shade" } },
    required: ["shade"],
  };
  const grammar = parseGrammar(schemaToGrammar(schema, { schemas }));
  assert.ok(matchesGrammar(grammar, '{"shade":"dark"}') && !matchesGrammar(grammar, '{"shade":"red"}'));
  assert.equal(schemaValidator(schema, { schemas })({ shade: "red" })?.at, "/shade");
  assert.throws(() => schemaToGrammar(schema, { schemas: [] as never }), InvalidArgumentError);
  const beside = { $ref: "#/definitions/a", maximum: 3, definitions: { a: { type: "integer" } } };
  assert.ok(!allows(beside, "5"));
  assert.ok(allows({ $schema: "http://json-schema.org/draft-07/schema#", ...beside }, "5"));
});

/** A schema whose parts are used twice on each level. */
function shared(levels: number, around: (inner: object) => object): object {
  let schema: object = { type: "integer", maximum: 5 };
  for (let level = 0; level < levels; level++) schema = around(schema);
  return schema;
}

test("shared parts of a schema are seen once", () => {
  const pair = (inner: object) => ({ type: "object", properties: { a: inner, b: inner } });
  assert.ok(schemaToGrammar(shared(60, pair) as JsonSchema).length < 50_000);
  for (const keyword of ["allOf", "anyOf"]) {
    const schema = shared(60, (inner) => ({ [keyword]: [inner, inner] }));
    check(schema, ["5"], ["6"]);
    const problem = compileSchema(schema).problem;
    assert.equal(problem(5), undefined);
    assert.notEqual(problem(6), undefined);
  }
  check(shared(60, (inner) => ({ not: { not: inner } })), ["5"], ["6"]);
  const conditional = (inner: object) => ({ if: { type: "integer" }, then: inner, else: inner });
  check(shared(8, conditional), ["5"], ["6"]);
  assert.throws(() => schemaToGrammar(shared(60, conditional) as JsonSchema), SchemaTooComplexError);
  // Equal branches of oneOf exclude each other, so that nothing is left after one level.
  assert.throws(
    () => schemaToGrammar(shared(20, (inner) => ({ oneOf: [inner, inner] })) as JsonSchema),
    JsonSchemaError,
  );
  const tree = shared(30, (inner) => ({ type: "array", items: inner, contains: inner }));
  assert.throws(() => schemaToGrammar({ allOf: [tree, { minItems: 1_000_000_000 }] } as JsonSchema), JsonSchemaError);
  const wide = { allOf: Array.from({ length: 40 }, (_, at) => ({ anyOf: [{ minimum: at }, { maximum: -at }] })) };
  assert.throws(() => schemaToGrammar(wide), SchemaTooComplexError);
});

test("wrong arguments of grammars are typed errors", () => {
  for (const value of [5, null, undefined, {}, [], Symbol("s")]) {
    assert.throws(() => parseGrammar(value as string), GrammarOrArgument, String(typeof value));
  }
  const grammar = parseGrammar('root ::= "a"');
  for (const value of [{}, null, undefined, 5, "root", { rules: [], names: {} }, { rules: 1, names: new Map() }]) {
    assert.throws(() => matchesGrammar(value as typeof grammar, "a"), GrammarOrArgument);
    assert.throws(() => new GrammarMatcher(value as typeof grammar), GrammarOrArgument);
  }
  for (const value of [5, null, undefined, {}]) {
    assert.throws(() => matchesGrammar(grammar, value as string), GrammarOrArgument);
    assert.throws(() => new GrammarMatcher(grammar).accept(value as string), GrammarOrArgument);
  }
  assert.throws(() => new GrammarMatcher(grammar, 5 as unknown as string), GrammarOrArgument);
  for (const value of [-1, 1.5, 0x110000, NaN, "a"]) {
    assert.throws(() => new GrammarMatcher(grammar).acceptPoint(value as number), GrammarOrArgument);
  }
  assert.throws(() => new GrammarMatcher(grammar).acceptToken("1" as unknown as number, "a"), GrammarOrArgument);
});

function GrammarOrArgument(error: unknown): boolean {
  return error instanceof GrammarError || error instanceof InvalidArgumentError;
}
