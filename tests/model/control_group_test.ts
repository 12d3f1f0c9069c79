import assert from "node:assert/strict";
import { mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { moduleCommand, runProgram } from "../support/program.ts";

/** Where version 1 of control groups is mounted, as far as it can be written. */
const PARENT = "/sys/fs/cgroup/memory";

/** A control group with a limit; `undefined` where this machine or user can't make one. */
function groupOf(limitBytes: number): (Disposable & { path: string }) | undefined {
  const path = join(PARENT, `ggml-ffi-test-${process.pid}`);
  try {
    mkdirSync(path);
    writeFileSync(join(path, "memory.limit_in_bytes"), String(limitBytes));
    return { path, [Symbol.dispose]: () => rmdirSync(path) };
  } catch {
    return undefined;
  }
}

test("in a control group of 192 MB a context that can't fit is an error, and one that fits answers", async () => {
  using group = groupOf(192 << 20);
  // Without the right to make one, tests/ffi/runtime/free_memory_test.ts shows what is read.
  if (group === undefined) return;
  const run = (contextSize: number) => {
    const command = moduleCommand("tests/model/control_group_child.ts", [String(contextSize)]);
    return runProgram(["sh", "-c", `echo $$ > ${group.path}/cgroup.procs; exec "$@"`, "sh", ...command]);
  };
  for (const contextSize of [6000, 8192]) {
    const { code, signal, stdout } = await run(contextSize);
    assert.deepEqual([code, signal], [0, null]);
    assert.match(stdout, /^ContextError: a context of \d+ tokens .* are free; try a smaller contextSize/);
  }
  assert.match((await run(1024)).stdout, /capital/);
});
