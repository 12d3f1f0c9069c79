import assert from "node:assert/strict";
import { test } from "node:test";
import { coverage } from "../../../scripts/check_coverage.ts";

const all = coverage();

test("every function of ggml's headers is reached by something public, or there is a reason", () => {
  assert.ok(all.length > 500, `${all.length} functions`);
  const neither = all.filter(({ reachedBy, reason }) => reachedBy.length === 0 && reason === undefined);
  assert.deepEqual(neither.map(({ name }) => name), []);
  const both = all.filter(({ reachedBy, reason }) => reachedBy.length > 0 && reason !== undefined);
  assert.deepEqual(both.map(({ name }) => name), [], "a reason, though it is reached");
});

test("what reaches a function is found from the code", () => {
  const found = new Map(all.map((one) => [one.name, one]));
  assert.ok(found.get("ggml_add")!.reachedBy.includes("ops.add"));
  assert.ok(found.get("ggml_set_input")!.reachedBy.includes("Tensor.setInput"));
  assert.ok(found.get("ggml_gallocr_alloc_graph")!.reachedBy.includes("GraphAllocator.alloc"));
  assert.equal(found.get("ggml_add1")!.reachedBy.length, 0);
});
