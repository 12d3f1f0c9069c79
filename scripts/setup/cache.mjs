// Where fetched and built things are kept, and how they come to be there: whole or not at all, one maker at a time.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { link, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { basename, dirname, join } from "node:path";

const heartbeat = 2_000;
const staleAfter = 15_000;

/** `$GGML_FFI_CACHE`, else the system's cache folder and `ggml-ffi`. */
export function cacheFolder(env = process.env, platform = process.platform, home = homedir()) {
  if (env.GGML_FFI_CACHE) return env.GGML_FFI_CACHE;
  if (platform === "win32") return join(env.LOCALAPPDATA ?? join(home, "AppData", "Local"), "ggml-ffi");
  if (platform === "darwin") return join(home, "Library", "Caches", "ggml-ffi");
  return join(env.XDG_CACHE_HOME || join(home, ".cache"), "ggml-ffi");
}

/**
 * Makes the file or folder `path` unless it is there. `make(temporary)` writes to a neighbour, which is renamed when it is done,
 * so that whatever stops the program leaves `path` whole or absent. Of several makers at once one works and the others wait.
 * Returns whether it was made.
 */
export async function produce(path, make) {
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
      if (!(existsSync(path) && ["ENOTEMPTY", "EEXIST", "EPERM"].includes(error.code))) throw error;
    }
    return true;
  });
}

/** Runs `work` while no other process does so under the same path. A lock whose owner died is taken over. */
export async function withLock(path, work) {
  const lock = `${path}.lock`;
  await mkdir(dirname(lock), { recursive: true });
  let told = false;
  while (!(await tryLock(lock))) {
    if (!told) process.stderr.write(`Waiting for another set-up to let go of ${lock} …\n`);
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const beat = setInterval(() => utimes(lock, new Date(), new Date()).catch(() => {}), heartbeat);
  beat.unref();
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await rm(lock, { force: true });
  }
}

async function tryLock(lock) {
  for (;;) {
    try {
      await writeFile(
        lock,
        JSON.stringify({ pid: process.pid, host: hostname(), id: randomBytes(8).toString("hex") }),
        { flag: "wx" },
      );
      return true;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const stale = await readStale(lock);
    if (stale === undefined) return false;
    await takeAway(lock, stale);
  }
}

/** The text of a lock whose owner is gone. */
async function readStale(lock) {
  try {
    const text = await readFile(lock, "utf8");
    if (Date.now() - (await stat(lock)).mtimeMs > staleAfter) return text;
    const owner = JSON.parse(text);
    return owner.host === hostname() && !isAlive(owner.pid) ? text : undefined;
  } catch (error) {
    // Another process has just taken it away, or is about to write it.
    if (error.code === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Removes a lock if it is still the one that was read: two processes may have found it stale, and one of them made its own since. */
async function takeAway(lock, text) {
  const aside = `${lock}-${randomBytes(4).toString("hex")}`;
  try {
    await rename(lock, aside);
    if (await readFile(aside, "utf8") !== text) await link(aside, lock);
    await rm(aside);
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** What makers of `path` that were killed left beside it. */
async function removeLeftovers(path) {
  const prefix = `${basename(path)}.tmp-`;
  for (const name of await readdir(dirname(path))) {
    if (name.startsWith(prefix)) await rm(join(dirname(path), name), { recursive: true, force: true });
  }
}

/** Writes a small file so that readers see the old text or the new one. */
export async function writeWhole(path, text) {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.tmp-${process.pid}-${randomBytes(4).toString("hex")}`;
  await writeFile(temporary, text);
  await rename(temporary, path);
}
