// Opens a file many times and forgets it. Prints how many descriptors of it are open before and after garbage was collected.
import { readdirSync, readlinkSync } from "node:fs";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { GgufFile } from "../../../lib/gguf/mod.ts";

const [, , path = ""] = process.argv;
const { gc, Bun } = globalThis as { gc?: () => void; Bun?: { gc(force: boolean): void } };

function descriptors(): number {
  return readdirSync("/proc/self/fd").filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`) === path;
    } catch {
      return false;
    }
  }).length;
}

/** Keeps files until they are counted. */
async function openMany(): Promise<number> {
  const files: GgufFile[] = [];
  for (let left = 32; left > 0; left--) files.push(await GgufFile.open(path));
  const count = descriptors();
  return files.length === 0 ? 0 : count;
}

const before = await openMany();
let after = before;
for (let left = 100; left > 0 && after > 2; left--) {
  gc?.();
  Bun?.gc(true);
  await wait(20);
  after = descriptors();
}
console.log(JSON.stringify({ before, after }));
