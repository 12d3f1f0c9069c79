// The folder of fetched and built files. Each of them is there whole or not at all, and has one maker at a time.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { withLock } from "../bootstrap/lock.mjs";
import { codeOf } from "../support/errors.ts";

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

/**
 * Makes the file or folder `path` unless it is there. `make(temporary)` writes to a neighbor, which is renamed when it is done,
 * so that whatever stops the program leaves `path` whole or absent. Of several makers at once one works and the others wait.
 * Returns whether it was made.
 */
export async function produce(path: string, make: (temporary: string) => Promise<unknown>): Promise<boolean> {
  if (existsSync(path)) return false;
  await mkdir(dirname(path), { recursive: true });
  return await withLock(path, async () => {
    if (existsSync(path)) return false;
    await removeLeftovers(path);
    const temporary = `${path}.tmp-${process.pid}-${randomBytes(4).toString("hex")}`;
    try {
      await make(temporary);
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      // A maker on another machine that shares the folder may have been first.
      if (!(existsSync(path) && ["ENOTEMPTY", "EEXIST", "EPERM"].includes(String(codeOf(error))))) throw error;
    }
    return true;
  });
}

/** Removes the unfinished files of killed makers of `path`. */
async function removeLeftovers(path: string): Promise<void> {
  const prefix = `${basename(path)}.tmp-`;
  for (const name of await readdir(dirname(path))) {
    if (name.startsWith(prefix)) await rm(join(dirname(path), name), { recursive: true, force: true });
  }
}

/** Writes a small file atomically: readers see the old text or the new one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.tmp-${process.pid}-${randomBytes(4).toString("hex")}`;
  await writeFile(temporary, text);
  await rename(temporary, path);
}
