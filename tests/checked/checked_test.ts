import assert from "node:assert/strict";
import test from "node:test";
import { moduleCommand, runProgram } from "../support/program.ts";

/** The numbers that a child prints. */
interface Report {
  readonly arguments: number;
  readonly conditions: number;
  readonly problems: readonly string[];
  readonly unbroken: readonly string[];
}

for (const prefix of ["ggml_", "gguf_", "llama_", "mtmd_", "whisper_", "parakeet_"]) {
  test(`checked calls of ${prefix}: each requirement refuses a call that breaks it, and no call ends the process`, async () => {
    const { code, signal, stdout, stderr } = await runProgram(moduleCommand("tests/checked/child.ts", [prefix]), {
      limitMs: 280_000,
    });
    assert.equal(code, 0, `${signal} at ${stderr.trim().split("\n").slice(-5).join("\n")}`);
    const report = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Report;
    assert.deepEqual(report.problems, []);
    assert.deepEqual(report.unbroken, []);
    assert.ok(report.arguments > 400 && report.conditions > 10, stdout);
  });
}
