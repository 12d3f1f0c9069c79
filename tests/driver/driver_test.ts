import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { addUp, Driver } from "./driver.ts";
import type { EntryName } from "./entries.ts";

const runtime = "bun" in process.versions ? "bun" : "deno";
/** Steps of a child; `driver.ts` makes thousands. */
const steps: Readonly<Record<EntryName, number>> = { ggml: 250, llama: 80, whisper: 80 };

for (const [entry, count] of Object.entries(steps)) {
  // The seed is another one each time: it stands in the error.
  const seed = crypto.getRandomValues(new Uint32Array(1))[0]! % 1_000_000;
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
