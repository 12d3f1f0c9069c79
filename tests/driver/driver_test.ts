import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import { ROOT } from "../../scripts/support/root.ts";
import { runtime } from "../support/program.ts";
import { addUp, Driver } from "./driver.ts";
import type { EntryName } from "./entries.ts";

/** Steps of a child; `driver.ts` makes thousands. */
const steps: Readonly<Record<EntryName, number>> = { ggml: 250, llama: 80, whisper: 80 };

/** A seed that each commit has of its own, so that a failure can be run again. */
const seed = Number.parseInt(
  execFileSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" }).slice(0, 6),
  16,
);

for (const [entry, count] of Object.entries(steps)) {
  test(`random calls end in results and typed errors: ${entry}`, { timeout: 240_000 }, async () => {
    using driver = new Driver(entry as EntryName);
    const ended = await driver.run(runtime, seed, count);
    assert.equal(ended.death, undefined, `seed ${seed}: ${ended.death}\n${ended.last.join("\n")}`);
    const { counts, findings } = addUp([ended]);
    assert.deepEqual([...findings.values()], [], `seed ${seed}`);
    const calls = [...counts.values()].flatMap((states) => Object.values(states)).reduce(
      (sum, times) => sum + times,
      0,
    );
    assert.ok(calls > count / 8, `${calls} calls in ${count} steps`);
  });
}
