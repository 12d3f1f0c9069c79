// Makes a folder of 24 files at PATH in 50 steps; after each it prints a line and waits for one, so that it can be ended between any two.
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { produce } from "../../../scripts/setup/cache.ts";

const CONTENT = "model ".repeat(1000);
const [path = ""] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function pause(): Promise<void> {
  process.stdout.write("step\n");
  await lines.next();
}

await produce(path, async (temporary) => {
  await pause();
  await mkdir(temporary, { recursive: true });
  for (let at = 0; at < 24; at++) {
    const file = join(temporary, `file-${at}`);
    await writeFile(file, CONTENT.slice(0, 3000));
    await pause();
    await appendFile(file, CONTENT.slice(3000));
    await pause();
  }
});
await pause();
