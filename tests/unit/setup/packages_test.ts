import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { bunProgram, denoProgram, ensurePackages, programsAreInPlace } from "../../../scripts/bootstrap/packages.mjs";

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

test("the commands deno and bun are the programs themselves, also where npm had put scripts", {
  skip: process.platform === "win32" && "npm puts no links on Windows",
}, async () => {
  const root = await mkdtemp(join(tmpdir(), "ggml-ffi-test-"));
  try {
    const modules = join(root, "node_modules");
    const noPackages = JSON.stringify({ packages: {} });
    await put(join(root, "package-lock.json"), noPackages);
    await put(join(modules, ".package-lock.json"), noPackages);
    await put(denoProgram(root), "Deno itself");
    await put(bunProgram(root), "Bun itself");
    await put(join(modules, "deno", "deno"), "Deno itself");
    await put(join(modules, "deno", "bin.cjs"), "a script");
    await put(join(modules, "bun", "bin", "bun.exe"), "Bun itself");
    await put(join(modules, "bun", "bin", "bunx.exe"), "Bun itself");
    await mkdir(join(modules, ".bin"));
    await symlink("../deno/bin.cjs", join(modules, ".bin", "deno"));
    await symlink("../bun/bin/bun.exe", join(modules, ".bin", "bun"));
    assert.equal(programsAreInPlace(root), false);
    // Twice: what is in place already stays so.
    for (let count = 0; count < 2; count++) {
      await ensurePackages(root);
      assert.equal(programsAreInPlace(root), true);
      assert.equal(await readFile(join(modules, ".bin", "deno"), "utf8"), "Deno itself");
      assert.equal(await readFile(join(modules, ".bin", "bun"), "utf8"), "Bun itself");
      assert.equal(await readFile(join(modules, "deno", "bin.cjs"), "utf8"), "a script");
    }
  } finally {
    await rm(root, { recursive: true });
  }
});
