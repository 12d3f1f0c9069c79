import { installedFolder } from "../../ffi/library/locate.ts";
import { LibraryNotFoundError } from "../../base/errors.ts";
import { callback, options, type RulesOf, signal } from "../../base/options.ts";

/** The state of a download. */
export interface InstallProgress {
  /** Bytes that are there; more than 0 at once where an earlier download was cut. */
  readonly receivedBytes: number;
  /** Bytes in all. */
  readonly totalBytes: number;
}

/** Options of {@linkcode installLibraries}. */
export interface InstallLibrariesOptions {
  /** Stops it; it then rejects with the signal's reason, and goes on from there the next time. */
  signal?: AbortSignal | undefined;
  /** Called while it downloads. An exception that it throws stops the download, and is what it rejects with. */
  onProgress?: ((progress: InstallProgress) => void) | undefined;
}

/** The result of {@linkcode installLibraries}. */
export interface InstalledLibraries {
  /** The folder with the libraries. */
  directory: string;
  /** Bytes that were downloaded; 0 when the libraries were there. */
  downloadedBytes: number;
}

const spec = options(
  "installLibraries",
  {
    signal: signal(),
    onProgress: callback<(progress: InstallProgress) => void>(),
  } as const satisfies RulesOf<InstallLibrariesOptions>,
);

/**
 * Fetches the native libraries of this release into the cache, for programs whose packages can't be installed by a package manager: those made of one file, and
 * machines without one. `loadModel` and all others find them there. Does nothing when they are there and whole.
 *
 * They come from the npm registry, `$NPM_CONFIG_REGISTRY` if that is set. A download that was cut goes on where it ended, and nothing is used whose SHA-256
 * isn't the one that this release was built with. In Deno it needs `--allow-net`, `--allow-write` and `--allow-read` of the cache, and `--allow-env`.
 *
 * Throws {@linkcode LibraryDownloadError}, LibraryHashError, PermissionError, and {@linkcode LibraryNotFoundError} in a source tree, which builds its own.
 *
 * ```ts ignore
 * import { installLibraries } from "./install.ts";
 *
 * await installLibraries({ onProgress: ({ receivedBytes, totalBytes }) => console.log(receivedBytes / totalBytes) });
 * ```
 */
export async function installLibraries(given: InstallLibrariesOptions = {}): Promise<InstalledLibraries> {
  const { signal, onProgress } = spec.check(given);
  signal?.throwIfAborted();
  const directory = installedFolder();
  if (directory === undefined) {
    throw new LibraryNotFoundError(
      "a source tree builds its own libraries and installs none; run `npm run setup`",
      { expected: "an installed package" },
    );
  }
  // Only now: programs that install nothing don't wait for it.
  const { fetchLibraries } = await import("./fetch_libraries.ts");
  return await fetchLibraries(directory, { signal, onProgress });
}
