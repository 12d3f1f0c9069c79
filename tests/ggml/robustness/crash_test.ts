// Every case ended the process once, or computed something else than it was asked for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runChild } from "./run_child.ts";

const CHANGES = ["GRAPH", "GRAPH", "GRAPH", "GRAPH", "GRAPH", "GRAPH"];
const BUSY = ["BACKEND", "BACKEND", "BACKEND"];
const times = (count: number, code: string): string[] => Array.from({ length: count }, () => code);

const expected: Record<string, readonly unknown[]> = {
  "changes during compute": [...CHANGES, "BACKEND", "BACKEND", 14, "none", "none"],
  "changes in a loop of evaluate": [
    "SQR",
    ...CHANGES,
    ...BUSY,
    "SUM",
    ...CHANGES,
    ...BUSY,
    14,
    "GRAPH",
    "DISPOSED",
    "none",
  ],
  "changes by a custom operator": [...CHANGES, "GRAPH", 6, "none", true],
  "another graph inside a custom operator": ["none", "RangeError: inner"],
  "changes by a device in TypeScript": [...CHANGES, ...CHANGES, ...BUSY, 14],
  "changes while two backends are compared": [...CHANGES, "BACKEND"],
  "a plan of a graph that is changed": [...CHANGES, 14, "none"],
  "indices written by a custom operator": ["GRAPH", "GRAPH", "GRAPH", 2, "none", "GRAPH", "GRAPH", "GRAPH", 4],
  "a graph deeper than the stack": [300_000, 2_501, -1, 2_501, -1, 2_501, -1],
  "names that are none": times(24, "INVALID_ARGUMENT"),
  "views in a context with memory of its own": times(11, "NOT_ALLOCATED"),
  "views of tensors in a buffer": [1, 2, "NOT_ALLOCATED", "NOT_ALLOCATED"],
  "a leaf that no node uses, in a scheduler": [1, "none", 1, 6, 6, 0, "SUM", "none", "none", "none", "none"],
  "graphs of leaves only, the second larger": [10, 100_000, 5, "GRAPH"],
  "tensors without elements": ["BACKEND", "none", "INVALID_ARGUMENT", true, "none", true, true],
  "objects that only look like it": times(9, "INVALID_ARGUMENT"),
  "nodes of a device in TypeScript, after the call that they were lent to": [true, "DISPOSED", "f32"],
  "a custom operator among others, on two threads": ["INVALID_ARGUMENT", "INVALID_ARGUMENT", "none", 3],
  "a graph with indices, copied while it is computed": ["GRAPH", "none"],
  "memory that a custom operator disposes": ["none", "NOT_ALLOCATED", false, "none", "NOT_ALLOCATED", false],
  "an allocator's memory, disposed between two computations": ["DISPOSED", "NOT_ALLOCATED"],
  "operands of a custom operator with holes": times(2, "INVALID_ARGUMENT"),
  "nodes to compare that are none": [...times(5, "INVALID_ARGUMENT"), "GRAPH", "GRAPH"],
};

const { stdout, stderr, status, signal } = runChild("./crash_child.ts");
const seen = new Map(
  stdout.split("\n").filter((line) => line !== "").map((line) => {
    const { name, seen } = JSON.parse(line) as { name: string; seen: unknown[] };
    return [name, seen];
  }),
);

for (const [name, values] of Object.entries(expected)) {
  test(`no crash: ${name}`, () =>
    assert.deepEqual(seen.get(name), values, `ended with ${signal ?? status}: ${stderr}`));
}

test("all cases ran, and the process ended well", () => {
  assert.deepEqual([...seen.keys()], Object.keys(expected));
  assert.equal(status, 0, stderr);
});
