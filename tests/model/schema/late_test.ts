// A schema or grammar that takes long is read in slices and converted on another thread.
import assert from "node:assert/strict";
import test from "node:test";
import { GrammarError, JsonSchemaError, SchemaTooComplexError } from "../../../lib/errors.ts";
import { sharedModel, slow } from "../support.ts";

const model = sharedModel({ contextSize: 1024 });

/** An object of `n` optional properties, of which the model may write the first. */
function large(n: number, last: unknown = { type: "boolean" }): Record<string, unknown> {
  const properties = Object.fromEntries(Array.from({ length: n }, (_, at) => [`p${at}`, { const: at }]));
  return { type: "object", properties: { answer: { const: 42 }, ...properties, last }, required: ["answer"] };
}

const only = { type: "object", properties: { answer: { const: 42 } }, required: ["answer"] };
const options = { temperature: 0, maxTokens: 24 } as const;

test("a large schema gives what a small one gives", slow, async () => {
  const shared = await model();
  const schema = { anyOf: [{ ...only, additionalProperties: false, maxProperties: 1 }], $defs: large(4_000) };
  const small = await shared.complete("The answer as JSON: ", { ...options, schema: { anyOf: schema.anyOf } });
  const result = await shared.complete("The answer as JSON: ", { ...options, schema });
  assert.equal(result.text, small.text);
  assert.deepEqual(result.value, { answer: 42 });
  const chat = shared.chat();
  const turn = await chat.send("What is the answer, as JSON?", { ...options, schema, whitespace: "compact" });
  assert.deepEqual(turn.value, { answer: 42 });
  // The second attempt uses the grammar of the first.
  const tried = await shared.complete("JSON: ", { ...options, schema, schemaMode: "validate", maxAttempts: 2 });
  assert.deepEqual(tried.value, { answer: 42 });
});

test("what is wrong with a large schema rejects the generation", slow, async () => {
  const shared = await model();
  const bad = shared.complete("x", { ...options, schema: large(4_000, { type: "nonsense" }) });
  await assert.rejects(bad, (error: JsonSchemaError) => {
    assert.ok(error instanceof JsonSchemaError);
    assert.equal(error.path, "/properties/last/type");
    return true;
  });
  const wide = { enum: Array.from({ length: 200_001 }, () => []) };
  await assert.rejects(shared.chat().send("x", { ...options, schema: wide }), SchemaTooComplexError);
  // A small one is refused at once.
  assert.throws(() => shared.complete("x", { schema: { type: "nonsense" } }), JsonSchemaError);
  assert.throws(() => shared.complete("x", { tokenHealing: true, schema: large(4_000) }), { code: "INVALID_ARGUMENT" });
});

test("the signal ends the reading and the conversion of a large schema at once", slow, async () => {
  const shared = await model();
  for (const turns of [0, 1, 40]) {
    const controller = new AbortController();
    // Broken at its end: only who reads all of it sees that.
    const bad = shared.complete("x", { signal: controller.signal, schema: large(60_000, { type: "nonsense" }) });
    for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setTimeout(resolve, 0));
    controller.abort(new Error("enough"));
    await assert.rejects(bad, /enough/);
  }
  assert.equal((await shared.complete("1, 2, 3,", { maxTokens: 1 })).tokens.length, 1);
});

test("a long grammar is checked on another thread", slow, async () => {
  const shared = await model();
  const words = Array.from({ length: 12_000 }, (_, at) => `"w${at}"`).join(" | ");
  const { text } = await shared.complete("x", { ...options, grammar: `root ::= ${words}` });
  assert.match(text, /^w\d+$/);
  await assert.rejects(shared.complete("x", { ...options, grammar: `root ::= ${words} | missing` }), GrammarError);
  await assert.rejects(
    shared.complete("x", { ...options, grammar: `other ::= ${words}`, grammarRoot: "nothing" }),
    GrammarError,
  );
  assert.throws(() => shared.complete("x", { grammar: "root ::= missing" }), GrammarError);
});
