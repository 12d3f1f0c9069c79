import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { environment } from "../runtime/environment.ts";
import { rethrowDenied } from "../../base/permission.ts";
import { checkText, refuse } from "../../base/check.ts";
import { boolean, custom, options } from "../../base/options.ts";
import { LibraryNotFoundError } from "../../base/errors.ts";
import { cacheFolder } from "../runtime/cache_folder.ts";
import { type LibrarySet, readManifest } from "./manifest.ts";
import { hostTarget, platformPackage } from "./platform.ts";
import { loadPlatformPackages } from "./platform_packages.ts";
import { installCommand } from "./program.ts";
import { manifestHashes } from "./release.ts";
import { packageVersion } from "../../base/version.ts";
import { traced, traceLine } from "../runtime/trace.ts";

/** Options of `open`. */
export interface OpenOptions {
  /** A folder with a `manifest.json`, or that file itself. Default: the places that `docs/architecture.md` lists. */
  libraryPath?: string | undefined;
  /**
   * Whether each call of a C function on this thread is checked before it is made, by what `ffi/requirements/` says of the function (default: false). A call that
   * would end the process throws then; each costs a microsecond more, that of an operator some twenty. The checks see arguments, and objects that checked calls made.
   */
  checked?: boolean | undefined;
}

const FOLDER_WORDS = "the path of a folder with manifest.json and the libraries";

/** A place to look at, and what it is. */
interface Place {
  readonly what: string;
  readonly path: string;
  /** Whether the user named it: then its libraries may be others than the release's. */
  readonly named?: true;
}

/**
 * Finds the set of libraries to use and reads its manifest. Opens no library.
 *
 * Throws LibraryNotFoundError (it lists each place), ManifestError when one is unreadable, LibraryHashError when it isn't the release's,
 * UnsupportedPlatformError when it is of another target.
 */
export function locateLibraries(given: OpenOptions = {}): LibrarySet {
  const tried: string[] = [];
  const candidates = places(given);
  for (const { what, path, named } of candidates) {
    const manifest = manifestPath(path);
    if (manifest !== undefined) {
      if (traced("load")) traceLine(`${manifest}: used (${what})`);
      return readManifest(manifest, named ? undefined : expectedManifest());
    }
    tried.push(`${what}: ${path}`);
    if (traced("load")) traceLine(`${path}: no manifest.json there (${what})`);
  }
  throw new LibraryNotFoundError(
    `no libraries for ${hostTarget()} were found. Looked at:\n${tried.map((one) => `  ${one}\n`).join("")}` +
      (packagesRefused === undefined ? "" : `The packages can't be imported: ${packagesRefused.message}\n`) +
      (candidates.some(({ named }) => named)
        ? `Name a folder with a manifest.json, or name none and run \`${installCommand()}\`.`
        : `To fetch them, run \`${installCommand()}\`; or name a folder by libraryPath or GGML_FFI_LIBRARY_PATH.`),
    { value: tried, expected: "a folder with manifest.json and the libraries", cause: packagesRefused },
  );
}

/** The SHA-256 that the manifest must have: any in a source tree, none where the release has no libraries for this target. */
export function expectedManifest(): string | undefined {
  return manifestHashes === null ? undefined : manifestHashes[hostTarget()] ?? "none";
}

/** The options of {@linkcode locateLibraries} and of whatever opens the libraries. */
export const openRules = {
  libraryPath: custom(FOLDER_WORDS, (name, value) => {
    return typeof value === "string" && value !== "" ? checkText(name, value) : refuse(name, value, FOLDER_WORDS);
  }),
} as const;

/** The specification of {@linkcode OpenOptions}. */
export const openSpec = options("open", { ...openRules, checked: boolean() });

/** A folder that the user names is the only place; else each default place is one. */
function places(given: OpenOptions): Place[] {
  const { libraryPath } = openSpec.check(given);
  if (libraryPath !== undefined) return [{ what: "option libraryPath", path: libraryPath, named: true }];
  const named = environment("GGML_FFI_LIBRARY_PATH");
  if (named !== undefined) return [{ what: "GGML_FFI_LIBRARY_PATH", path: named, named: true }];
  const target = hostTarget();
  const found: Place[] = [{ what: `package ${platformPackage()}`, path: packagePath() ?? platformPackage() }];
  if (import.meta.url.startsWith("file:")) {
    found.push({ what: "source tree", path: fileURLToPath(new URL(`../../native/${target}`, import.meta.url)) });
  }
  found.push({ what: "beside the program", path: join(dirname(process.execPath), "native", target) });
  try {
    const installed = installedFolder();
    if (installed !== undefined) found.push({ what: "installed in the cache", path: installed });
  } catch {
    // Deno doesn't permit to know the cache.
  }
  return found;
}

/** The folder in the cache that `installLibraries` fills; none in a source tree. Throws PermissionError where the cache can't be asked for. */
export function installedFolder(): string | undefined {
  if (manifestHashes === null) return undefined;
  return join(cacheFolder(), "libraries", `${hostTarget()}-${packageVersion}`);
}

/** The URL of the package that brings the platform packages, or the error by which it can't be had. */
let packages: string | undefined;
let packagesRefused: Error | undefined;

/** Loads the package that brings the platform packages, where there is one. {@linkcode locateLibraries} then looks there, too. */
export async function loadPackages(): Promise<void> {
  try {
    packages ??= (await loadPlatformPackages())?.url;
    packagesRefused = undefined;
  } catch (error) {
    packagesRefused = error instanceof Error ? error : new Error(String(error));
  }
}

/** The platform package's folder as seen from this module, from what brings them, or from the program for one that was made a single file. */
function packagePath(): string | undefined {
  for (const base of [import.meta.url, packages, process.execPath]) {
    if (base === undefined || wouldFetch(base)) continue;
    try {
      return dirname(createRequire(base).resolve(`${platformPackage()}/manifest.json`));
    } catch {
      // not installed there
    }
  }
  return undefined;
}

/** Bun fetches a package that it doesn't find. That is for a program to ask for: as it does where Bun fetched this package, too. */
function wouldFetch(base: string): boolean {
  if (!("bun" in process.versions) || BUN_FETCHED.test(base)) return false;
  const folders = createRequire(base).resolve.paths(platformPackage()) ?? [];
  return !folders.some((folder) => existsSync(join(folder, platformPackage())));
}

/** A package's folder in the cache of Bun. */
const BUN_FETCHED = /@@@\d+[\\/]/;

/** The manifest that a place stands for. Whole: the system looks for a library elsewhere when its path has no folder, and the program may change its own. */
function manifestOf(path: string): string {
  return resolve(path.endsWith(".json") ? path : join(path, "manifest.json"));
}

function manifestPath(path: string): string | undefined {
  const file = manifestOf(path);
  try {
    return statSync(file).isFile() ? file : undefined;
  } catch (error) {
    rethrowDenied(error, `reading ${file}`, "--allow-read");
    return undefined;
  }
}
