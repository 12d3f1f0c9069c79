/**
 * One process at a time for one path.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { link, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import process from "node:process";
import { sleep } from "../../support/sleep.ts";

const HEARTBEAT_MS = 2_000;
const STALE_AFTER_MS = 15_000;
const RETRY_MS = 200;

/** Options of {@linkcode withLock}. */
export interface LockOptions {
  /** Ends the wait for another process. */
  readonly signal: AbortSignal | undefined;
  /** Called each time that the lock is still another's. */
  readonly onWait?: () => Promise<void>;
}

/** Runs work while no other process, and nothing else of this one, does so under the same path. A lock whose owner died is taken over. */
export async function withLock<T>(path: string, { signal, onWait }: LockOptions, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  while (!(await tryLock(lock))) {
    await onWait?.();
    await sleep(RETRY_MS, signal);
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

async function tryLock(lock: string): Promise<boolean> {
  for (;;) {
    try {
      await writeFile(lock, JSON.stringify({ pid: process.pid, id: randomBytes(8).toString("hex") }), { flag: "wx" });
      return true;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
    const stale = await readStale(lock);
    if (stale === undefined) return false;
    await takeAway(lock, stale);
  }
}

/** The text of a lock whose owner is gone. */
async function readStale(lock: string): Promise<string | undefined> {
  try {
    const text = await readFile(lock, "utf8");
    // A lock of another machine, or of another container, can only be told by its age.
    if (Date.now() - (await stat(lock)).mtimeMs > STALE_AFTER_MS) return text;
    return isAlive((JSON.parse(text) as { pid: number }).pid) ? undefined : text;
  } catch (error) {
    // Another process has just taken it away, or is about to write it.
    if (codeOf(error) === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Removes a lock if it is still the one that was read: two processes may have found it stale, and one of them made its own since. */
async function takeAway(lock: string, text: string): Promise<void> {
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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // In Deno without --allow-run nobody may ask: then only its age tells.
    return codeOf(error) !== "ESRCH";
  }
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}
