import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { rethrowDenied } from "../../base/permission.ts";
import { expectedManifest } from "../../ffi/library/locate.ts";
import { readManifest, verifyFile } from "../../ffi/library/manifest.ts";
import { platformPackage } from "../../ffi/library/platform.ts";
import { LibraryDownloadError } from "../../base/errors.ts";
import { packageVersion } from "../../base/version.ts";
import { download, type DownloadOptions } from "./download.ts";
import type { InstalledLibraries } from "./install.ts";
import { findTarball } from "./registry.ts";
import { unpackTarball } from "./tarball.ts";

/** Fetches the libraries of this release into a folder, unless they are there and whole. */
export async function fetchLibraries(directory: string, options: DownloadOptions): Promise<InstalledLibraries> {
  try {
    if (isWhole(directory)) return { directory, downloadedBytes: 0 };
    await mkdir(dirname(directory), { recursive: true });
    const tarball = await findTarball(platformPackage(), packageVersion, options.signal);
    const { bytes, downloadedBytes } = await download(tarball, `${directory}.tgz.part`, options);
    await place(bytes, directory);
    await rm(`${directory}.tgz.part`, { force: true });
    return { directory, downloadedBytes };
  } catch (error) {
    rethrowDenied(error, "fetching the libraries", "--allow-net --allow-write --allow-read --allow-env");
    throw systemError(error, directory);
  }
}

/** Whether all files of a set are there, as this release has them. */
function isWhole(directory: string): boolean {
  const manifest = join(directory, "manifest.json");
  if (!existsSync(manifest)) return false;
  try {
    for (const file of readManifest(manifest, expectedManifest()).files) verifyFile(join(directory, file.name), file);
    return true;
  } catch {
    return false;
  }
}

/** Unpacks a platform package beside its place, checks each file, and moves it there: whatever stops it, the place has all of it or nothing. */
async function place(tarball: Uint8Array, directory: string): Promise<void> {
  const temporary = `${directory}.tmp-${process.pid}-${randomBytes(4).toString("hex")}`;
  try {
    for (const { path, bytes } of unpackTarball(tarball)) {
      const file = join(temporary, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, bytes, { flush: true });
    }
    const { files } = readManifest(join(temporary, "manifest.json"), expectedManifest());
    for (const file of files) verifyFile(join(temporary, file.name), file);
    // What is there isn't whole; another process may have put all of it there meanwhile.
    if (!isWhole(directory)) {
      await rm(directory, { recursive: true, force: true });
      await rename(temporary, directory);
    }
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** The system's own errors, by a class of this library. */
function systemError(error: unknown, directory: string): unknown {
  const { code } = error as { code?: unknown };
  if (!(error instanceof Error) || typeof code !== "string" || !/^E[A-Z]+$/.test(code)) return error;
  return new LibraryDownloadError(
    `the libraries can't be put into ${directory}: ${error.message}; make room or allow it, or set GGML_FFI_CACHE to another folder`,
    { value: directory, expected: "a folder that can be written", cause: error },
  );
}
