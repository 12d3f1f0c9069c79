// The folder of fetched and built files. Each of them is there whole or not at all, and has one maker at a time.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { withLock } from "../bootstrap/lock.mjs";
import { codeOf, SetupError } from "../support/errors.ts";

/** `$GGML_FFI_CACHE`, else the system's cache folder and `ggml-ffi`. */
export function cacheFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: string = process.platform,
  home: string = homedir(),
): string {
  if (env["GGML_FFI_CACHE"]) return env["GGML_FFI_CACHE"];
  if (platform === "win32") return join(env["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "ggml-ffi");
  if (platform === "darwin") return join(home, "Library", "Caches", "ggml-ffi");
  return join(env["XDG_CACHE_HOME"] || join(home, ".cache"), "ggml-ffi");
}

/** Options of {@linkcode produce}. */
export interface ProduceOptions {
  /** The reason why the file or folder that is there must be made again; `undefined` if it is as it should be (default: whatever is there is). */
  readonly fault?: (path: string) => Promise<string | undefined>;
}

/**
 * Makes the file or folder `path` unless it is there and has no fault. `make(temporary)` writes to a neighbor, which is renamed when all of it is on the disk,
 * so that whatever stops the program or the machine leaves `path` whole or absent. Of several makers at once one works and the others wait.
 * Returns whether it was made. Throws SetupError when the cache can't be written.
 */
export async function produce(
  path: string,
  make: (temporary: string) => Promise<unknown>,
  { fault = () => Promise.resolve(undefined) }: ProduceOptions = {},
): Promise<boolean> {
  const isSound = async (): Promise<boolean> => existsSync(path) && await fault(path) === undefined;
  if (await isSound()) {
    await sweep(path);
    return false;
  }
  return await explainDenied(path, async () => {
    await mkdir(dirname(path), { recursive: true });
    return await withLock(path, async () => {
      if (await isSound()) return false;
      await removeLeftovers(path);
      await removeFaulty(path, fault);
      await produceLocked(path, make);
      return true;
    });
  });
}

async function produceLocked(path: string, make: (temporary: string) => Promise<unknown>): Promise<void> {
  const temporary = temporaryPath(path);
  try {
    await make(temporary);
    await syncAll(temporary);
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // A maker on another machine that shares the folder may have been first.
    if (!(existsSync(path) && ["ENOTEMPTY", "EEXIST", "EPERM"].includes(String(codeOf(error))))) throw error;
  }
}

function temporaryPath(path: string): string {
  return `${path}.tmp-${process.pid}-${randomBytes(4).toString("hex")}`;
}

/** Removes the damaged file or folder, which is out of the way at once: whoever has it open keeps it. */
async function removeFaulty(path: string, fault: (path: string) => Promise<string | undefined>): Promise<void> {
  if (!existsSync(path)) return;
  process.stderr.write(`${path} is damaged: ${await fault(path)}. It is made again.\n`);
  const aside = temporaryPath(path);
  await rename(path, aside);
  await rm(aside, { recursive: true, force: true });
}

const DENIED = new Set<unknown>(["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "ENOTDIR"]);

async function explainDenied<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!DENIED.has(codeOf(error))) throw error;
    throw new SetupError(
      `${path} can't be written: ${
        (error as Error).message
      }. Make room or allow it, or set GGML_FFI_CACHE to another folder.`,
      { cause: error },
    );
  }
}

/** Waits until a file, or all files of a folder, are on the disk. */
async function syncAll(path: string): Promise<void> {
  if (!(await lstat(path)).isDirectory()) return await syncFile(path);
  const entries = await readdir(path, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const work = async (): Promise<void> => {
    for (let file = files.pop(); file !== undefined; file = files.pop()) await syncFile(file);
  };
  await Promise.all(Array.from({ length: 16 }, work));
  for (const entry of entries) if (entry.isDirectory()) await syncFolder(join(entry.parentPath, entry.name));
  await syncFolder(path);
}

async function syncFile(path: string): Promise<void> {
  // Windows flushes only what is open for writing.
  const file = await open(path, process.platform === "win32" ? "r+" : "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Waits until the names in a folder are on the disk. Windows has no way to ask for it. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform !== "win32") await syncFile(path);
}

/** Removes what programs that a killed maker had started wrote after it, if nobody makes `path` and the folder may be written to. */
async function sweep(path: string): Promise<void> {
  if ((await leftovers(path)).length === 0) return;
  await withLock(path, () => removeLeftovers(path)).catch((error: unknown) => {
    if (!DENIED.has(codeOf(error))) throw error;
  });
}

/** Removes the unfinished files of killed makers of `path`. */
async function removeLeftovers(path: string): Promise<void> {
  for (const left of await leftovers(path)) {
    await rm(left, { recursive: true, force: true }).catch((error: unknown) => {
      // A program that a killed maker had started still writes there.
      if (codeOf(error) !== "ENOTEMPTY") throw error;
    });
  }
}

async function leftovers(path: string): Promise<string[]> {
  const prefix = `${basename(path)}.tmp-`;
  const names = await readdir(dirname(path));
  return names.filter((name) => name.startsWith(prefix)).map((name) => join(dirname(path), name));
}

/** Writes a small file atomically: readers see the old text or the new one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = temporaryPath(path);
  await writeFile(temporary, text);
  await syncFile(temporary);
  await rename(temporary, path);
}
