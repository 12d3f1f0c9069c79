// Remembers that set-up is complete, so that the next start need look at little.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { codeOf } from "../support/errors.ts";
import { cacheFolder, writeWhole } from "./cache.ts";
import { fingerprint, isSettled } from "./verify.ts";

const STAMP_FILE = join("native", ".setup.json");

interface Stamp {
  readonly key: string;
  /** The fingerprint of each file as it was when it was found right. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Whether everything that set-up made for this tree, cache and processor is there, and no file was touched since it was found right. Reads a few small files,
 * and no large one.
 */
export function isComplete(root: string): boolean {
  try {
    const stamp = JSON.parse(readFileSync(join(root, STAMP_FILE), "utf8")) as Stamp;
    return stamp.key === stampKey(root) &&
      Object.entries(stamp.files).every(([path, found]) => fingerprint(path) === found);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || error instanceof SyntaxError || error instanceof TypeError) return false;
    throw error;
  }
}

/** Records that set-up is complete with these files and folders, unless one of them was changed a moment ago: then the next start looks at all of them again. */
export async function rememberComplete(root: string, paths: readonly string[]): Promise<void> {
  if (!paths.every((path) => isSettled(path))) return await rm(join(root, STAMP_FILE), { force: true });
  const files = Object.fromEntries(paths.map((path) => [path, fingerprint(path)]));
  await writeWhole(join(root, STAMP_FILE), `${JSON.stringify({ key: stampKey(root), files }, null, 2)}\n`);
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
