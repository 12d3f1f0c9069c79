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

test("structs that are passed by value are known", () => {
  assert.ok(byValueFunctions().length >= 60, `${byValueFunctions().length} functions`);
});
