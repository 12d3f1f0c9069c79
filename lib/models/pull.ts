/**
 * Downloads of models into the cache.
 *
 * @module
 */

import { mkdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { cacheError } from "./cache/errors.ts";
import { type CachedFile, entryFolder, readEntry, readRecord, safeName, writeRecord } from "./cache/entry.ts";
import { withLock } from "./cache/lock.ts";
import { downloadFile, type DownloadGoal, type DownloadSettings } from "./download/download_file.ts";
import { type PullOptions, type PullSettings, pullSpec } from "../support/download_options.ts";
import { partProgress } from "./download/part_file.ts";
import { checkProtocol } from "./download/protocol.ts";
import { withToken } from "./hub/endpoint.ts";
import { hubName } from "./hub/reference.ts";
import { allParts } from "./parts.ts";
import { checkAddress, type CheckedSource } from "./source.ts";

/** A model in the cache. */
export interface PulledModel {
  /** What it was downloaded from. */
  readonly source: string;
  /** The path of its file; of several the first. */
  readonly path: string;
  /** Its files. */
  readonly files: readonly CachedFile[];
  /** Bytes in all. */
  readonly bytes: number;
}

/** The wait before the second attempt. */
const RETRY_DELAY_MS = 500;

/** A file to download. */
interface PlannedFile {
  readonly url: URL;
  readonly name: string;
  readonly sha256?: string;
  readonly bytes?: number;
}

/**
 * Downloads a model into the cache, unless it is there, and returns its path. Several requests run at once; a download that was cut, or a program that was
 * killed, continues where it ended; several processes that want the same model share one download. What the server tells of the file (size, ETag,
 * SHA-256) is checked, and the file gets its name when all of it is on the disk.
 *
 * For the hub, `$HF_ENDPOINT` names a mirror and `$HF_TOKEN` is sent to it, and to no other host.
 *
 * Throws {@linkcode ModelDownloadError}, {@linkcode ModelHashError}, {@linkcode ModelCacheError}, {@linkcode ModelPartError},
 * {@linkcode InvalidArgumentError}, PermissionError, and the signal's reason.
 *
 * ```ts ignore
 * import { pullModel } from "./pull.ts";
 *
 * const { path } = await pullModel("hf:owner/repo:Q4_K_M", {
 *   onProgress: ({ receivedBytes, totalBytes }) => console.log(receivedBytes / totalBytes),
 * });
 * ```
 */
export async function pullModel(source: string | URL, given?: PullOptions): Promise<PulledModel> {
  return await pullChecked(checkAddress(source), pullSpec.check(given));
}

/** {@linkcode pullModel} for what is checked. */
export async function pullChecked(
  source: Extract<CheckedSource, { kind: "web" | "hub" }>,
  settings: PullSettings,
): Promise<PulledModel> {
  settings.signal?.throwIfAborted();
  const { name, folder } = cachePlace(source);
  try {
    const found = await readEntry(folder);
    if (found !== undefined) return pulled(name, folder, found.files);
    await mkdir(folder, { recursive: true });
    const files = await lockedDownload(source, name, folder, settings);
    return pulled(name, folder, files);
  } catch (error) {
    throw cacheError(error, dirname(folder));
  }
}

/** The name and the folder of a source in the cache. */
export function cachePlace(
  source: Extract<CheckedSource, { kind: "web" | "hub" }>,
): { readonly name: string; readonly folder: string } {
  if (source.kind === "hub") {
    const { reference } = source;
    const name = hubName(reference);
    return { name, folder: entryFolder(name, basename(reference.file ?? reference.repo)) };
  }
  const { href, pathname, origin, search } = source.url;
  // A query may be a secret.
  const name = `${origin}${pathname}${search === "" ? "" : "?…"}`;
  return { name, folder: entryFolder(href, fileNameOf(source.url)) };
}

function pulled(source: string, folder: string, files: readonly CachedFile[]): PulledModel {
  const [first] = files;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { source, path: join(folder, first?.name ?? ""), files, bytes };
}

async function lockedDownload(
  source: Extract<CheckedSource, { kind: "web" | "hub" }>,
  name: string,
  folder: string,
  settings: PullSettings,
): Promise<readonly CachedFile[]> {
  let planned: readonly PlannedFile[] | undefined;
  const onWait = async (): Promise<void> => {
    planned ??= source.kind === "web" ? planWeb(source.url) : undefined;
    for (const file of planned ?? []) await reportOther(join(folder, file.name), settings);
  };
  return await withLock(folder, { signal: settings.signal, onWait }, async () => {
    const found = await readEntry(folder);
    if (found !== undefined) return found.files;
    const plan = source.kind === "web" ? planWeb(source.url) : await planHub(source, settings);
    const known = (await readRecord(folder))?.files ?? [];
    const files: CachedFile[] = [];
    for (const file of plan) {
      files.push(await ensureFile(file, known.find((one) => one.name === file.name), folder, settings));
      await writeRecord(folder, { source: name, complete: files.length === plan.length, files });
    }
    return files;
  });
}

/** Reports how far another process is. */
async function reportOther(path: string, { onProgress }: PullSettings): Promise<void> {
  if (onProgress === undefined) return;
  const progress = await partProgress(path);
  if (progress !== undefined) {
    onProgress({ file: basename(path), ...progress, bytesPerSecond: 0, secondsLeft: undefined });
  }
}

function planWeb(url: URL): PlannedFile[] {
  const last = fileNameOf(url);
  return allParts(last).map((name) => {
    const at = new URL(url);
    at.pathname = at.pathname.replace(/[^/]*$/, () => encodeURIComponent(name));
    return { url: name === last ? url : at, name: safeName(name) };
  });
}

async function planHub(
  { reference }: Extract<CheckedSource, { kind: "hub" }>,
  settings: PullSettings,
): Promise<PlannedFile[]> {
  // Only now: programs that ask no hub don't wait for it.
  const { planHubFiles } = await import("./hub/plan.ts");
  return await planHubFiles(reference, settings);
}

/** The name of the file at an address. */
function fileNameOf(url: URL): string {
  const last = url.pathname.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(last) || url.hostname;
  } catch {
    return last;
  }
}

/** Downloads a file of a model, unless an earlier download that was cut brought it. */
async function ensureFile(
  file: PlannedFile,
  known: CachedFile | undefined,
  folder: string,
  settings: PullSettings,
): Promise<CachedFile> {
  const path = join(folder, file.name);
  const { size } = await stat(path).catch(() => ({ size: undefined }));
  if (known !== undefined && known.bytes === size && (file.sha256 ?? known.sha256) === known.sha256) return known;
  const { bytes, sha256 } = await downloadTo(path, file, settings);
  return { name: file.name, bytes, sha256 };
}

/** Downloads a file to a path of the cache, by the options of the caller. The path must be locked. */
export async function downloadTo(
  path: string,
  { url, sha256, bytes }: Omit<PlannedFile, "name">,
  settings: PullSettings,
): Promise<CachedFile & { readonly path: string }> {
  checkProtocol(url, settings.allowHttp);
  const goal: DownloadGoal = { url, path, sha256, bytes };
  const full: DownloadSettings = {
    ...settings,
    headers: withToken(url, settings.headers),
    retryDelayMs: RETRY_DELAY_MS,
  };
  const file = await downloadFile(goal, full);
  return { name: basename(path), bytes: file.bytes, sha256: file.sha256, path };
}
