import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import { ROOT } from "../../scripts/support/root.ts";
import { runtime } from "../support/program.ts";
import { Driver } from "./driver.ts";
import type { EntryName } from "./entries.ts";
import { Table } from "./table.ts";

/** Scenes of a child; `driver.ts` plays thousands. */
const steps: Readonly<Record<EntryName, number>> = { ggml: 24, llama: 5, whisper: 5 };

/** A seed that each commit has of its own, so that a failure can be run again. */
const seed = Number.parseInt(
  execFileSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" }).slice(0, 6),
  16,
);

for (const [entry, count] of Object.entries(steps)) {
  test(`random calls end in results and typed errors: ${entry}`, { timeout: 240_000 }, async () => {
    await using driver = await Driver.create(entry as EntryName);
    const ended = await driver.run(runtime, seed, count);
    assert.equal(ended.death, undefined, `seed ${seed}: ${ended.death}\n${ended.last.join("\n")}`);
    const table = new Table(driver.api);
    if (ended.report !== undefined) table.add(ended.report, seed);
    assert.deepEqual([...table.findings.values()], [], `seed ${seed}`);
    assert.ok(table.total > count, `${table.total} calls in ${count} steps`);
  });
}
