import assert from "node:assert/strict";
import test from "node:test";
import { exits } from "./rounds.ts";
import { slow } from "../support.ts";

test("a program ends with the right code whatever native work is under way", slow, async () => {
  for await (const { what, wrong } of exits(1)) assert.deepEqual(wrong, [], what);
});
