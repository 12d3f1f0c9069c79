import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const repository = fileURLToPath(new URL("../../..", import.meta.url));

/** What the TypeScript compiler says about a file, under the compiler options of the project. */
async function compile(file: string): Promise<string> {
  const tsc = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));
  const options = [
    "--noEmit",
    "--ignoreConfig",
    "--strict",
    "--exactOptionalPropertyTypes",
    "--noUncheckedIndexedAccess",
  ];
  const more = [
    "--allowImportingTsExtensions",
    "--skipLibCheck",
    "--target",
    "esnext",
    "--module",
    "preserve",
    "--types",
    "bun",
  ];
  try {
    return (await promisify(execFile)("node", [tsc, ...options, ...more, file], { cwd: repository })).stdout;
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

test(
  "a wrong pointer, struct, array, number or NULL doesn't compile, and right ones do",
  { timeout: 120_000 },
  async () => {
    assert.equal(await compile("tests/ffi/tables/types.ts"), "");
  },
);
