// Whatever a function of ./ggml is given, it takes it or throws an error with a code: never an error from inside, never the end of the process.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runChild } from "./run_child.ts";

test("every function, constructor, method and setter refuses what it doesn't take with a code", () => {
  const { stdout, stderr, status, signal } = runChild("./wrong_arguments_child.ts");
  const lines = stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as { calls?: number });
  const last = stderr.trimEnd().split("\n").slice(-3).join("\n");
  assert.equal(status, 0, `ended with ${signal ?? status} after\n${last}`);
  assert.deepEqual(lines.slice(0, -1), []);
  const { calls, ...rest } = lines.at(-1) ?? {};
  assert.deepEqual(rest, { alive: true });
  assert.ok(Number(calls) > 30_000, `only ${calls} calls`);
});
