import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { abis, byValueFunctions, goldenEntry } from "./golden/abi.ts";

for (const abi of abis) {
  test(`every by-value function of the tables is placed and lowered for ${abi} as its golden file says`, () => {
    const golden = JSON.parse(readFileSync(new URL(`./golden/${abi}.json`, import.meta.url), "utf8")) as Record<
      string,
      unknown
    >;
    const made = Object.fromEntries(byValueFunctions().map((name) => [name, { ...goldenEntry(name, abi) }]));
    assert.deepEqual(made, golden);
  });
}

test("the golden files have what the headers pass by value", () => {
  const names = new Set(byValueFunctions());
  for (
    const name of [
      "llama_decode",
      "llama_batch_free",
      "llama_init_from_model",
      "ggml_init",
      "gguf_init_from_file",
      "llama_perf_context",
    ]
  ) {
    assert.ok(names.has(name), name);
  }
  assert.ok(!names.has("llama_free"));
});
