// Remembers that all is in place, so that the next start need look at little.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { cacheFolder, writeWhole } from "./cache.mjs";

const stampFile = join("native", ".setup.json");

/** Whether everything that set-up brought for this tree, cache and processor is there. Reads a few small files. */
export function isInPlace(root) {
  try {
    const stamp = JSON.parse(readFileSync(join(root, stampFile), "utf8"));
    return stamp.key === stampKey(root) && stamp.paths.every((path) => existsSync(path));
  } catch (error) {
    if (error.code === "ENOENT" || error instanceof SyntaxError) return false;
    throw error;
  }
}

export async function rememberInPlace(root, paths) {
  await writeWhole(join(root, stampFile), `${JSON.stringify({ key: stampKey(root), paths }, null, 2)}\n`);
}

function stampKey(root) {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([cacheFolder(), process.version, cpus()[0]?.model ?? ""]));
  const parts = readdirSync(join(root, "build")).sort().map((name) => join("build", name));
  for (const file of ["package-lock.json", "csrc/sources.json", "scripts/models.json", "build.zig", ...parts]) {
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest("hex");
}
