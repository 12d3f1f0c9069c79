import assert from "node:assert/strict";
import test from "node:test";
import { JsonSchemaError, SchemaTooComplexError } from "../../../lib/errors.ts";
import { decodeSchema, type EncodedSchema, encodeSchema } from "../../../lib/json_schema/encode.ts";
import { isObject, type JsonValue, plainSchema } from "../../../lib/json_schema/json.ts";

/** Encoded without giving way. */
const encoded = async (schema: unknown): Promise<EncodedSchema> =>
  structuredClone(await encodeSchema(schema, async () => {}));

/** Distinct objects and arrays. */
function partsOf(value: JsonValue, seen: Set<object> = new Set()): Set<object> {
  if (typeof value !== "object" || value === null || seen.has(value)) return seen;
  seen.add(value);
  for (const part of Object.values(value)) partsOf(part, seen);
  return seen;
}

const shared = { type: "string", enum: ["a", null, 1.5, true, -0] };
const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`p${at}`, { const: [at] }]));

const schemas: unknown[] = [
  true,
  false,
  {},
  { type: "object", properties: { a: shared, b: shared, "": {}, "~/": [] }, required: ["a"] },
  { allOf: [shared, { $id: "x", anyOf: [shared] }, { toJSON: () => ({ const: "made" }) }, { toJSON: () => true }] },
  { const: [[[1], []], { a: undefined, b: [NaN, Infinity] }], "__proto__x": { __proto__: null } },
  JSON.parse('{"properties": {"__proto__": {"const": 1}}}'),
  { properties: many },
];

test("an encoded schema is the same schema again, its shared parts too", async () => {
  for (const schema of schemas) {
    const plain = plainSchema(schema);
    const back = decodeSchema(await encoded(schema));
    assert.deepEqual(back, plain);
    assert.equal(partsOf(back as JsonValue).size, partsOf(plain as JsonValue).size);
    if (isObject(back)) assert.equal(Object.getPrototypeOf(back), null);
  }
});

test("what is no schema is refused as it is elsewhere", async () => {
  const circle: Record<string, unknown> = {};
  circle["not"] = circle;
  let deep: unknown = {};
  for (let level = 0; level < 200_000; level++) deep = { not: deep };
  const thrower = {
    get type(): string {
      throw new Error("no");
    },
  };
  const wide = { enum: Array.from({ length: 200_001 }, () => []) };
  for (
    const bad of [undefined, null, 1, "x", [], circle, { a: () => 1 }, { a: 1n }, thrower, deep, wide, { a: [, 1] }]
  ) {
    let expected: unknown;
    assert.throws(() => plainSchema(bad), (error) => (expected = error, true));
    await assert.rejects(encoded(bad), (error: JsonSchemaError) => {
      assert.ok(error instanceof JsonSchemaError);
      assert.deepEqual([error.message, error.path], [
        (expected as JsonSchemaError).message,
        (expected as JsonSchemaError).path,
      ]);
      return true;
    });
  }
  await assert.rejects(encoded(wide), SchemaTooComplexError);
  await assert.rejects(encoded(deep), SchemaTooComplexError);
  const text = { toJSON: () => 5 };
  assert.throws(() => plainSchema(text), JsonSchemaError);
  assert.throws(() => decodeSchema({ root: "5", chunks: ["[]"] }), JsonSchemaError);
});

test("others work between the slices of a large schema, and can stop it", async () => {
  let pauses = 0;
  const stopped = new Error("stopped");
  const large = { enum: Array.from({ length: 150_000 }, (_, at) => ({ at })) };
  await assert.rejects(
    encodeSchema(large, () => ++pauses === 3 ? Promise.reject(stopped) : Promise.resolve()),
    stopped,
  );
  assert.equal(pauses, 3);
});
