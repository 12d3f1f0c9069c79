import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { hostTarget } from "../../../scripts/build/cpu.ts";
import { cacheFolder } from "../../../scripts/setup/cache.ts";
import { ensureZig } from "../../../scripts/setup/zig.ts";
import { run } from "../../../scripts/support/exec.ts";
import { ROOT } from "../../support/program.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

const slow = { timeout: 240_000 };

test("threads that wait for each other by the barrier pass together, more of them than cores too", slow, async () => {
  using folder = new TemporaryFolder();
  const program = folder.file("barrier_test");
  const cache = cacheFolder();
  const source = join(ROOT, "csrc", "barrier", "barrier_test.c");
  await run(await ensureZig(cache), ["cc", "-target", hostTarget(), "-O2", "-o", program, source, "-lpthread"], {
    env: { ZIG_GLOBAL_CACHE_DIR: join(cache, "zig-cache", "global") },
  });
  for (const [threads, passes] of [[2, 20_000], [8, 5_000]] as const) {
    const stdout = await run(program, [String(threads), String(passes)]);
    assert.equal(stdout, `${threads} threads, ${2 * passes} passes, 0 wrong\n`);
  }
});
