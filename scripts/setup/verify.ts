// Whether files of the cache are the right ones: by their hashes, which are computed again only for files that were touched since.
import { statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../support/hash.ts";
import { writeWhole } from "./cache.ts";

/** The size and hash that a file must have. */
export interface Expected {
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
}

interface Verified {
  readonly fingerprint: string;
  readonly sha256: string;
}

/**
 * A text that changes when a file is written, replaced or moved here from elsewhere: its size, inode and times. The time of the last change of
 * status is among them, which no program can set. `undefined` if there is no such file.
 */
export function fingerprint(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && [found.size, found.ino, found.mtimeNs, found.ctimeNs].join(" ");
}

/** Runtimes give the time of the last change of status in seconds at worst. */
const SETTLED_MS = 2_000;

/**
 * Whether a fingerprint taken now tells any later change: not that of a file which was changed a moment ago, since another change in the same second would have
 * the same time.
 */
export function isSettled(path: string, now: number = Date.now()): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && now - Math.max(found.ctimeMs, found.mtimeMs) > SETTLED_MS;
}

/** The hashes of files that were computed before, kept in the cache. */
export class Verifier {
  private constructor(
    private readonly path: string,
    private readonly known: Map<string, Verified>,
    private readonly trusting: boolean,
    private readonly now: () => number,
  ) {}

  /** Reads the known hashes. With `trusting` false every file is hashed anew. */
  static async open(cache: string, trusting = true, now: () => number = Date.now): Promise<Verifier> {
    const path = join(cache, "verified.json");
    return new Verifier(path, new Map(trusting ? await readKnown(path) : []), trusting, now);
  }

  /** The reason why a file isn't the expected one; `undefined` if it is. */
  async fault(path: string, expected: Expected): Promise<string | undefined> {
    const before = fingerprint(path);
    if (before === undefined) return "it isn't there";
    const { size } = await stat(path);
    if (size !== expected.size) return `it has ${size} bytes instead of ${expected.size}`;
    const known = this.known.get(path);
    if (this.trusting && known?.fingerprint === before && known.sha256 === expected.sha256) return undefined;
    const settled = isSettled(path, this.now());
    const found = await sha256(path);
    if (found !== expected.sha256) return `its SHA-256 is ${found} instead of ${expected.sha256}`;
    // A file that is written meanwhile, or was a moment ago, is hashed again the next time.
    if (settled && fingerprint(path) === before) this.known.set(path, { fingerprint: before, sha256: found });
    return undefined;
  }

  /** Keeps the known hashes for the next time. */
  async save(): Promise<void> {
    const all = new Map([...await readKnown(this.path), ...this.known]);
    for (const path of all.keys()) if (fingerprint(path) === undefined) all.delete(path);
    await writeWhole(this.path, `${JSON.stringify(Object.fromEntries(all), null, 1)}\n`);
  }
}

async function readKnown(path: string): Promise<[string, Verified][]> {
  try {
    return Object.entries(JSON.parse(await readFile(path, "utf8")) as Record<string, Verified>);
  } catch {
    // Whatever is wrong with it: the files are hashed again.
    return [];
  }
}
