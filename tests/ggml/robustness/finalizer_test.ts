// What nobody disposed is freed when it is collected, and not before.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runChild } from "./run_child.ts";

const names = [
  "BackendBuffer",
  "BackendBuffer of a context",
  "GraphAllocator",
  "Scheduler",
  "Backend",
  "Backend that computed",
  "BackendEvent",
  "GraphCopy",
  "Plan",
  "BackendBuffer of the CPU",
  "Dataset",
  "TrainingResult",
  "NativeGguf",
  "GgmlContext",
  "tensors keep their buffer",
  "work keeps what it uses",
  "a view keeps its context",
];

const { stdout, stderr, status, signal } = runChild("./finalizer_child.ts");
const lines = stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as { name: string });

for (const name of names) {
  test(`a forgotten object goes, and what is used stays: ${name}`, () => {
    const found = lines.find((line) => line.name === name);
    assert.deepEqual(found, { name, made: true, freed: true }, `ended with ${signal ?? status}: ${stderr}`);
  });
}

test("the process ended well", () => assert.equal(status, 0, stderr));
