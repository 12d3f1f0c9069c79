import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import type { AbortReport } from "./abort_child.ts";
import { command, run, runtime, slow } from "../support.ts";

/** Elsewhere an abort ends the process. */
const kinds = process.platform === "linux" ? ["assert", "exception", "abort", "compute", "hang"] : [];

for (const kind of kinds) {
  test(
    `a model is lost to ${kind} while another streams: typed errors, the other's text, no thread that spins, code 0`,
    slow,
    async () => {
      const { code, signal, stdout, stderr } = await run(
        command(runtime, "tests/model/containment/abort_child.ts", [kind, "2"]),
      );
      assert.deepEqual([code, signal], [0, null], stderr);
      const report = JSON.parse(stdout) as AbortReport;
      const name = kind === "hang" ? "NativeHangError" : "NativeAbortError";
      assert.deepEqual(report.errors, [name, name]);
      const once = [name, name, name, "returned", "DisposedError"];
      assert.deepEqual(report.later, [...once, ...once]);
      assert.equal(report.sameText, true);
      assert.equal(report.running, 0);
      const words = {
        assert: /gguf\.cpp:\d+: GGML_ASSERT/,
        compute: /ops\.cpp:\d+: GGML_ASSERT/,
        hang: /no sign of life/,
      };
      const expected = words[kind as keyof typeof words] ?? /without a word/;
      for (const message of report.messages) assert.match(message, expected);
    },
  );
}

test("an abort while a dispose waits is the call's error and not the dispose's", {
  ...slow,
  skip: process.platform !== "linux",
}, async () => {
  const { code, stdout, stderr } = await run(command(runtime, "tests/model/containment/abort_dispose_child.ts", []));
  assert.equal(stdout.trim(), "right", stderr);
  assert.equal(code, 0);
});
