import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { LibraryHashError, LibraryNotFoundError, ManifestError, UnsupportedPlatformError } from "../../base/errors.ts";
import { hostTarget, platformPackage } from "./platform.ts";

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

/**
 * Reads a manifest. Given the hash that it must have, it is checked before anything in it is believed.
 *
 * Throws ManifestError, LibraryHashError, and UnsupportedPlatformError when it is of another target.
 */
export function readManifest(path: string, sha256?: string): LibrarySet {
  let parsed: unknown;
  try {
    const bytes = readFileSync(path);
    if (sha256 !== undefined) verifyBytes(path, bytes, sha256, "this release has");
    parsed = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    if (cause instanceof LibraryHashError) throw cause;
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
  verifyBytes(path, bytes, file.sha256, "its manifest describes");
}

function verifyBytes(path: string, bytes: Uint8Array, expected: string, whose: string): void {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (sha256 === expected) return;
  throw new LibraryHashError(
    `${path} isn't the file that ${whose}: its SHA-256 is ${sha256}, not ${expected}`,
    { value: sha256, expected },
  );
}
