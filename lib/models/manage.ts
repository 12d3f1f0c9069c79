/**
 * The models in the cache: listed, removed, verified.
 *
 * @module
 */

import type { Dirent } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { checkSignal, isInstance, refuse } from "../../base/check.ts";
import { ModelNotFoundError } from "../errors.ts";
import { downloadsFolder, modelsFolder, readEntry, readRecord } from "./cache/entry.ts";
import { cacheError } from "./cache/errors.ts";
import { sha256OfFile } from "./cache/hash.ts";
import { withLock } from "./cache/lock.ts";
import { DEFAULT_MODEL, DEFAULT_MODEL_FILE } from "./default_model.ts";
import { cachePlace } from "./pull.ts";
import { checkAddress } from "./source.ts";

/** A model in the cache. */
export interface CachedModel {
  /** Its name in the cache, which {@linkcode removeModel} takes. */
  readonly name: string;
  /** What it was downloaded from; `undefined` for a model that set-up brought, and for a download that has just begun. */
  readonly source: string | undefined;
  /** The path of its file; of several the first. */
  readonly path: string;
  /** Bytes on the disk. */
  readonly bytes: number;
  /** Whether all of it is there; else the next `pullModel` continues it. */
  readonly complete: boolean;
}

/** A model that was verified. */
export interface VerifiedModel extends CachedModel {
  /** What is wrong with it; `undefined` when nothing is. */
  readonly fault: string | undefined;
}

/**
 * Lists the models in the cache, those whose download was cut, too.
 *
 * Throws {@linkcode ModelCacheError} and PermissionError.
 *
 * ```ts
 * import { listModels } from "./manage.ts";
 *
 * for (const { name, bytes, complete } of await listModels()) console.log(name, bytes, complete);
 * ```
 */
export async function listModels(): Promise<CachedModel[]> {
  const folder = modelsFolder();
  try {
    const models: CachedModel[] = [];
    for (const entry of await entriesOf(folder)) {
      if (!entry.isFile() || !/\.(gguf|bin)$/i.test(entry.name)) continue;
      const path = join(folder, entry.name);
      models.push({ name: entry.name, source: undefined, path, bytes: (await stat(path)).size, complete: true });
    }
    for (const entry of await entriesOf(downloadsFolder())) {
      if (entry.isDirectory()) models.push(await downloadedModel(join(downloadsFolder(), entry.name)));
    }
    return models.sort((one, other) => one.name < other.name ? -1 : 1);
  } catch (error) {
    throw cacheError(error, folder);
  }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return [];
    throw error;
  }
}

async function downloadedModel(folder: string): Promise<CachedModel> {
  const record = await readRecord(folder);
  const complete = await readEntry(folder) !== undefined;
  const path = join(folder, record?.files[0]?.name ?? "");
  return { name: basename(folder), source: record?.source, path, bytes: await sizeOf(folder), complete };
}

/** Bytes that the files of a folder take on the disk: those of a download that was cut have holes. */
async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const { name } of await entriesOf(folder)) {
    const { size, blocks } = await stat(join(folder, name));
    bytes += name.endsWith(".part") && blocks > 0 ? Math.min(size, blocks * 512) : size;
  }
  return bytes;
}

/**
 * Removes a model from the cache, and returns what was removed.
 *
 * Throws {@linkcode ModelNotFoundError} when there is none, {@linkcode ModelCacheError}, {@linkcode InvalidArgumentError} and PermissionError.
 *
 * ```ts ignore
 * import { removeModel } from "./manage.ts";
 *
 * await removeModel("hf:owner/repo:Q4_K_M");
 * ```
 *
 * @param model its name in the cache, its path, or what it was downloaded from
 */
export async function removeModel(model: string | URL): Promise<CachedModel> {
  const found = await findModel(model);
  const folder = join(downloadsFolder(), found.name);
  try {
    if (found.path.startsWith(join(folder, ""))) {
      await withLock(folder, { signal: undefined }, () => rm(folder, { recursive: true, force: true }));
    } else await rm(found.path, { force: true });
    return found;
  } catch (error) {
    throw cacheError(error, modelsFolder());
  }
}

/** Finds a model in the cache by its name, its path, or what it was downloaded from. Throws {@linkcode ModelNotFoundError}. */
export async function findModel(model: string | URL): Promise<CachedModel> {
  const text = isInstance(model, URL) ? model.href : model;
  if (typeof text !== "string" || text === "") refuse("the model", model, "its name in the cache, or its source");
  const isAddress = /^(hf|https?):/i.test(text);
  const name = isAddress ? basename(cachePlace(checkAddress(text)).folder) : text;
  const found = (await listModels()).find((one) => one.name === name || one.path === name);
  if (found !== undefined) return found;
  throw new ModelNotFoundError(`the cache has no model ${text}; \`models list\` and listModels() tell what it has`, {
    value: text,
    expected: "a model in the cache",
  });
}

/**
 * Reads all models in the cache, or one, and compares them with the SHA-256 that they had when they were downloaded.
 *
 * Throws {@linkcode ModelNotFoundError}, {@linkcode ModelCacheError}, PermissionError, and the signal's reason.
 */
export async function verifyModels(
  model?: string | URL,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<VerifiedModel[]> {
  if (signal !== undefined) checkSignal("signal", signal).throwIfAborted();
  const models = model === undefined ? await listModels() : [await findModel(model)];
  const verified: VerifiedModel[] = [];
  for (const one of models) verified.push({ ...one, fault: await faultOf(one, signal) });
  return verified;
}

async function faultOf(model: CachedModel, signal: AbortSignal | undefined): Promise<string | undefined> {
  if (model.source === undefined && model.complete) {
    // Set-up verifies the others by itself.
    return model.name === DEFAULT_MODEL_FILE ? await fileFault(model.path, DEFAULT_MODEL.sha256, signal) : undefined;
  }
  if (!model.complete) return undefined;
  const folder = join(downloadsFolder(), model.name);
  for (const { name, sha256 } of (await readEntry(folder))?.files ?? []) {
    const fault = await fileFault(join(folder, name), sha256, signal);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

async function fileFault(path: string, expected: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  const sha256 = await sha256OfFile(path, signal);
  return sha256 === expected ? undefined : `${basename(path)} has the SHA-256 ${sha256} instead of ${expected}`;
}
