import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultModelPath } from "../../../lib/models/default_model.ts";
import { openReference } from "../reference.ts";
import { best, distance, forward, PARIS } from "./split_run.ts";

const { registry, device, live } = await openReference();
const { native } = registry;
const path = await defaultModelPath();
const bytes = (): number => live().bytes;

// The CPU rounds what it multiplies by quantised weights to 8 bits and the reference backend doesn't: hence the few percent.
test("SmolLM2 with half of its layers on the reference backend: the logits of the CPU alone, within 8 %", () => {
  const before = live();
  const alone = forward(native, path, [], 0, bytes);
  assert.equal(alone.bytesOnDevice, 0);
  assert.equal(best(alone.logits), PARIS);
  const split = forward(native, path, [device.unsafePointer], 15, bytes);
  assert.ok(split.bytesOnDevice > 20 * 2 ** 20, `${split.bytesOnDevice} bytes`);
  assert.equal(best(split.logits), PARIS);
  const { largest, relative } = distance(split.logits, alone.logits);
  assert.ok(largest > 0, "the reference backend computed nothing");
  assert.ok(relative < 0.08, `relative ${relative}`);
  assert.ok(largest < 1.5, `largest ${largest}`);
  assert.deepEqual(live(), before);
});
