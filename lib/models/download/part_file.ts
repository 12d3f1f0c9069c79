/**
 * A file that is being downloaded: its bytes under a temporary name, and which parts of them are there. Both outlive the process at any moment.
 *
 * @module
 */

import { type FileHandle, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { custom, integer, options, type Settings } from "../../../base/options.ts";
import type { RemoteFile } from "./remote_file.ts";

const MIN_SEGMENT = 1 << 18;
const MAX_SEGMENT = 1 << 24;
/** Segments of a file that is neither small nor large. */
const SEGMENTS = 32;

const optionalText = custom<string | null, object>(
  "text or null",
  (_name, value) => typeof value === "string" ? value : null,
);

const stateSpec = options("state", {
  size: integer({ min: 0, max: Number.MAX_SAFE_INTEGER, required: true }),
  tag: optionalText,
  sha256: optionalText,
  segmentBytes: integer({ min: 1, max: Number.MAX_SAFE_INTEGER, required: true }),
  done: custom<number[], { required: true }>("numbers", (_name, value) => {
    if (!Array.isArray(value) || !value.every((one) => Number.isSafeInteger(one))) throw new TypeError("no numbers");
    return value as number[];
  }),
});

/** The state of a download as its file has it. */
type State = Settings<typeof stateSpec>;

/** The paths of a download. */
export const partPath = (path: string): string => `${path}.part`;
/** The path of the state beside it. */
export const statePath = (path: string): string => `${path}.part.json`;

/** The bytes that an unfinished download of a file has, and all of them; `undefined` if there is none. */
export async function partProgress(path: string): Promise<{ receivedBytes: number; totalBytes: number } | undefined> {
  const state = await readState(path);
  if (state === undefined) return undefined;
  return { receivedBytes: Math.min(state.size, state.done.length * state.segmentBytes), totalBytes: state.size };
}

async function readState(path: string): Promise<State | undefined> {
  try {
    const state = stateSpec.check(JSON.parse(await readFile(statePath(path), "utf8")));
    return (await stat(partPath(path))).size === state.size ? state : undefined;
  } catch {
    // Cut off, damaged, or not there: the download starts again.
    return undefined;
  }
}

/** A file that is being written, in segments that come in any order. */
export class PartFile implements AsyncDisposable {
  /** What the server said of the file. */
  readonly remote: RemoteFile;
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #segmentBytes: number;
  readonly #done: Set<number>;
  #saving: Promise<void> = Promise.resolve();

  private constructor(path: string, handle: FileHandle, remote: RemoteFile, segmentBytes: number, done: Set<number>) {
    this.#path = path;
    this.#handle = handle;
    this.remote = remote;
    this.#segmentBytes = segmentBytes;
    this.#done = done;
  }

  /** Opens the unfinished file of an earlier download; `undefined` if there is none that can be continued. */
  static async resume(path: string, sha256: string | undefined): Promise<PartFile | undefined> {
    const state = await readState(path);
    if (state === undefined) return undefined;
    // Without a tag or a hash nobody can tell whether the rest is of the same file.
    const { size, tag = null, sha256: known = null, segmentBytes } = state;
    if (tag === null && (known ?? sha256) === undefined) return undefined;
    const handle = await open(partPath(path), "r+");
    const count = Math.ceil(size / segmentBytes);
    const done = new Set(state.done.filter((index) => index >= 0 && index < count));
    return new PartFile(path, handle, { size, tag, sha256: known, ranges: true }, segmentBytes, done);
  }

  /** Makes an empty file of the final size. */
  static async create(path: string, remote: RemoteFile): Promise<PartFile> {
    await removePart(path);
    const handle = await open(partPath(path), "w+");
    await handle.truncate(remote.size);
    const wanted = Math.ceil(remote.size / SEGMENTS / MIN_SEGMENT) * MIN_SEGMENT;
    const segmentBytes = remote.ranges
      ? Math.min(MAX_SEGMENT, Math.max(MIN_SEGMENT, wanted))
      : Math.max(1, remote.size);
    const part = new PartFile(path, handle, remote, segmentBytes, new Set());
    // One that can't be continued has no state.
    if (remote.ranges) await part.#save();
    return part;
  }

  /** The segments that aren't there yet: their numbers. */
  missing(): number[] {
    const count = Math.ceil(this.remote.size / this.#segmentBytes);
    return Array.from({ length: count }, (_, index) => index).filter((index) => !this.#done.has(index));
  }

  /** Bytes in segments that are there. */
  get receivedBytes(): number {
    return [...this.#done].reduce((sum, index) => sum + this.segment(index).end - this.segment(index).start, 0);
  }

  /** The first byte of a segment, and the one behind it. */
  segment(index: number): { start: number; end: number } {
    const start = index * this.#segmentBytes;
    return { start, end: Math.min(this.remote.size, start + this.#segmentBytes) };
  }

  /** Writes bytes at a place. */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      at += (await this.#handle.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
    }
  }

  /** Notes that a segment is there: first its bytes are put on the disk, then the note. */
  async finish(index: number): Promise<void> {
    await this.#handle.datasync();
    this.#done.add(index);
    if (!this.remote.ranges) return;
    this.#saving = this.#saving.then(() => this.#save());
    await this.#saving;
  }

  async #save(): Promise<void> {
    const { size, tag, sha256 } = this.remote;
    const state = { size, tag, sha256, segmentBytes: this.#segmentBytes, done: [...this.#done] };
    const temporary = `${statePath(this.#path)}.tmp`;
    await writeFile(temporary, JSON.stringify(state));
    await rename(temporary, statePath(this.#path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#saving.catch(() => {});
    await this.#handle.close();
  }
}

/** Removes an unfinished download. */
export async function removePart(path: string): Promise<void> {
  for (const one of [partPath(path), statePath(path), `${statePath(path)}.tmp`]) await rm(one, { force: true });
}
