import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const runs = process.env["FUZZ_RUNS"] ?? "10";

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly last: string;
}

function run(...args: readonly string[]): Promise<Ended> {
  const path = fileURLToPath(new URL("fuzz.ts", import.meta.url));
  const before = "deno" in process.versions ? ["run", "-A", "--no-check"] : [];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...before, path, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, last] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text);
    child.stderr.setEncoding("utf8").on("data", (text: string) => last = (last + text).slice(-2000));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, last }));
  });
}

test("operands that are wrong give an error of this library, and what is taken is computed: nothing aborts", async () => {
  const { code, signal, stdout, last } = await run(runs, "7");
  assert.equal(code, 0, `code ${code}, signal ${signal}\n${last}`);
  const { taken, refused, strangers } = JSON.parse(stdout) as { taken: number; refused: number; strangers: string[] };
  console.log(`${taken} taken and computed, ${refused} refused`);
  assert.deepEqual(strangers, []);
  assert.ok(taken > 500 && refused > 300, `${taken} taken, ${refused} refused`);
});
