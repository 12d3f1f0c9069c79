import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { writeGguf } from "../../../lib/gguf/mod.ts";
import { moduleCommand, runProgram } from "../../support/program.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

test(
  "files that are forgotten are closed, and end no program",
  { skip: process.platform !== "linux", timeout: 60_000 },
  async () => {
    using folder = new TemporaryFolder();
    const path = folder.file("a.gguf");
    await writeGguf(path, { metadata: { "general.architecture": "test" }, tensors: [] });
    const command = moduleCommand("tests/unit/gguf/forgotten_child.ts", [path], undefined, [
      "-A",
      "--v8-flags=--expose-gc",
    ]);
    const { code, stdout, stderr } = await runProgram(command);
    assert.equal(code, 0, stderr);
    const { before, after } = JSON.parse(stdout) as { before: number; after: number };
    assert.ok(before > 2 && after <= 2, `${before} descriptors, then ${after}`);
  },
);
