import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";

const deno = fileURLToPath(new URL("../../../node_modules/.bin/deno", import.meta.url));
const path = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url));

const SCHEMA = { matches: [true, false], refusal: "JSON_SCHEMA" };
const GGUF = { name: "tiny", numbers: [1, 2], codes: ["NOT_GGUF", "MODEL_NOT_FOUND", "MODEL_NOT_FOUND"] };

/** What a program prints that Deno runs with these permissions alone. */
function run(name: string, permissions: readonly string[]): unknown {
  const args = ["run", "--no-prompt", "--no-check", ...permissions, path(name)];
  const { status, stdout, stderr } = spawnSync(deno, args, {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/** What a program leaves in `result` that is bundled for a browser and run where there is neither Deno nor process. */
async function runBundled(name: string): Promise<unknown> {
  const { outputFiles } = await build({
    entryPoints: [path(name)],
    bundle: true,
    write: false,
    platform: "browser",
    format: "esm",
    target: "es2022",
    logLevel: "silent",
  });
  const text = outputFiles[0]?.text ?? "";
  // What browsers have, and no more.
  const browser: Record<string, unknown> = {
    TextEncoder,
    TextDecoder,
    AbortSignal,
    AbortController,
    URL,
    DOMException,
    structuredClone,
    console: { log(): void {} },
    fetch,
    setTimeout,
    clearTimeout,
    crypto,
  };
  browser.globalThis = createContext(browser);
  assert.equal(
    runInContext("typeof Deno + typeof process + typeof Bun + typeof require", createContext(browser)),
    "undefined".repeat(4),
  );
  await runInContext(`(async () => {\n${text}\n})()`, createContext(browser));
  return JSON.parse(JSON.stringify(browser.result));
}

test("./schema runs in Deno without any permission", () => {
  assert.deepEqual(run("schema_program.ts", []), SCHEMA);
});

test("./gguf runs in Deno without permission for native code", () => {
  assert.deepEqual(run("gguf_program.ts", ["--allow-read"]), GGUF);
});

test("./schema bundled for a browser runs where there is neither Deno nor process", async () => {
  assert.deepEqual(await runBundled("schema_program.ts"), SCHEMA);
});

test("./gguf bundled for a browser reads and writes bytes, and says that there are no files", async () => {
  const codes = ["NOT_GGUF", "UNSUPPORTED_PLATFORM", "UNSUPPORTED_PLATFORM"];
  assert.deepEqual(await runBundled("gguf_program.ts"), { ...GGUF, codes });
});
