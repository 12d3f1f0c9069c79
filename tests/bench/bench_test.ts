import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { moduleCommand, ROOT, runProgram } from "../support/program.ts";

const benchmarks = readdirSync(join(ROOT, "bench")).filter((name) => name.endsWith(".ts")).sort();

test("there are benchmarks", () => {
  assert.ok(benchmarks.length >= 11, benchmarks.join());
});

for (const name of benchmarks) {
  test(`bench/${name} runs and prints its table`, { timeout: 300_000 }, async () => {
    const command = moduleCommand(`bench/${name}`, ["--short"]);
    const { code, stdout, stderr } = await runProgram(command, { limitMs: 280_000 });
    assert.equal(code, 0, stderr);
    const [head, rule, ...rows] = stdout.slice(stdout.search(/^.*\n─/m)).split("\n");
    assert.match(head ?? "", /\S {2,}\S/, stdout);
    assert.match(rule ?? "", /^─+(?: {2}─+)+$/, stdout);
    const columns = (rule ?? "").split("  ").length;
    const first = (rows[0] ?? "").trim().split(/ {2,}/);
    assert.ok(columns >= 3 && first.length >= columns - 1, stdout);
    // A figure of every column but the names is there, and none is empty of meaning.
    assert.match(rows[0] ?? "", /\d/, stdout);
    assert.doesNotMatch(stdout, /NaN|undefined|Infinity/, stdout);
  });
}
