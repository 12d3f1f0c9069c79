import assert from "node:assert/strict";
import test from "node:test";
import {
  JsonSchemaError,
  SchemaContradictionError,
  SchemaTooComplexError,
  UnsupportedKeywordError,
} from "../../../lib/errors.ts";
import { matchesGrammar, parseGrammar } from "../../../lib/gbnf/mod.ts";
import { standardToJsonSchema } from "../../../lib/json_schema/standard.ts";
import {
  compileSchema,
  type JsonSchema,
  refusedKeywords,
  schemaToGrammar,
  schemaToRules,
  schemaValidator,
  supportedKeywords,
} from "../../../lib/json_schema/mod.ts";

function allows(schema: JsonSchema, text: string, options?: { whitespace?: "compact" }): boolean {
  return matchesGrammar(parseGrammar(schemaToGrammar(schema, options)), text);
}

function refused<E extends JsonSchemaError>(
  schema: unknown,
  kind: new (message: string) => E,
  path: string,
  words = /./,
): void {
  assert.throws(
    () => schemaToGrammar(schema as JsonSchema),
    (error) => {
      assert.ok(error instanceof kind, String(error));
      assert.equal(error.path, path, error.message);
      assert.match(error.message, words);
      return true;
    },
  );
}

test("every keyword that can't be expressed is refused with its path, at the root and inside", () => {
  for (const keyword of refusedKeywords) {
    refused({ type: "object", [keyword]: {} }, UnsupportedKeywordError, `/${keyword}`);
    refused(
      { $defs: { "a/b": { [keyword]: {} } }, properties: { "x~y": { items: { $ref: "#/$defs/a~1b" } } } },
      UnsupportedKeywordError,
      `/$defs/a~1b/${keyword}`,
    );
    refused({ anyOf: [{}, { type: "string", [keyword]: true }] }, UnsupportedKeywordError, `/anyOf/1/${keyword}`);
  }
  refused({ type: "array", uniqueItems: true }, UnsupportedKeywordError, "/uniqueItems");
  refused({ not: { uniqueItems: true } }, UnsupportedKeywordError, "/not");
  refused({ not: { format: "date" } }, UnsupportedKeywordError, "/not");
  refused(
    { properties: { a: { not: { propertyNames: { maxLength: 3 } } } } },
    UnsupportedKeywordError,
    "/properties/a/not",
  );
  refused({ if: { unevaluatedProperties: false }, then: {} }, UnsupportedKeywordError, "/if");
  refused({ oneOf: [{ uniqueItems: true }, { items: {} }] }, UnsupportedKeywordError, "/oneOf");
  refused({ maxItems: 1, not: { type: "array" } }, UnsupportedKeywordError, "", /has no type/);
  refused({ $ref: "https://example.org/other.json" }, UnsupportedKeywordError, "/$ref");
  for (const pattern of ["\\bx", "(a)\\1", "(?<=a)b", "(?:(?!x).)*$", "\\p{Diacritic}"]) {
    refused({ properties: { a: { pattern } } }, UnsupportedKeywordError, "/properties/a/pattern");
  }
});

test("annotations, unknown keywords and unknown formats constrain nothing", () => {
  const integer = schemaToGrammar({ type: "integer" });
  for (
    const note of [
      { format: "int32" },
      { nullable: false },
      { minLenght: 3 },
      { discriminator: { propertyName: "x" } },
      { "\0lacks": ["a"] },
      { example: 1, xml: {}, externalDocs: {} },
    ]
  ) {
    assert.equal(schemaToGrammar({ type: "integer", ...note }), integer, JSON.stringify(note));
  }
  assert.ok(allows({ type: "string", format: "iri" }, '"any"'));
});

/** For each supported keyword a schema, a text that it allows, and one that this keyword alone refuses. */
const effects: Readonly<Record<string, readonly [JsonSchema, string, string]>> = {
  $ref: [{ $ref: "#/$defs/a", $defs: { a: { type: "null" } } }, "null", "1"],
  type: [{ type: ["null", "boolean"] }, "true", "1"],
  enum: [{ enum: [1, "a", null] }, '"a"', "2"],
  const: [{ const: { a: [1] } }, '{"a":[1]}', "{}"],
  allOf: [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, "2", "3"],
  anyOf: [{ anyOf: [{ const: 1 }, { const: 2 }] }, "2", "3"],
  oneOf: [{ oneOf: [{ type: "null" }, { type: "integer" }] }, "null", '"x"'],
  properties: [{ properties: { a: { type: "null" } } }, '{"a":null}', '{"a":1}'],
  required: [{ properties: { a: {} }, required: ["a"] }, '{"a":1}', "{}"],
  additionalProperties: [{ additionalProperties: { type: "null" } }, '{"a":null}', '{"a":1}'],
  propertyNames: [{ type: "object", propertyNames: { maxLength: 1 } }, '{"a":1}', '{"ab":1}'],
  patternProperties: [{ patternProperties: { "^n": { type: "null" } } }, '{"n1":null}', '{"n1":1}'],
  unevaluatedProperties: [{ allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, '{"a":1}', '{"b":1}'],
  dependentRequired: [
    { properties: { a: {}, b: {} }, dependentRequired: { a: ["b"] } },
    '{"b":1}',
    '{"a":1}',
  ],
  dependentSchemas: [
    { properties: { a: {}, b: {} }, dependentSchemas: { a: { properties: { b: { type: "null" } } } } },
    '{"a":1,"b":null}',
    '{"a":1,"b":1}',
  ],
  dependencies: [{ properties: { a: {}, b: {} }, dependencies: { a: ["b"] } }, '{"a":1,"b":1}', '{"a":1}'],
  $dynamicRef: [{ $dynamicRef: "#d", $defs: { x: { $dynamicAnchor: "d", type: "null" } } }, "null", "1"],
  not: [{ type: "integer", not: { const: 3 } }, "4", "3"],
  if: [{ type: "integer", if: { minimum: 5 }, then: { const: 7 } }, "7", "6"],
  then: [{ type: "integer", if: { minimum: 5 }, then: { const: 7 } }, "4", "8"],
  else: [{ type: "integer", if: { minimum: 5 }, else: { const: 1 } }, "1", "2"],
  contains: [{ items: { enum: [1, 2] }, contains: { const: 2 } }, "[1,2,1]", "[1,1]"],
  minContains: [{ items: { enum: [1, 2] }, contains: { const: 2 }, minContains: 2 }, "[2,1,2]", "[2,1]"],
  maxContains: [{ items: { enum: [1, 2] }, contains: { const: 2 }, maxContains: 1 }, "[2,1]", "[2,2]"],
  unevaluatedItems: [{ allOf: [{ prefixItems: [{}] }], unevaluatedItems: false }, "[1]", "[1,2]"],
  minProperties: [{ properties: { a: {}, b: {} }, minProperties: 1 }, '{"b":1}', "{}"],
  maxProperties: [{ properties: { a: {}, b: {} }, maxProperties: 1 }, '{"b":1}', '{"a":1,"b":1}'],
  prefixItems: [{ prefixItems: [{ type: "null" }] }, "[null]", "[1]"],
  items: [{ items: { type: "null" } }, "[null,null]", "[null,1]"],
  additionalItems: [{ items: [{}], additionalItems: { type: "null" } }, "[1,null]", "[1,1]"],
  minItems: [{ minItems: 2 }, "[1,2]", "[1]"],
  maxItems: [{ maxItems: 2 }, "[1,2]", "[1,2,3]"],
  uniqueItems: [{ items: { enum: ["a", "b", "c"] }, uniqueItems: true }, '["c","a"]', '["a","a"]'],
  minimum: [{ minimum: -1.5 }, "-1.5", "-1.6"],
  maximum: [{ maximum: 10 }, "10.0", "10.1"],
  exclusiveMinimum: [{ exclusiveMinimum: 0 }, "0.1", "0"],
  exclusiveMaximum: [{ exclusiveMaximum: 0 }, "-0.1", "0.1"],
  multipleOf: [{ multipleOf: 0.25 }, "3.75", "3.7"],
  minLength: [{ minLength: 2 }, '"ab"', '"a"'],
  maxLength: [{ maxLength: 2 }, '"ab"', '"abc"'],
  pattern: [{ pattern: "b" }, '"abc"', '"ac"'],
  format: [{ format: "ipv4" }, '"127.0.0.1"', '"256.0.0.1"'],
};

test("every supported keyword is kept to, and notes change nothing", () => {
  assert.deepEqual(Object.keys(effects).sort(), [...supportedKeywords].sort());
  for (const [keyword, [schema, good, bad]] of Object.entries(effects)) {
    assert.ok(allows(schema, good), `${keyword}: ${good}`);
    assert.ok(!allows(schema, bad), `${keyword}: ${bad}`);
  }
  const notes = {
    title: "t",
    description: "d",
    default: 1,
    examples: [1],
    deprecated: true,
    "x-any": 1,
    $comment: "c",
  };
  assert.equal(schemaToGrammar({ type: "integer", ...notes }), schemaToGrammar({ type: "integer" }));
});

test("what is no schema is refused with its path", () => {
  refused({ type: "kaboom" }, JsonSchemaError, "/type");
  refused({ properties: { a: { type: 5 } } }, JsonSchemaError, "/properties/a/type");
  refused({ properties: [] }, JsonSchemaError, "/properties");
  refused({ required: "a" }, JsonSchemaError, "/required");
  refused({ minLength: -1 }, JsonSchemaError, "/minLength");
  refused({ maxItems: 1.5 }, JsonSchemaError, "/maxItems");
  refused({ anyOf: [] }, JsonSchemaError, "/anyOf");
  refused({ enum: [] }, JsonSchemaError, "/enum");
  refused({ pattern: "(" }, JsonSchemaError, "/pattern", /regular expression/);
  refused({ $ref: "#/$defs/none" }, JsonSchemaError, "/$ref", /no such part/);
  refused({ $ref: "#" }, JsonSchemaError, "", /defined by itself/);
  refused({ anyOf: [{ type: "null" }, { $ref: "#" }] }, JsonSchemaError, "", /defined by itself/);
  for (const bad of [null, undefined, 5, "x", [], () => {}, Symbol("s"), 1n]) refused(bad, JsonSchemaError, "");
  const cyclic: Record<string, unknown> = {};
  cyclic["properties"] = { cyclic };
  refused(cyclic, JsonSchemaError, "/properties/cyclic", /can't be written as JSON/);
  for (const bad of [() => {}, Symbol("s"), 1n, undefined]) {
    refused({ enum: [bad] }, JsonSchemaError, "/enum/0", /can't be written as JSON/);
  }
  refused({ properties: { a: { default: () => 1 } } }, JsonSchemaError, "/properties/a/default");
  // deno-lint-ignore no-sparse-arrays
  refused({ enum: [1, , 2] }, JsonSchemaError, "/enum/1");
  refused(Proxy.revocable({}, {}).revoke, JsonSchemaError, "");
  const itself = { toJSON: (): unknown => itself };
  refused({ properties: { a: itself } }, JsonSchemaError, "/properties/a", /can't be written as JSON/);
  assert.throws(() => schemaValidator({ $ref: "#" })(5), /defined by itself/);
  const untold = { "~standard": { version: 1, vendor: "some", validate: () => ({ value: 1 }) } } as const;
  assert.throws(() => standardToJsonSchema(untold), /by "some", has no ~standard\.jsonSchema/);
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  refused({ not: proxy }, JsonSchemaError, "", /can't be read/);
});

test("schemas that contradict themselves are typed errors", () => {
  const contradictory: readonly JsonSchema[] = [
    false,
    { type: "integer", minimum: 5, maximum: 3 },
    { type: "integer", exclusiveMinimum: 1, exclusiveMaximum: 2 },
    { type: "number", minimum: 1, exclusiveMaximum: 1 },
    { type: "string", minLength: 3, maxLength: 2 },
    { type: "string", pattern: "^a$", minLength: 2 },
    { type: "string", allOf: [{ pattern: "^a" }, { pattern: "^b" }] },
    { type: "string", format: "date", maxLength: 9 },
    { allOf: [{ type: "string" }, { type: "number" }] },
    { const: 5, type: "string" },
    { enum: [1, 2], minimum: 3 },
    { type: "array", minItems: 3, maxItems: 2 },
    { type: "array", prefixItems: [{}], items: false, minItems: 2 },
    { type: "object", properties: { a: false }, required: ["a"] },
    { type: "object", required: ["a"], additionalProperties: false },
    { type: "object", required: ["a"], propertyNames: { maxLength: 0 } },
    { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] },
    { type: "array", items: { $ref: "#" }, minItems: 1 },
    { anyOf: [false, { type: "integer", minimum: 2, maximum: 1 }] },
    { type: "object", minProperties: 2, maxProperties: 1 },
    { not: {} },
    { type: "integer", not: { type: "number" } },
    { type: "boolean", not: { enum: [true, false] } },
    { type: "integer", multipleOf: 10, minimum: 1, maximum: 9 },
    { type: "array", items: { enum: [1, 2] }, uniqueItems: true, minItems: 3 },
    { type: "array", maxItems: 1, contains: {}, minContains: 2 },
    { type: "object", required: ["a"], not: { required: ["a"] } },
    { enum: [[1, 1]], uniqueItems: true },
  ];
  for (const schema of contradictory) {
    assert.throws(() => schemaToGrammar(schema), SchemaContradictionError, JSON.stringify(schema));
  }
  refused({ properties: { a: { minimum: 2, maximum: 1 } } }, SchemaContradictionError, "/properties/a");
  // What only some ways to be valid rule out is left out.
  assert.ok(allows({ anyOf: [false, { const: 1 }] }, "1"));
  assert.ok(allows({ type: ["string", "null"], minLength: 2, maxLength: 1 }, "null"));
  assert.ok(allows({ properties: { a: false, b: {} } }, '{"b":1}'));
});

test("what would explode is bounded", () => {
  refused({ pattern: "^(?:a|b)*a(?:a|b){30}$" }, SchemaTooComplexError, "/pattern");
  refused({ pattern: "^(((((a?){10}){10}){10}){10}){10}$" }, SchemaTooComplexError, "/pattern");
  refused({ type: "string", maxLength: 10_000_000 }, SchemaTooComplexError, "");
  refused({ pattern: "a".repeat(20_001) }, UnsupportedKeywordError, "/pattern", /longer than 20000 characters/);
  const groups = `${"(".repeat(201)}a${")".repeat(201)}`;
  refused({ pattern: groups }, UnsupportedKeywordError, "/pattern", /groups more than 200 deep/);
  refused({ pattern: "(?<=a)b" }, UnsupportedKeywordError, "/pattern", /looks behind/);
  const divisors = [37, 41, 43].map((multipleOf) => ({ multipleOf }));
  refused({ type: "integer", allOf: divisors }, SchemaTooComplexError, "/allOf/0/multipleOf", /more than 12000 states/);
  refused(
    { type: "integer", not: { multipleOf: 3001 } },
    UnsupportedKeywordError,
    "",
    /too many digits/,
  );
  const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, {}]));
  refused(
    { type: "object", properties: named(300), minProperties: 200 },
    SchemaTooComplexError,
    "/minProperties",
    /counts too many/,
  );
  refused({ type: "object", patternProperties: named(7) }, SchemaTooComplexError, "/patternProperties", /more than 6/);
  const chain = Array.from(
    { length: 20_000 },
    (_, at) => [`d${at}`, { items: { $ref: `#/$defs/d${at + 1}` } }] as const,
  );
  refused(
    { $ref: "#/$defs/d0", $defs: { ...Object.fromEntries(chain), d20000: {} } },
    SchemaTooComplexError,
    "",
    /nested too deep/,
  );
  const choice = (which: number) => ({
    anyOf: Array.from({ length: 10 }, (_, index) => ({ properties: { [`p${which}${index}`]: {} } })),
  });
  refused({ allOf: Array.from({ length: 6 }, (_, which) => choice(which)) }, SchemaTooComplexError, "/allOf/1/anyOf");
  let deep: JsonSchema = {};
  for (let depth = 0; depth < 20_000; depth++) deep = { items: deep };
  assert.throws(() => schemaToGrammar(deep), JsonSchemaError);
  // A length that fits anyway isn't counted.
  const email = schemaToGrammar({ format: "email" });
  assert.equal(schemaToGrammar({ format: "email", maxLength: 254, minLength: 3 }), email);
  // A pattern that would keep a backtracking matcher busy for ever.
  const slow = { anyOf: [{ pattern: "^(a+)+$" }, { const: `${"a".repeat(50)}!` }] };
  assert.ok(allows(slow, `"${"a".repeat(50)}!"`));
  assert.equal(compileSchema(slow).problem(`${"a".repeat(50)}!`), undefined);
  // Long counts are no explosion.
  const long = schemaToGrammar({ type: "string", minLength: 5000, maxLength: 12_345 });
  assert.ok(long.length < 5000);
  const grammar = parseGrammar(long);
  for (const [length, fine] of [[4999, false], [5000, true], [12_345, true], [12_346, false]] as const) {
    assert.equal(matchesGrammar(grammar, JSON.stringify("x".repeat(length))), fine, String(length));
  }
  assert.ok(
    allows({ type: "array", items: { type: "null" }, maxItems: 3000 }, JSON.stringify(new Array(3000).fill(null))),
  );
});

test("numbers between bounds, to the last digit", () => {
  const between = (low: number, high: number) => ({ type: "number", minimum: low, maximum: high });
  for (const text of ["0.1", "0.10", "0.15", "0.2", "0.2000"]) assert.ok(allows(between(0.1, 0.2), text), text);
  for (const text of ["0.09", "0.0999999", "0.21", "0.20001", "0", "1", "-0.15", "0.", ".15", "00.15", "1e-1"]) {
    assert.ok(!allows(between(0.1, 0.2), text), text);
  }
  const open = { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 };
  assert.ok(allows(open, "0.0000000000000000000001"));
  assert.ok(!allows(open, "0.0") && !allows(open, "1") && !allows(open, "1.0"));
  // A text that would be rounded to the bound.
  assert.ok(!allows(open, "0.9999999999999999999"));
  assert.ok(allows(open, "0.9999999999999999"));
  assert.ok(
    !allows({ type: "number" }, "1e999") && !allows({ type: "number" }, "01") && !allows({ type: "number" }, "+1"),
  );
  assert.ok(
    allows({ type: "integer", minimum: -7, maximum: -3 }, "-5") && !allows({ type: "integer", maximum: -3 }, "-2"),
  );
  assert.ok(allows({ type: "integer", minimum: 1e18 }, "1000000000000000001"));
  assert.ok(!allows({ type: "integer" }, "-0") && !allows({ type: "integer" }, "1.0"));
});

test("strings count characters, and halves of surrogate pairs aren't allowed", () => {
  const one = { type: "string", minLength: 1, maxLength: 1 };
  for (const text of ['"🌍"', '"\\ud83c\\udf0d"', '"é"', '"\\u00e9"', '"\\n"', '"\\""']) {
    assert.ok(allows(one, text), text);
  }
  for (const text of ['"\\ud83c"', '"\\udf0d"', '"e\u0301"', '"\n"', '""', '"\\x41"']) {
    assert.ok(!allows(one, text), text);
  }
});

test("white space: none, or a little", () => {
  const schema = { type: "object", properties: { a: { type: "array", items: { type: "null" } } } };
  assert.ok(allows(schema, '{\n  "a": [null, null]\n}') && allows(schema, '{"a":[]}'));
  assert.ok(!allows(schema, '{  "a":[]}') && !allows(schema, ' {"a":[]}'));
  assert.ok(
    !allows(schema, '{"a": []}', { whitespace: "compact" }) && allows(schema, '{"a":[]}', { whitespace: "compact" }),
  );
});

test("names that mean something to JavaScript are names like others", () => {
  const schema = JSON.parse('{"properties":{"__proto__":{"type":"integer"}},"required":["__proto__","constructor"]}');
  assert.ok(allows(schema, '{"__proto__":1,"constructor":2}'));
  assert.ok(!allows(schema, '{"__proto__":"x","constructor":2}') && !allows(schema, "{}"));
});

test("references by pointer, anchor and address", () => {
  const schema = (ref: string) => ({
    $id: "https://example.org/root.json",
    $defs: {
      one: { $anchor: "here", type: "null" },
      two: { $id: "two.json", $defs: { inner: { const: 2 } }, type: "boolean" },
    },
    $ref: ref,
  });
  assert.ok(allows(schema("#/$defs/one"), "null") && allows(schema("#here"), "null"));
  assert.ok(allows(schema("two.json"), "true") && allows(schema("https://example.org/two.json#/$defs/inner"), "2"));
  assert.ok(allows({ definitions: { a: { $id: "#a", type: "null" } }, $ref: "#a" }, "null"));
});

test("several schemas share one grammar", () => {
  const a = schemaToRules({ type: "object", properties: { root: {} } }, { prefix: "a-" });
  const b = schemaToRules({ type: "array", items: { format: "date" } }, { prefix: "b-" });
  const grammar = parseGrammar(`root ::= ${a.root} | ${b.root}\n${a.rules}${b.rules}`);
  assert.ok(matchesGrammar(grammar, '{"root": {"x": 1}}') && matchesGrammar(grammar, '["2024-02-29"]'));
  assert.ok(!matchesGrammar(grammar, '["2023-02-29"]'));
  assert.throws(() => schemaToRules(true, { prefix: "1 x" }), /prefix is "1 x"/);
});

test("objects: names that are given, names by a schema, and how many", () => {
  const record = { type: "object", propertyNames: { pattern: "^[a-z]$" }, additionalProperties: { type: "integer" } };
  assert.ok(allows(record, '{"a":1,"z":2}') && !allows(record, '{"A":1}') && !allows(record, '{"a":"x"}'));
  const few = { type: "object", propertyNames: { enum: ["x", "y"] }, additionalProperties: { type: "integer" } };
  assert.ok(allows(few, '{"x":1,"y":2}') && !allows(few, '{"z":1}'));
  const counted = {
    type: "object",
    properties: { a: { const: 1 }, b: { const: 1 }, c: { const: 1 } },
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 2,
  };
  for (
    const [text, fine] of [["{}", false], ['{"b":1}', true], ['{"a":1,"c":1}', true], [
      '{"a":1,"b":1,"c":1}',
      false,
    ]] as const
  ) {
    assert.equal(allows(counted, text), fine, text);
  }
  // A name that means the same as a given one, written otherwise, is no other property.
  const other = { type: "object", properties: { a: { type: "null" } }, additionalProperties: { type: "integer" } };
  assert.ok(!allows(other, '{"\\u0061":1}') && allows(other, '{"b":1}'));
});
