import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { environment, rethrowDenied } from "../runtime/environment.ts";
import { checkText, refuse } from "../../base/check.ts";
import { custom, options } from "../../base/options.ts";
import { LibraryHashError, LibraryNotFoundError, ManifestError, UnsupportedPlatformError } from "../../base/errors.ts";
import { traced, traceLine } from "../runtime/trace.ts";

/** Options of `open`. */
export interface OpenOptions {
  /** A folder with a `manifest.json`, or that file itself. Default: the places that `docs/architecture.md` lists. */
  libraryPath?: string | undefined;
}

/** One file of a set of libraries. */
export interface LibraryFile {
  /** The file's name, in the manifest's folder. */
  readonly name: string;
  /** Its size in bytes. */
  readonly size: number;
  /** Its SHA-256 in hexadecimal. */
  readonly sha256: string;
  /** A library is linked against; a backend is loaded by ggml. */
  readonly kind: "library" | "backend";
  /** Its name in the tables, such as `ggml-base`; a CPU backend has a variant instead. */
  readonly library?: string;
  /** Of a CPU backend: which processors it is for. */
  readonly variant?: string;
  /** Of a CPU backend: what its `ggml_backend_score` says where it runs. Without it each is asked. */
  readonly score?: number;
}

/** A set of libraries as its manifest describes it. */
export interface LibrarySet {
  /** The manifest's folder. */
  readonly directory: string;
  /** The system, processor and C library that it is for, such as `x86_64-linux-gnu`. */
  readonly target: string;
  /** ggml's version. */
  readonly ggmlVersion: string;
  /** llama.cpp's version. */
  readonly llamaVersion: string;
  /** The upstream commit. */
  readonly commit: string;
  /** The version of the interface between ggml and its backends. */
  readonly backendApiVersion: number;
  /** Its files. */
  readonly files: readonly LibraryFile[];
}

/** The version of `manifest.json` that this code reads. */
export const MANIFEST_FORMAT = 1;

/** The target of this process, as the manifests name it. Throws UnsupportedPlatformError where no libraries are made for it. */
export function hostTarget(): string {
  const machine = ({ x64: "x86_64", arm64: "aarch64" } as Record<string, string>)[process.arch];
  const system =
    ({ linux: `linux-${linuxLibc()}`, darwin: "macos", win32: "windows" } as Record<string, string>)[process.platform];
  if (machine === undefined || system === undefined) {
    throw new UnsupportedPlatformError(`there are no libraries for ${process.platform} on ${process.arch}`, {
      value: `${process.platform}-${process.arch}`,
      expected: "Linux, macOS or Windows on x64 or arm64",
    });
  }
  return `${machine}-${system}`;
}

/** The npm package with the libraries of this process's target. */
export function platformPackage(): string {
  const suffix = process.platform === "linux" ? `-${linuxLibc()}` : "";
  return `@ggml-ffi/${process.platform}-${process.arch}${suffix}`;
}

/** The C library of this process: a machine may have the loaders of both. */
function linuxLibc(): "gnu" | "musl" {
  if (process.platform !== "linux") return "gnu";
  const build = (globalThis as { Deno?: { build: { env?: string } } }).Deno?.build;
  if (build?.env !== undefined) return build.env === "musl" ? "musl" : "gnu";
  try {
    return /\/(ld-musl-|libc\.musl-)/.test(readFileSync("/proc/self/maps", "utf8")) ? "musl" : "gnu";
  } catch {
    return "gnu";
  }
}

const FOLDER_WORDS = "the path of a folder with manifest.json and the libraries";

/** A place to look at, and what it is. */
interface Place {
  readonly what: string;
  readonly path: string;
}

/**
 * Finds the set of libraries to use and reads its manifest. Opens no library.
 *
 * Throws LibraryNotFoundError (it lists each place), ManifestError when one is unreadable, UnsupportedPlatformError when it is of another target.
 */
export function locateLibraries(given: OpenOptions = {}): LibrarySet {
  const tried: string[] = [];
  for (const { what, path } of places(given)) {
    const manifest = manifestPath(path);
    if (manifest !== undefined) {
      if (traced("load")) traceLine(`${manifest}: used (${what})`);
      return readManifest(manifest);
    }
    tried.push(`${what}: ${path}`);
    if (traced("load")) traceLine(`${path}: no manifest.json there (${what})`);
  }
  throw new LibraryNotFoundError(
    `no libraries for ${hostTarget()} were found. Looked at:\n${tried.map((one) => `  ${one}\n`).join("")}` +
      `In a source tree run \`npm run setup\`; in a project install the package ${platformPackage()}; or name a folder by libraryPath or GGML_FFI_LIBRARY_PATH.`,
    { value: tried, expected: "a folder with manifest.json and the libraries" },
  );
}

/** The options of {@linkcode locateLibraries} and of whatever opens the libraries. */
export const openRules = {
  libraryPath: custom(FOLDER_WORDS, (name, value) => {
    return typeof value === "string" && value !== "" ? checkText(name, value) : refuse(name, value, FOLDER_WORDS);
  }),
} as const;

/** The specification of {@linkcode OpenOptions}. */
export const openSpec = options("open", openRules);

/** A folder that the user names is the only place; else each default place is one. */
function places(given: OpenOptions): Place[] {
  const { libraryPath } = openSpec.check(given);
  if (libraryPath !== undefined) return [{ what: "option libraryPath", path: libraryPath }];
  const named = environment("GGML_FFI_LIBRARY_PATH");
  if (named !== undefined) return [{ what: "GGML_FFI_LIBRARY_PATH", path: named }];
  const target = hostTarget();
  const found: Place[] = [{ what: `package ${platformPackage()}`, path: packagePath() ?? platformPackage() }];
  if (import.meta.url.startsWith("file:")) {
    found.push({ what: "source tree", path: fileURLToPath(new URL(`../../native/${target}`, import.meta.url)) });
  }
  found.push({ what: "beside the program", path: join(dirname(process.execPath), "native", target) });
  return found;
}

/** The platform package's folder as seen from this module, or from the program for one that was made a single file. */
function packagePath(): string | undefined {
  for (const base of [import.meta.url, process.execPath]) {
    try {
      return dirname(createRequire(base).resolve(`${platformPackage()}/manifest.json`));
    } catch {
      // not installed there
    }
  }
  return undefined;
}

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

function readManifest(path: string): LibrarySet {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new ManifestError(`${path} is no JSON that can be read`, {
      value: path,
      expected: "a manifest.json made by set-up",
      cause,
    });
  }
  if (!isManifest(parsed)) {
    throw new ManifestError(`${path} isn't a manifest of format ${MANIFEST_FORMAT}`, {
      value: path,
      expected: `format ${MANIFEST_FORMAT}, target, ggmlVersion, llamaVersion, commit, backendApiVersion and files`,
    });
  }
  const { target, ggmlVersion, llamaVersion, commit, backendApiVersion, files } = parsed;
  if (target !== hostTarget()) {
    throw new UnsupportedPlatformError(
      `${path} is of libraries for ${target}, but this program runs on ${hostTarget()}; give libraries for that, or install ${platformPackage()}`,
      { value: target, expected: hostTarget() },
    );
  }
  return { directory: dirname(path), target, ggmlVersion, llamaVersion, commit, backendApiVersion, files };
}

interface Manifest extends Omit<LibrarySet, "directory"> {
  readonly format: number;
}

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== "object" || value === null) return false;
  const manifest = value as Record<string, unknown>;
  const texts = ["target", "ggmlVersion", "llamaVersion", "commit"];
  return manifest["format"] === MANIFEST_FORMAT && texts.every((name) => typeof manifest[name] === "string") &&
    typeof manifest["backendApiVersion"] === "number" && Array.isArray(manifest["files"]) &&
    manifest["files"].every(isFile);
}

function isFile(value: unknown): value is LibraryFile {
  if (typeof value !== "object" || value === null) return false;
  const file = value as Record<string, unknown>;
  return typeof file["name"] === "string" && /^[\w.-]+$/.test(file["name"]) && typeof file["size"] === "number" &&
    typeof file["sha256"] === "string" && (file["kind"] === "library" || file["kind"] === "backend");
}

/** Throws unless a file is the one that its manifest describes: LibraryNotFoundError, LibraryHashError. */
export function verifyFile(path: string, file: LibraryFile): void {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    throw new LibraryNotFoundError(`${path} can't be read, though the manifest beside it names it`, {
      value: path,
      expected:
        `a complete set of libraries: install ${platformPackage()} again or, in a source tree, run \`npm run setup\``,
      cause,
    });
  }
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (sha256 === file.sha256) return;
  throw new LibraryHashError(
    `${path} isn't the file that its manifest describes: its SHA-256 is ${sha256}, not ${file.sha256}`,
    {
      value: sha256,
      expected: file.sha256,
    },
  );
}
