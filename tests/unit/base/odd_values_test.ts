// Values that break when they are looked at: Proxies that were revoked, and objects made from the prototypes of the runtime's own classes.
import assert from "node:assert/strict";
import test from "node:test";
import { checkSignal, isArray, isAsyncIterable, isInstance, isPlainObject } from "../../../base/check.ts";
import { messageOf } from "../../../base/error.ts";
import { GrammarMatcher, matchesGrammar, parseGrammar } from "../../../lib/gbnf/mod.ts";
import { encodeGguf } from "../../../lib/gguf/mod.ts";
import { schemaToGrammar, schemaToRules } from "../../../lib/json_schema/mod.ts";
import { validateStandard } from "../../../lib/json_schema/standard.ts";
import { decodeAudio } from "../../../lib/whisper/audio/read.ts";
import { Resampler } from "../../../lib/whisper/audio/resampler.ts";

function revoked(target: object = {}): never {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy as never;
}

const classes: readonly (abstract new (...args: never[]) => object)[] = [
  Float32Array,
  AbortSignal,
  URL,
  ArrayBuffer,
  Blob,
  GrammarMatcher,
];
const fakes = classes.map((type) => Object.create(type.prototype) as never);

test("checks say no to what can't be looked at", () => {
  for (const value of [revoked(), revoked([]), revoked(() => {})]) {
    assert.equal(isArray(value), false);
    assert.equal(isPlainObject(value), false);
    assert.equal(isAsyncIterable(value), false);
    assert.equal(isInstance(value, Float32Array), false);
    assert.equal(messageOf(value), "an object");
    assert.throws(() => checkSignal("signal", value), { code: "INVALID_ARGUMENT" });
  }
  for (const type of classes.slice(0, -1)) {
    assert.equal(isInstance(Object.create(type.prototype), type), false, type.name);
  }
  assert.equal(isInstance(new Proxy(new Float32Array(2), {}), Float32Array), false);
  assert.equal(isInstance(new Float32Array(2), Float32Array), true);
  assert.equal(isInstance(AbortSignal.abort(), AbortSignal), true);
  assert.equal(isInstance(new Blob([]), Blob), true);
});

test("schemas, grammars, audio and samples that can't be looked at are refused with a code", async () => {
  const grammar = parseGrammar('root ::= "a"');
  for (const value of [revoked(), revoked([]), ...fakes]) {
    assert.throws(() => new GrammarMatcher(value), { code: "INVALID_ARGUMENT" });
    assert.throws(() => matchesGrammar(value, "a"), { code: "INVALID_ARGUMENT" });
    assert.throws(() => matchesGrammar(grammar, value), { code: "INVALID_ARGUMENT" });
    await assert.rejects(decodeAudio(value), { code: "INVALID_ARGUMENT" });
    assert.throws(() => encodeGguf(value), { code: "INVALID_ARGUMENT" });
    assert.throws(() => new Resampler(8000).push(value), { code: "INVALID_ARGUMENT" });
  }
  for (const value of [revoked(), revoked([]), { properties: revoked() }, { enum: [revoked()] }]) {
    assert.throws(() => schemaToGrammar(value), { code: "JSON_SCHEMA" });
    assert.throws(() => schemaToRules(value, { prefix: "a" }), { code: "JSON_SCHEMA" });
    assert.throws(() => schemaToRules({}, { prefix: "a", schemas: value as never }), {
      code: /INVALID_ARGUMENT|JSON_SCHEMA/,
    });
  }
});

test("what a validator of a Standard Schema returns is checked", async () => {
  const returns = (result: unknown) =>
    validateStandard({ "~standard": { version: 1, vendor: "test", validate: () => result as never } }, 1);
  for (
    const result of [undefined, null, 5, { issues: 5 }, { issues: [] }, { issues: [undefined] }, { issues: revoked() }]
  ) {
    await assert.rejects(returns(result), { code: "INVALID_ARGUMENT" });
  }
  assert.deepEqual(await returns({ value: 2 }), { value: 2 });
  const issues = [{ message: "no", path: ["a", { key: 0 }] }];
  assert.deepEqual(await returns({ issues }), { issues: [{ message: "no", path: ["a", "0"] }] });
});
