// Each case let ggml read or write out of bounds once, or would.
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { runChild } from "../robustness/run_child.ts";

const INVALID = "INVALID_ARGUMENT";
const WHOLE = "UNSUPPORTED_OPERATION";
const times = (count: number, code: string): string[] => Array.from({ length: count }, () => code);
/** compute, computeSync, the function computeSync; a scheduler's compute, computeSync, evaluate; begin, plan, compareBackends. */
const ALL_INVALID = times(9, INVALID);
const CHECKED = [...times(6, "none"), ...times(3, WHOLE), 20, ...times(6, INVALID), ...times(3, WHOLE)];

const writes = [
  "write",
  "writeBytes",
  "write through a view",
  "setBytes",
  "setBytes of a view",
  "fillBytes",
  "setRows",
  "copyTensor",
  "setAsync",
  "setAsync of a view",
  "setRowsAsync",
  "copyAsync",
  "clear of the buffer",
];

const expected: Record<string, readonly unknown[]> = {
  ...Object.fromEntries(writes.map((name) => [`${name}, before`, ALL_INVALID])),
  ...Object.fromEntries(writes.map((name) => [`${name}, during`, ["GRAPH", 30, 20]])),
  "an array over the tensor, during": ["the original", 30, INVALID],
  "an array over a view, during": ["the original", 30, INVALID],
  "bytes of the buffer, during": ["the original", 30, INVALID],
  "an array of the program's own as a buffer, during": [20, INVALID],
  "another tensor in the same memory": ["GRAPH", "GRAPH", 20, INVALID],
  "a result in the memory of its indices": ["GRAPH"],
  "written by the graph": CHECKED,
  "numbers made to indices": CHECKED,
  "the places of the largest": [...times(9, "none"), 20, INVALID, 30],
  "indices taken from a table of indices": [INVALID, 30, INVALID],
  "a custom operator that writes": [20, 20, INVALID],
  "a scheduler that copies them to another device": ["copied", 20, INVALID, 30],
  "a backend of another process": [20, INVALID, 30, INVALID, 10, WHOLE, WHOLE, 20, INVALID],
};

test("bad indices by every way into an index tensor", { skip: process.platform !== "linux" }, () => {
  const { stdout, stderr, status, signal } = runChild("../indices/indices_child.ts");
  const seen = new Map(
    stdout.split("\n").filter((line) => line !== "").map((line) => {
      const { name, seen } = JSON.parse(line) as { name: string; seen: unknown[] };
      return [name, seen];
    }),
  );
  for (const [name, values] of Object.entries(expected)) {
    assert.deepEqual(seen.get(name), values, `${name}: ended with ${signal ?? status}: ${stderr}`);
  }
  assert.deepEqual([...seen.keys()].sort(), Object.keys(expected).sort());
  assert.equal(status, 0, stderr);
});
