import { environment } from "../../ffi/runtime/environment.ts";
import { releaseRegistry } from "../../ffi/library/release.ts";
import { LibraryDownloadError } from "../../base/errors.ts";

/** A tarball on a registry. */
export interface Tarball {
  /** Its address. */
  readonly url: string;
  /** Its SHA-512 in base 64. */
  readonly sha512: string;
}

/** What is known of a package is read up to this size. */
const MAX_BYTES = 1 << 24;

/** Asks the npm registry where the tarball of a package is. Throws LibraryDownloadError. */
export async function findTarball(name: string, version: string, signal: AbortSignal | undefined): Promise<Tarball> {
  const registry = environment("NPM_CONFIG_REGISTRY") ?? environment("npm_config_registry") ?? releaseRegistry ?? "";
  const url = URL.parse(name.replace("/", "%2f"), registry.replace(/\/*$/, "/"));
  if (url === null) {
    throw failed(registry, `NPM_CONFIG_REGISTRY is ${JSON.stringify(registry)}, which is not a valid URL`);
  }
  const text = await ask(url.href, signal);
  let about: { versions?: Record<string, { dist?: { tarball?: unknown; integrity?: unknown } }> };
  try {
    about = JSON.parse(text) as typeof about;
  } catch (cause) {
    throw failed(url.href, "the answer isn't JSON", cause);
  }
  const { tarball, integrity } = about?.versions?.[version]?.dist ?? {};
  const sha512 = typeof integrity === "string" ? /sha512-([\w+/=]+)/.exec(integrity)?.[1] : undefined;
  if (typeof tarball !== "string" || sha512 === undefined) throw failed(url.href, `it has no ${name} ${version}`);
  return { url: tarball, sha512 };
}

async function ask(url: string, signal: AbortSignal | undefined): Promise<string> {
  try {
    const response = await fetch(url, {
      signal: signal ?? null,
      headers: { accept: "application/vnd.npm.install-v1+json, application/json" },
    });
    if (!response.ok) throw failed(url, `the answer is ${response.status} ${response.statusText}`.trimEnd());
    const size = Number(response.headers.get("content-length") ?? 0);
    if (size > MAX_BYTES) throw failed(url, `the answer has ${size} bytes`);
    return await response.text();
  } catch (error) {
    throw requestError(error, url, signal);
  }
}

/** An error of a request as the caller gets it: the signal's reason, Deno's denial and this library's errors as they are. */
export function requestError(error: unknown, url: string, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof LibraryDownloadError) return error;
  if (error instanceof Error && (error.name === "NotCapable" || error.name === "PermissionDenied")) return error;
  return failed(url, error instanceof Error ? error.message : String(error), error);
}

/** The error of a download that failed. */
export function failed(url: string, reason: string, cause?: unknown): LibraryDownloadError {
  return new LibraryDownloadError(
    `the libraries can't be fetched from ${url}: ${reason}; run it again, or name another registry by NPM_CONFIG_REGISTRY`,
    { value: url, expected: "a registry with the packages of this release", cause },
  );
}
