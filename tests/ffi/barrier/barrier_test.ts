import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { hostTarget } from "../../../scripts/build/cpu.ts";
import { cacheFolder } from "../../../scripts/setup/cache.ts";
import { ensureZig } from "../../../scripts/setup/zig.ts";

const run = promisify(execFile);
const source = fileURLToPath(new URL("../../../csrc/barrier/barrier_test.c", import.meta.url));

test(
  "threads that wait for each other by the barrier pass together, more of them than cores too",
  { timeout: 240_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "ggml-ffi-barrier-"));
    try {
      const program = join(folder, "barrier_test");
      const cache = cacheFolder();
      const env = { ...process.env, ZIG_GLOBAL_CACHE_DIR: join(cache, "zig-cache", "global") };
      await run(await ensureZig(cache), ["cc", "-target", hostTarget(), "-O2", "-o", program, source, "-lpthread"], {
        env,
      });
      for (const [threads, passes] of [[2, 20_000], [8, 5_000]]) {
        const { stdout } = await run(program, [String(threads), String(passes)]);
        assert.equal(stdout, `${threads} threads, ${2 * (passes ?? 0)} passes, 0 wrong\n`);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
