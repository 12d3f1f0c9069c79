import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("native code that aborts costs the backend or the scheduler, not the process", {
  skip: process.platform !== "linux",
}, () => {
  const child = fileURLToPath(new URL("./abort_child.ts", import.meta.url));
  const args = "deno" in process.versions ? ["run", "-A", "--no-check", child] : [child];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 });
  assert.equal(status, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), {
    dead: ["NATIVE_ABORT"],
    first: "NATIVE_ABORT",
    again: "NATIVE_ABORT",
    after: "none",
    values: [3, 4],
    scheduled: "NATIVE_ABORT",
    scheduledAgain: "NATIVE_ABORT",
  });
});
