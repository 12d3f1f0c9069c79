import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ModelDownloadError, ModelNotFoundError } from "../errors.ts";
import { type PullOptions, pullSpec } from "../support/download_options.ts";
import { modelsFolder } from "./cache/entry.ts";
import { cacheError } from "./cache/errors.ts";
import { withLock } from "./cache/lock.ts";
import { DEFAULT_MODEL, DEFAULT_MODEL_FILE, defaultModelPath } from "./default_model.ts";
import { hubFileUrl } from "./hub/endpoint.ts";
import { parseHubReference } from "./hub/reference.ts";
import { downloadTo } from "./pull.ts";

/**
 * Returns the path of the default model, which is downloaded from the hub if the cache hasn't got it: 98 MB, once. Only the file with the SHA-256 that this
 * release knows is taken.
 *
 * Throws as `pullModel` does.
 */
export async function pullDefaultModel(given?: PullOptions): Promise<string> {
  const settings = pullSpec.check(given);
  settings.signal?.throwIfAborted();
  const path = join(modelsFolder(), DEFAULT_MODEL_FILE);
  try {
    return await existing() ?? await withCacheLock(path, settings.signal, async () => {
      const { sha256, bytes, source } = DEFAULT_MODEL;
      const reference = parseHubReference(source);
      const url = hubFileUrl(reference, reference.file ?? "");
      return await existing() ?? (await downloadTo(path, { url, sha256, bytes }, settings)).path;
    });
  } catch (error) {
    throw error instanceof ModelDownloadError ? explained(error) : cacheError(error, dirname(path));
  }
}

/** The error of a program that named no model. */
function explained(cause: ModelDownloadError): ModelDownloadError {
  return new ModelDownloadError(
    `the default model isn't in the cache, and ${cause.message}, or give the path of a GGUF file`,
    { value: cause.value, expected: cause.expected ?? "a server that answers", cause },
  );
}

async function withCacheLock(path: string, signal: AbortSignal | undefined, work: () => Promise<string>) {
  await mkdir(dirname(path), { recursive: true });
  return await withLock(path, { signal }, work);
}

async function existing(): Promise<string | undefined> {
  try {
    return await defaultModelPath();
  } catch (error) {
    if (error instanceof ModelNotFoundError) return undefined;
    throw error;
  }
}
