import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { moduleCommand, runProgram } from "../../support/program.ts";

const runs = process.env["FUZZ_RUNS"] ?? "10";
const seed = process.env["FUZZ_SEED"] ?? "7";

test("operands that are wrong give an error of this library, and what is taken is computed: nothing aborts", async () => {
  const { code, signal, stdout, stderr } = await runProgram(
    moduleCommand("tests/ggml/operators/fuzz.ts", [runs, seed]),
  );
  assert.equal(code, 0, `code ${code}, signal ${signal}\n${stderr.slice(-2000)}`);
  const { taken, refused, strangers } = JSON.parse(stdout) as { taken: number; refused: number; strangers: string[] };
  console.log(`${taken} taken and computed, ${refused} refused`);
  assert.deepEqual(strangers, []);
  assert.ok(taken > 500 && refused > 300, `${taken} taken, ${refused} refused`);
});
