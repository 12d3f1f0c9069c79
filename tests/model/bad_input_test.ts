import assert from "node:assert/strict";
import test from "node:test";
import { command, run, runtime, slow } from "./support.ts";

test("every kind of bad input gives a typed error, and the process goes on", slow, async () => {
  const { code, stdout, stderr } = await run(command(runtime, "tests/model/bad_input.ts", []));
  assert.equal(code, 0, stdout + stderr);
  assert.ok(stdout.split("\n").filter((line) => line.startsWith("ok ")).length >= 35, stdout);
  assert.match(stdout, /in the same process: .*Paris/);
});
