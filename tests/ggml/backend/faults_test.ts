import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { faultRound, faults } from "./fault_rounds.ts";
import { openReference } from "../reference.ts";

const rounds = Number(process.env["FAULT_ROUNDS"] ?? 20);
const reference = await openReference();

for (const name of Object.keys(faults)) {
  test(`${name}: a typed error, the next computation right, nothing left behind, ${rounds} times`, async () => {
    const before = reference.live();
    for (let round = 0; round < rounds; round++) await faultRound(reference, name);
    assert.deepEqual(reference.live(), before);
  });
}

test("a switch that isn't there is refused by the backend itself", () => {
  assert.throws(() => reference.fault("nonsense", 1), /nonsense/);
});
