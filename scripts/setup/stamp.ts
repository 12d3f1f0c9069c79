// Remembers that set-up is complete, so that the next start need look at little.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { codeOf } from "../support/errors.ts";
import { cacheFolder, writeWhole } from "./cache.ts";

const STAMP_FILE = join("native", ".setup.json");

interface Stamp {
  readonly key: string;
  readonly paths: readonly string[];
}

/** Whether everything that set-up made for this tree, cache and processor is there. Reads a few small files. */
export function isComplete(root: string): boolean {
  try {
    const stamp = JSON.parse(readFileSync(join(root, STAMP_FILE), "utf8")) as Stamp;
    return stamp.key === stampKey(root) && stamp.paths.every((path) => existsSync(path));
  } catch (error) {
    if (codeOf(error) === "ENOENT" || error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Records that set-up is complete with these files. */
export async function rememberComplete(root: string, paths: readonly string[]): Promise<void> {
  await writeWhole(join(root, STAMP_FILE), `${JSON.stringify({ key: stampKey(root), paths }, null, 2)}\n`);
}

function stampKey(root: string): string {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([cacheFolder(), process.version, cpus()[0]?.model ?? ""]));
  const parts = readdirSync(join(root, "build")).sort().map((name) => join("build", name));
  for (const file of ["package-lock.json", "csrc/sources.json", "scripts/models.json", "build.zig", ...parts]) {
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest("hex");
}
