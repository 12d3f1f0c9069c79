import { createHash } from "node:crypto";
import { type FileHandle, open, readFile, rm } from "node:fs/promises";
import { LibraryDownloadError } from "../../base/errors.ts";
import { failed, requestError, type Tarball } from "./registry.ts";
import type { InstallProgress } from "./install.ts";

/** A download that gets nowhere is tried so often. */
const MAX_ATTEMPTS = 4;
/** The platform packages have some 20 MB. */
const MAX_BYTES = 1 << 28;

/** Options of {@linkcode download}. */
export interface DownloadOptions {
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: InstallProgress) => void) | undefined;
}

/**
 * Downloads a tarball by way of a file that keeps what came when a download is cut: the next one goes on from there. Throws LibraryDownloadError.
 *
 * @param part the file. Two processes may write it at once: they write the same bytes to the same places.
 */
export async function download(
  tarball: Tarball,
  part: string,
  options: DownloadOptions,
): Promise<{ bytes: Uint8Array; downloadedBytes: number }> {
  let downloadedBytes = 0;
  let failure: unknown;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    try {
      downloadedBytes += await goOn(tarball.url, part, options);
      const bytes = await readFile(part);
      if (createHash("sha512").update(bytes).digest("base64") === tarball.sha512) return { bytes, downloadedBytes };
      // What was there may be of another file, or damaged: from the start, once.
      await rm(part, { force: true });
      failure = failed(tarball.url, "its SHA-512 isn't the one that the registry gives");
    } catch (error) {
      if (!(error instanceof CutError)) throw error;
      downloadedBytes += error.receivedBytes;
      failure = error.cause;
    }
  }
  throw failure;
}

/** A connection that ended early, so that it is worth to go on. */
class CutError extends Error {
  readonly receivedBytes: number;
  constructor(receivedBytes: number, cause: unknown) {
    super("the connection ended early", { cause });
    this.receivedBytes = receivedBytes;
  }
}

/** Downloads what the file lacks, and returns how many bytes came. */
async function goOn(url: string, part: string, { signal, onProgress }: DownloadOptions): Promise<number> {
  await using file = await open(part, "a+");
  const first = (await file.stat()).size;
  const response = await request(url, first, signal);
  // The file is whole.
  if (response.status === 416) return 0;
  const start = startOf(response, first);
  const totalBytes = start + Number(response.headers.get("content-length") ?? NaN);
  if (!(totalBytes <= MAX_BYTES)) throw failed(url, `it would have ${totalBytes} bytes`);
  if (start === 0) await file.truncate(0);
  let receivedBytes = start;
  const report = (): void => onProgress?.({ receivedBytes, totalBytes });
  report();
  try {
    for await (const chunk of response.body ?? []) {
      if (receivedBytes + chunk.length > totalBytes) throw failed(url, "it has more bytes than were announced");
      await writeAll(file, chunk);
      receivedBytes += chunk.length;
      report();
    }
  } catch (error) {
    const shown = requestError(error, url, signal);
    if (signal?.aborted === true || !(shown instanceof LibraryDownloadError) || shown === error) throw shown;
    throw new CutError(receivedBytes - start, shown);
  }
  if (receivedBytes < totalBytes) throw new CutError(receivedBytes - start, failed(url, "the connection ended early"));
  return receivedBytes - start;
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at)).bytesWritten;
}

async function request(url: string, first: number, signal: AbortSignal | undefined): Promise<Response> {
  let response: Response;
  try {
    // Not packed: the numbers of a range are those of the file.
    const headers = { "accept-encoding": "identity", ...(first > 0 ? { range: `bytes=${first}-` } : {}) };
    response = await fetch(url, { signal: signal ?? null, headers });
  } catch (error) {
    const shown = requestError(error, url, signal);
    throw shown instanceof LibraryDownloadError ? new CutError(0, shown) : shown;
  }
  if (response.ok || (response.status === 416 && first > 0)) return response;
  await response.body?.cancel();
  throw failed(url, `the answer is ${response.status} ${response.statusText}`.trimEnd());
}

/** Where an answer's body begins: 0 where the server gives the whole file. */
function startOf(response: Response, asked: number): number {
  if (response.status !== 206) return 0;
  const start = Number(/^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1] ?? NaN);
  if (start === asked) return start;
  throw failed(response.url, "the answer has another part than the one that was asked for");
}
