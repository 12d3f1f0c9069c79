import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { run } from "../support/exec.ts";
import { ROOT } from "../support/root.ts";
import { examplesOfPackage } from "./examples.ts";
import type { PlatformPackage } from "./platform.ts";
import { packageReadme } from "./readme.ts";
import { embedThreads } from "./thread_text.ts";

/** The files and folders of the tree that a user gets. */
const CONTENTS = [
  "mod.ts",
  "base",
  "ffi",
  "lib",
  "cli",
  "docs",
  "deno.json",
  "LICENSE",
  "NOTICE.md",
  "CHANGELOG.md",
] as const;

/**
 * Copies what a user gets, with what only a release has: the hashes of its libraries, the native threads' programs as text, and examples and a README that
 * name the package instead of files of the tree.
 */
export async function stageSources(platforms: readonly PlatformPackage[], staged: string): Promise<void> {
  mkdirSync(staged, { recursive: true });
  for (const name of CONTENTS) {
    if (existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(staged, name), { recursive: true });
  }
  writeFileSync(join(staged, "README.md"), packageReadme(readFileSync(join(ROOT, "README.md"), "utf8")));
  await writeRelease(platforms, staged);
  await withPackages(staged, () => embedThreads(staged));
  renameExamples(staged);
}

/** Does work that needs the tree's own packages, such as types of the runtimes, to be seen from a copy. */
export async function withPackages<T>(staged: string, work: () => T | Promise<T>): Promise<T> {
  const link = join(staged, "node_modules");
  symlinkSync(join(ROOT, "node_modules"), link, "junction");
  try {
    return await work();
  } finally {
    unlinkSync(link);
  }
}

/** Writes the hashes of the libraries and npm's registry. */
async function writeRelease(platforms: readonly PlatformPackage[], staged: string): Promise<void> {
  const hashes = platforms.map(({ target, manifest }) => [target, createHash("sha256").update(manifest).digest("hex")]);
  const path = join(staged, "ffi", "library", "release.ts");
  const source = readFileSync(path, "utf8");
  const registry = (await run("npm", ["config", "get", "registry"], { cwd: ROOT })).trim();
  const made = fillIn(
    fillIn(source, "null as Readonly<Record<string, string>> | null", Object.fromEntries(hashes)),
    "null as string | null",
    registry,
  );
  writeFileSync(path, made);
}

function fillIn(source: string, place: string, value: unknown): string {
  if (!source.includes(place)) throw new Error(`the release has no place ${place}`);
  return source.replace(place, () => JSON.stringify(value, null, 2));
}

/** A user's editor and JSR show the examples: they import the package. */
function renameExamples(staged: string): void {
  const rename = examplesOfPackage();
  for (const name of readdirSync(staged, { recursive: true, encoding: "utf8" })) {
    if (!/\.(ts|md)$/.test(name)) continue;
    const path = join(staged, name);
    const source = readFileSync(path, "utf8");
    const renamed = rename(source, name);
    if (renamed !== source) writeFileSync(path, renamed);
  }
}
