// @ts-check
// One process at a time for one path.
import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import process from "node:process";

const HEARTBEAT_MS = 2_000;
const STALE_AFTER_MS = 15_000;
const RETRY_MS = 200;

/**
 * Runs `work` while no other process does so under the same path. A lock whose owner died is taken over.
 *
 * @template T
 * @param {string} path
 * @param {() => T | Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(path, work) {
  const lock = `${path}.lock`;
  await mkdir(dirname(lock), { recursive: true });
  let announced = false;
  while (!(await tryLock(lock))) {
    if (!announced) process.stderr.write(`Waiting for another process to release ${lock} …\n`);
    announced = true;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  const heartbeat = setInterval(() => utimes(lock, new Date(), new Date()).catch(() => {}), HEARTBEAT_MS);
  heartbeat.unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    await rm(lock, { force: true });
  }
}

/** @param {string} lock */
async function tryLock(lock) {
  for (;;) {
    try {
      const owner = { pid: process.pid, host: hostname(), id: randomBytes(8).toString("hex") };
      await writeFile(lock, JSON.stringify(owner), { flag: "wx" });
      return true;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
    const stale = await readStale(lock);
    if (stale === undefined) return false;
    await takeAway(lock, stale);
  }
}

/**
 * The text of a lock whose owner is gone.
 *
 * @param {string} lock
 */
async function readStale(lock) {
  try {
    const text = await readFile(lock, "utf8");
    if (Date.now() - (await stat(lock)).mtimeMs > STALE_AFTER_MS) return text;
    const owner = JSON.parse(text);
    return owner.host === hostname() && !isAlive(owner.pid) ? text : undefined;
  } catch (error) {
    // Another process has just taken it away, or is about to write it.
    if (codeOf(error) === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Removes a lock if it is still the one that was read: two processes may have found it stale, and one of them made its own since.
 *
 * @param {string} lock
 * @param {string} text
 */
async function takeAway(lock, text) {
  const aside = `${lock}-${randomBytes(4).toString("hex")}`;
  try {
    await rename(lock, aside);
    if (await readFile(aside, "utf8") !== text) await link(aside, lock);
    await rm(aside);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ENOENT" && code !== "EEXIST") throw error;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return /** @type {{ code?: unknown }} */ (error).code;
}
