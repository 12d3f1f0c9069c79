import assert from "node:assert/strict";
import test from "node:test";
import { UnsupportedKeywordError } from "../../../lib/errors.ts";
import { matchesGrammar, parseGrammar } from "../../../lib/gbnf/mod.ts";
import { compileSchema, schemaToRules } from "../../../lib/json_schema/mod.ts";

test("schemaMode validate leaves out what no grammar can express, and lists it by path", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string", pattern: "\\bx" }, b: { type: "integer" } },
    required: ["a", "b"],
    additionalProperties: false,
  };
  assert.throws(() => compileSchema(schema), UnsupportedKeywordError);
  const { grammar, loosened } = compileSchema(schema, { schemaMode: "validate" });
  assert.deepEqual(loosened.map(({ path }) => path), ["/properties/a/pattern"]);
  assert.match(loosened[0]?.reason ?? "", /\\b/);
  const parsed = parseGrammar(grammar);
  assert.ok(matchesGrammar(parsed, '{"a":"yx","b":1}') && !matchesGrammar(parsed, '{"a":"yx","b":"1"}'));
  const rules = schemaToRules(schema, { prefix: "t-", schemaMode: "validate" });
  assert.deepEqual(rules.loosened.map(({ path }) => path), ["/properties/a/pattern"]);
  assert.deepEqual(schemaToRules({ type: "null" }, { prefix: "t-" }).loosened, []);
});
