import assert from "node:assert/strict";
import test from "node:test";
import { matchesGrammar, parseGrammar } from "../../../lib/gbnf/mod.ts";
import { schemaToGrammar } from "../../../lib/json_schema/mod.ts";
import { shareEqual } from "../../../lib/json_schema/share.ts";

type Parts = Record<string, Record<string, unknown>>;

test("equal parts become one, and only they", () => {
  const given = {
    a: { type: "array", items: { type: "string" } },
    b: { type: "array", items: { type: "string" } },
    c: { type: "array", items: { type: "number" } },
    d: { items: { type: "string" }, type: "array" },
    e: { enum: ["1", 1, null, "null", [1], ["1"]] },
    __proto__: { own: true },
  };
  const shared = shareEqual(given) as Parts;
  assert.equal(JSON.stringify(shared), JSON.stringify(given));
  assert.equal(shared["a"], shared["b"]);
  assert.notEqual(shared["a"], shared["c"]);
  assert.equal(shared["a"]?.["items"], shared["d"]?.["items"]);
});

test("what refers to others, or is referred to by a name, and what is around it stays as it is", () => {
  for (const part of [{ $ref: "#/x" }, { $id: "y" }, { $anchor: "z" }, { items: { $ref: "#" } }]) {
    const { a, b } = shareEqual({ a: part, b: { ...part } }) as Parts;
    assert.deepEqual({ ...a }, { ...b });
    assert.notEqual(a, b);
  }
});

test("equal references with other bases mean what they meant", () => {
  const kind = (type: string) => ({
    $id: `https://example.com/${type}`,
    $defs: { value: { type } },
    properties: { x: { $ref: "#/$defs/value" } },
    required: ["x"],
  });
  const grammar = parseGrammar(schemaToGrammar({
    type: "object",
    properties: { a: kind("integer"), b: kind("boolean") },
    required: ["a", "b"],
  }));
  assert.equal(matchesGrammar(grammar, '{"a":{"x":1},"b":{"x":true}}'), true);
  assert.equal(matchesGrammar(grammar, '{"a":{"x":1},"b":{"x":1}}'), false);
});
