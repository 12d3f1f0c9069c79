/**
 * The cache of downloaded models: a folder per source, with its files and a record of them that is written last.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../../ffi/runtime/cache_folder.ts";
import { writeWhole } from "./sync.ts";

/** A file of a model in the cache. */
export interface CachedFile {
  /** Its name in the model's folder. */
  readonly name: string;
  /** Its size in bytes. */
  readonly bytes: number;
  /** Its SHA-256 in hex. */
  readonly sha256: string;
}

/** A record of a model's files, written after each of them. */
export interface EntryRecord {
  /** Whether all files are there. */
  readonly complete: boolean;
  /** What it was downloaded from: an address, or a name of the hub. */
  readonly source: string;
  /** Its files, the one to load first. */
  readonly files: readonly CachedFile[];
}

/** The name of the record in a model's folder. */
export const RECORD_NAME = "model.json";

/** The folder of models: those of set-up lie in it, downloads in folders below. */
export function modelsFolder(): string {
  return join(cacheFolder(), "models");
}

/** The folder of downloads. */
export function downloadsFolder(): string {
  return join(modelsFolder(), "downloads");
}

/** Returns the folder of a source. Its name is safe whatever the source is. */
export function entryFolder(source: string, name: string): string {
  const hash = createHash("sha256").update(source).digest("hex").slice(0, 16);
  return join(downloadsFolder(), `${safeName(name).replace(/\.gguf$/i, "").slice(0, 60)}-${hash}`);
}

/** Returns a name that is one on every system, for any text, and none that the cache uses itself. */
export function safeName(text: string): string {
  const plain = text.replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(-120).replace(/^[.-]+/, "").replace(/\.+$/, "");
  // Names of devices on Windows, and nothing.
  const named = /^(con|prn|aux|nul|com\d|lpt\d)?(\.|$)/i.test(plain) ? `model_${plain}` : plain;
  return /\.(json|part|lock|tmp[\w-]*)$/i.test(named) ? `${named}.bin` : named;
}

/** Reads the record of a folder; `undefined` when the model isn't there, or isn't whole. */
export async function readEntry(folder: string): Promise<EntryRecord | undefined> {
  const record = await readRecord(folder);
  if (record?.complete !== true) return undefined;
  for (const { name, bytes } of record.files) {
    const size = await stat(join(folder, name)).then((found) => found.size, () => undefined);
    if (size !== bytes) return undefined;
  }
  return record;
}

/** Reads a record, whatever became of its files; `undefined` when there is none that makes sense. */
export async function readRecord(folder: string): Promise<EntryRecord | undefined> {
  let text: string;
  try {
    text = await readFile(join(folder, RECORD_NAME), "utf8");
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
  try {
    const { source, files, complete } = JSON.parse(text) as EntryRecord;
    const isRecord = typeof source === "string" && files.length > 0 && files.every(isFile);
    return isRecord ? { source, files, complete: complete === true } : undefined;
  } catch {
    return undefined;
  }
}

/** A record may have been edited: no name in it leads out of its folder. */
function isFile({ name, bytes, sha256 }: CachedFile): boolean {
  return safeName(name) === name && Number.isSafeInteger(bytes) && /^[0-9a-f]{64}$/.test(sha256);
}

/** Writes the record. */
export async function writeRecord(folder: string, record: EntryRecord): Promise<void> {
  await writeWhole(join(folder, RECORD_NAME), `${JSON.stringify(record, null, 2)}\n`);
}
