import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { moduleCommand, runProgram } from "../../support/program.ts";

test("native code that aborts costs the backend or the scheduler, not the process", {
  skip: process.platform !== "linux",
}, async () => {
  const { stdout, stderr, code } = await runProgram(moduleCommand("tests/ggml/backend/abort_child.ts"));
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), {
    dead: ["NATIVE_ABORT"],
    first: "NATIVE_ABORT",
    again: "NATIVE_ABORT",
    after: "none",
    values: [-3, -4],
    scheduled: "NATIVE_ABORT",
    scheduledAgain: "NATIVE_ABORT",
  });
});
