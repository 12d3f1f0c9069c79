import assert from "node:assert/strict";
import test from "node:test";
import { runtime } from "../support/program.ts";
import { kinds } from "./kinds.ts";
import { runBatch } from "./rounds.ts";

/** Damaged inputs of each kind; `rounds.ts` tries thousands. */
const INPUTS = 60;

for (const kind of Object.keys(kinds)) {
  test(`damaged input is taken or refused with a typed error: ${kind}`, { timeout: 240_000 }, async () => {
    const batch = await runBatch(runtime, kind, 7, 0, INPUTS);
    assert.ok("outcome" in batch, "death" in batch ? batch.death : "");
    const { taken, refused, untyped } = batch.outcome;
    assert.deepEqual(untyped, []);
    assert.equal(taken + Object.values(refused).reduce((sum, count) => sum + count, 0), INPUTS);
  });
}
