import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Clang, findZig } from "../../../scripts/bindgen/clang.ts";
import { MAIN_TARGET } from "../../../scripts/bindgen/headers.ts";
import { upstreamFolder } from "../../../scripts/bindgen/read.ts";

/** Runs a script of the repository in the runtime that runs this test. */
function script(...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const path = fileURLToPath(new URL(`../../../scripts/${args[0]}`, import.meta.url));
  const run = "deno" in process.versions ? ["run", "-A"] : [];
  return promisify(execFile)(process.execPath, [...run, path, ...args.slice(1)], { maxBuffer: 1 << 24 });
}

test("the committed tables are what the pinned headers give", { timeout: 120_000 }, async () => {
  await script("bindgen.ts", "--check");
});

test("the tables agree with the built libraries, with clang on six targets and with the library's own defaults", {
  timeout: 120_000,
}, async () => {
  const { stdout } = await script("check_tables.ts");
  assert.match(stdout, /^All agrees\.$/m);
});

test("clang refuses a wrong layout", { timeout: 120_000 }, async () => {
  const clang = new Clang(
    await findZig(),
    upstreamFolder,
    '_Static_assert(sizeof(struct llama_batch) == 48, "claim 0");\n',
  );
  try {
    assert.match(clang.errors(MAIN_TARGET).join("\n"), /claim 0/);
  } finally {
    clang.dispose();
  }
});
