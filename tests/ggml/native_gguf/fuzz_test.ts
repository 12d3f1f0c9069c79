import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { countAllocations, cuts, fuzz, samples } from "./fuzz.ts";

/** 10,000 in the full form: GGML_FFI_FUZZ=10000. */
const count = Number(process.env["GGML_FFI_FUZZ"] ?? 600);

test("damaged files are refused or read, in memory of their own size", async () => {
  using _counting = countAllocations();
  const counts = await fuzz(count, 20_240_607);
  const refused = Object.values(counts.refused).reduce((sum, one) => sum + one, 0);
  assert.equal(counts.read + refused, count);
  assert.ok(counts.read > count / 50 && counts.native > count / 100, JSON.stringify(counts));
  assert.ok(Object.keys(counts.refused).length >= 4, JSON.stringify(counts));
  assert.ok(counts.worst > 0 && counts.worst < 8, JSON.stringify(counts));
});

test("a file cut at any byte is refused or read", async () => {
  using _counting = countAllocations();
  for (const sample of samples) {
    const counts = await cuts(sample);
    const refused = Object.values(counts.refused).reduce((sum, one) => sum + one, 0);
    assert.equal(counts.read + refused, sample.length + 1);
    assert.ok(refused > 100 && counts.read >= 1, JSON.stringify(counts));
    assert.ok(counts.worst > 0 && counts.worst < 8, JSON.stringify(counts));
  }
});
