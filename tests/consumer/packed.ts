/** The packages of this tree, made once for both runtimes and as long as nothing in them changes. */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { produce } from "../../scripts/setup/cache.ts";
import { moduleCommand, ROOT, runProgram } from "../support/program.ts";

/** What the packages are made of. */
const INPUTS = [
  "mod.ts",
  "base",
  "ffi",
  "lib",
  "cli",
  "docs",
  "scripts/pack",
  "scripts/pack.ts",
  "deno.json",
  "package.json",
  "README.md",
  "NOTICE.md",
];

let made: Promise<string> | undefined;

/** Packs the tree, and returns the folder with the tarballs and the folder `jsr`. */
export function packedTree(): Promise<string> {
  return made ??= pack();
}

async function pack(): Promise<string> {
  const folder = join(ROOT, ".tmp", "packages", contentHash());
  const isNew = await produce(folder, async (temporary) => {
    const { code, stderr } = await runProgram(moduleCommand("scripts/pack.ts", ["--out", temporary], "deno"), {
      limitMs: 600_000,
    });
    if (code !== 0) throw new Error(`packing failed: ${stderr}`);
  });
  if (isNew) await removeOthers(folder);
  return folder;
}

async function removeOthers(folder: string): Promise<void> {
  for (const name of readdirSync(dirname(folder))) {
    const other = join(dirname(folder), name);
    if (!other.startsWith(folder)) await rm(other, { recursive: true, force: true });
  }
}

function contentHash(): string {
  const hash = createHash("sha256");
  for (const input of INPUTS) {
    const path = join(ROOT, input);
    if (!existsSync(path)) continue;
    const names = /\.\w+$/.test(input) ? [""] : readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
    for (const name of names) {
      if (/\.\w+$/.test(name || input)) hash.update(name).update(readFileSync(join(path, name)));
    }
  }
  for (const target of readdirSync(join(ROOT, "native"))) {
    const manifest = join(ROOT, "native", target, "manifest.json");
    if (existsSync(manifest)) hash.update(readFileSync(realpathSync(manifest)));
  }
  return hash.digest("hex").slice(0, 16);
}
