import assert from "node:assert/strict";
import test from "node:test";
import { slow } from "../support.ts";
import { moments } from "./moments.ts";
import { exits, type Way, ways } from "./rounds.ts";

const inProcess: readonly Way[] = ways.slice(0, 5);
const names = Object.keys(moments);

/** The program's own ends at the main moments, and of all others one moment each; `rounds.ts` tries all. */
function applies(way: Way, moment: string): boolean {
  if (inProcess.includes(way) && ["load", "prompt", "generation", "idle"].includes(moment)) return true;
  return ways.indexOf(way) % (names.length - 1) === names.indexOf(moment) - 1;
}

for (const way of ways) {
  test(`a program ends as one without the library, whatever native work is under way: ${way}`, slow, async () => {
    for await (const { what, wrong } of exits(1, [way], applies)) assert.deepEqual(wrong, [], what);
  });
}
