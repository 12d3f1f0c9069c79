import assert from "node:assert/strict";
import process from "node:process";
import test, { after, before } from "node:test";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import fc from "fast-check";
import * as v from "valibot";
import * as z from "zod";
import {
  InvalidArgumentError,
  type Model,
  SchemaContradictionError,
  SchemaValidationError,
  type StandardSchema,
  StructuredResultError,
  UnsupportedKeywordError,
} from "../../../mod.ts";
import { ajvValidator } from "../../unit/schema/oracle.ts";
import type { RootCase } from "../../unit/schema/flat_schemas.ts";
import { boundedSchemas, randomSchemas } from "../../unit/schema/random_schemas.ts";
import { testModel } from "../support.ts";

/** `GGML_FFI_STRUCTURED=100` for the long form. */
const runs = Number(process.env["GGML_FFI_STRUCTURED"] ?? 4);
const long = { timeout: 900_000 };

let model: Model;
before(async () => {
  model = await testModel({ contextSize: 2048 });
});
after(() => model.dispose());

/** At temperature 1.5, one in two with every token in the running. */
const hot = (seed: number) => ({ temperature: 1.5, seed, ...(seed % 2 === 0 ? {} : { topK: 0, topP: 1, minP: 0 }) });

function samples(source: fc.Arbitrary<RootCase>, seed: number): RootCase[] {
  return fc.sample(source, { numRuns: runs, seed });
}

test("schemas whose texts are bounded: at temperature 1.5 every result is valid", long, async () => {
  let tokens = 0;
  for (const [index, { schema }] of samples(boundedSchemas, 3).entries()) {
    const result = await model.complete("Some JSON: ", { schema, ...hot(index), maxTokens: 1900 });
    const shown = `${JSON.stringify(schema)} gave ${result.text}`;
    assert.equal(result.stopReason, "eos", shown);
    assert.ok(ajvValidator(schema, "2020-12")(JSON.parse(result.text)), shown);
    assert.deepEqual(result.value, JSON.parse(result.text));
    tokens += result.tokens.length;
  }
  console.log(`${runs} bounded schemas at temperature 1.5: all valid, ${tokens} tokens`);
});

test("any schemas: at temperature 1.5 a result is valid, or cut by maxTokens", long, async () => {
  const counts = { valid: 0, cut: 0 };
  for (const [index, { schema, draft }] of samples(randomSchemas, 5).entries()) {
    const result = await model.complete("Some JSON: ", { schema, ...hot(index), maxTokens: 100 });
    const shown = `${JSON.stringify(schema)} gave ${result.stopReason} ${result.text}`;
    if (result.stopReason === "maxTokens") {
      assert.equal(result.value, undefined);
      counts.cut++;
      continue;
    }
    assert.equal(result.stopReason, "eos", shown);
    assert.ok(ajvValidator(schema, draft)(JSON.parse(result.text)), shown);
    counts.valid++;
  }
  console.log(`${runs} schemas at temperature 1.5: ${counts.valid} valid, ${counts.cut} cut by maxTokens`);
  assert.equal(counts.valid + counts.cut, runs);
});

test(
  "a Zod schema: the value has its type, transforms are made, and checks that no grammar can make refuse",
  long,
  async () => {
    const person = z.object({
      name: z.string().max(12),
      age: z.int().min(0).max(120),
      tags: z.array(z.enum(["a", "b"])).max(2),
      born: z.iso.date().transform((text) => new Date(text)),
    });
    const result = await model.complete("A person: ", { schema: person, temperature: 0, maxTokens: 200 });
    assert.equal(result.stopReason, "eos");
    if (result.stopReason === "eos") {
      const { name, age, tags, born }: { name: string; age: number; tags: ("a" | "b")[]; born: Date } = result.value;
      assert.ok(name.length <= 12 && Number.isInteger(age) && tags.length <= 2 && born instanceof Date);
    }
    const never = z.object({ n: z.int().min(1).max(9) }).refine(() => false, { message: "it never is", path: ["n"] });
    await assert.rejects(
      async () => await model.complete("n: ", { schema: never, temperature: 0, maxTokens: 50 }),
      (error) => error instanceof StructuredResultError && /n: it never is/.test(error.message),
    );
  },
);

test("a Valibot schema needs its JSON Schema beside it", long, async () => {
  const schema = v.object({ ok: v.boolean() });
  assert.throws(
    () => model.complete("x", { schema }),
    (error) => error instanceof InvalidArgumentError && /valibot.*jsonSchema/.test(error.message),
  );
  const jsonSchema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
  const { value } = await model.complete("Fine? ", { schema, jsonSchema, temperature: 0, maxTokens: 30 });
  const ok: boolean | undefined = value?.ok;
  assert.equal(typeof ok, "boolean");
});

test("a chat answers by a schema, and keeps the text", long, async () => {
  const chat = model.chat();
  const schema = {
    type: "object",
    properties: { city: { type: "string", maxLength: 20 } },
    required: ["city"],
  } as const;
  const pieces: string[] = [];
  const generation = chat.send("The capital of France?", { schema, temperature: 0, maxTokens: 60 });
  for await (const piece of generation) pieces.push(piece);
  const { value, text, stopReason } = await generation;
  assert.equal(stopReason, "eos");
  assert.equal(pieces.join(""), text);
  assert.deepEqual(value, JSON.parse(text));
  assert.equal(chat.history.at(-1)?.content, text);
});

/** What a grammar leaves open, so that about every other text is valid. */
const loose = {
  type: "object",
  properties: { word: { type: "string", pattern: "(?<![a-m])$", minLength: 1, maxLength: 2 } },
  required: ["word"],
  additionalProperties: false,
};

test(
  "schemaMode validate: an attempt that isn't valid is made again by a seed of its own, and never seen",
  long,
  async () => {
    const options = { schema: loose, schemaMode: "validate", temperature: 1.5, maxTokens: 60 } as const;
    let failing: number | undefined;
    for (let seed = 1; failing === undefined; seed++) {
      try {
        const { value, stopReason } = await model.complete("Some JSON: ", { ...options, seed });
        assert.ok(stopReason !== "eos" || !/[a-m]$/.test((value as { word: string }).word));
      } catch (error) {
        assert.ok(error instanceof SchemaValidationError, String(error));
        assert.equal(error.code, "SCHEMA_VALIDATION");
        assert.equal(error.path, "/word");
        assert.equal(error.rule, "/properties/word/pattern");
        assert.deepEqual(error.value, JSON.parse(error.text));
        failing = seed;
      }
    }
    const pieces: string[] = [];
    const generation = model.complete("Some JSON: ", { ...options, seed: failing, maxAttempts: 20 });
    for await (const piece of generation) pieces.push(piece);
    const { value, text, stopReason, seed } = await generation;
    assert.equal(stopReason, "eos");
    assert.equal(pieces.join(""), text);
    assert.ok(!/[a-m]$/.test((value as { word: string }).word));
    assert.notEqual(seed, failing);
    // The same seed gives the same attempts.
    const again = await model.complete("Some JSON: ", { ...options, seed: failing, maxAttempts: 20 });
    assert.equal(again.text, text);
    assert.throws(() => model.complete("x", { schema: loose }), UnsupportedKeywordError);
  },
);

test(
  "when no attempt is valid nothing is streamed, and the error has the last text, the path and the rule",
  long,
  async () => {
    const never = z.object({ n: z.int().min(1).max(9) }).refine(() => false, { message: "it never is", path: ["n"] });
    const options = { schema: never, temperature: 1.5, seed: 3, maxTokens: 50, maxAttempts: 3 };
    for (const start of [() => model.complete("n: ", options), () => model.chat().send("A number?", options)]) {
      const pieces: string[] = [];
      await assert.rejects(
        (async () => {
          for await (const piece of start()) pieces.push(piece);
        })(),
        (error) => {
          assert.ok(error instanceof SchemaValidationError, String(error));
          assert.deepEqual([error.path, error.rule], ["/n", "it never is"]);
          assert.match(error.text, /^\{\s*"n":\s*[1-9]\s*\}$/);
          return true;
        },
      );
      assert.deepEqual(pieces, []);
    }
  },
);

test("a chat makes further attempts, and keeps only the one that is valid", long, async () => {
  const chat = model.chat();
  const turn = chat.send("A word?", {
    schema: loose,
    schemaMode: "validate",
    temperature: 1.5,
    seed: 1,
    maxTokens: 60,
    maxAttempts: 50,
  });
  let text = "";
  for await (const piece of turn) text += piece;
  const { value } = await turn;
  assert.deepEqual(value, JSON.parse(text));
  assert.ok(!/[a-m]$/.test((value as { word: string }).word));
  assert.deepEqual(chat.history.map(({ role }) => role), ["user", "assistant"]);
  assert.equal(chat.history[1]?.content, text);
});

test("bad schemas are typed errors at once", () => {
  assert.throws(() => model.complete("x", { schema: { not: { uniqueItems: true } } }), UnsupportedKeywordError);
  assert.throws(() => model.complete("x", { maxAttempts: 2 } as object), /maxAttempts/);
  assert.throws(() => model.complete("x", { schema: true, maxAttempts: 0 }), /maxAttempts is 0/);
  assert.throws(() => model.complete("x", { schema: true, schemaMode: "loose" as "strict" }), /schemaMode is "loose"/);
  assert.throws(
    () => model.complete("x", { schema: { type: "integer", minimum: 2, maximum: 1 } }),
    SchemaContradictionError,
  );
  assert.throws(() => model.complete("x", { schema: true, grammar: 'root ::= "a"' }), /grammar is given beside schema/);
  assert.throws(() => model.complete("x", { schema: {}, jsonSchema: {} }), /jsonSchema is given beside/);
  assert.throws(() => model.chat().send("x", { schema: 5 as unknown as boolean }), /the schema is 5/);
  assert.throws(() => model.complete("x", { schema: true, whitespace: "much" as "compact" }), /whitespace is "much"/);
});

test("a Standard Schema of the specification's own types is one here", () => {
  const typed = (
    schema: StandardSchemaV1<string, number> & StandardJSONSchemaV1<string, number>,
  ): StandardSchema<string, number> => schema;
  assert.equal(typeof typed, "function");
});
