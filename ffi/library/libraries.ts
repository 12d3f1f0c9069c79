import { messageOf } from "../../base/error.ts";
import { join } from "node:path";
import type { GuardPlace } from "../containment/guard.ts";
import { LibraryNotFoundError, LibraryVersionError } from "../../base/errors.ts";
import { type LibraryFile, type LibrarySet, verifyFile } from "./manifest.ts";
import { readCString } from "../memory/c_string.ts";
import type { NativeRuntime, RawFunction } from "../runtime/types.ts";
import type { NativeLibrary, System } from "../runtime/system.ts";
import type { LibraryName } from "../tables.ts";
import { traced, traceLine } from "../runtime/trace.ts";

/** The libraries in use, as plain data for another thread of the process. */
export interface OpenedLibraries {
  /** The set. */
  readonly set: LibrarySet;
  /** The CPU backend that was chosen. */
  readonly cpu: string;
  /** The files that were opened, their hashes checked. */
  readonly checked: readonly string[];
  /** The location of the guard, where there is one. */
  readonly guard?: GuardPlace | undefined;
}

/** The libraries of a set, opened when first asked for. */
export class Libraries {
  /** The set. */
  readonly set: LibrarySet;
  readonly #system: System;
  readonly #byName = new Map<LibraryName, NativeLibrary>();
  readonly #opened = new Map<string, NativeLibrary>();
  readonly #checked: ReadonlySet<string>;
  #cpu: string | undefined;

  /** `opened` is what another thread has verified and chosen. */
  constructor(system: System, set: LibrarySet, opened?: OpenedLibraries) {
    this.#system = system;
    this.set = set;
    this.#checked = new Set(opened?.checked);
    this.#cpu = opened?.cpu;
  }

  /** Returns what another thread needs to use the same libraries. */
  opened(): OpenedLibraries {
    return { set: this.set, cpu: this.cpu, checked: [...this.#checked, ...this.#opened.keys()] };
  }

  /** The path of the CPU backend for this processor; chosen once. */
  get cpu(): string {
    return this.#cpu ??= chooseCpu(this.set, (file) => this.open(file));
  }

  /** A library by its name in the tables. What it is linked against is checked and opened before it. */
  library(name: LibraryName): NativeLibrary {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    for (const needed of linkedAgainst[name]) this.library(needed);
    const cpu = name === "ggml-cpu" ? this.cpu : undefined;
    const file = this.set.files.find((one) => cpu === undefined ? one.library === name : one.name === cpu);
    if (file === undefined) {
      throw new LibraryNotFoundError(`the set of libraries in ${this.set.directory} has no ${name}`, {
        value: name,
        expected: `one of ${this.set.files.map((one) => one.name).join(", ")}`,
      });
    }
    const library = this.open(file);
    this.#byName.set(name, library);
    return library;
  }

  /** Opens a file of the set, its hash checked before. */
  open(file: LibraryFile): NativeLibrary {
    let library = this.#opened.get(file.name);
    if (library === undefined) {
      library = this.#openFile(file);
      this.#opened.set(file.name, library);
    }
    return library;
  }

  #openFile(file: LibraryFile): NativeLibrary {
    const path = join(this.set.directory, file.name);
    try {
      if (!this.#checked.has(file.name)) verifyFile(path, file);
      const library = this.#system.open(path);
      if (traced("load")) traceLine(`${path}: opened`);
      return library;
    } catch (error) {
      if (traced("load")) traceLine(`${path}: refused: ${messageOf(error)}`);
      throw error;
    }
  }
}

/** The libraries that each one is linked against: the system opens those by itself, so their hashes are checked first. */
const linkedAgainst: Readonly<Record<LibraryName, readonly LibraryName[]>> = {
  "ggml-base": [],
  "ggml": ["ggml-base"],
  "ggml-cpu": ["ggml-base"],
  "ggml-rpc": ["ggml-base"],
  "llama": ["ggml"],
  "mtmd": ["llama"],
  "whisper": ["ggml"],
  "parakeet": ["ggml"],
};

/** The CPU backend with the highest score on this processor; ties go to the first. */
function chooseCpu(set: LibrarySet, open: (file: LibraryFile) => NativeLibrary): string {
  const variants = set.files.filter((file) => file.kind === "backend" && file.variant !== undefined);
  // A known score is what the module itself would say on a processor that can run it: the first of them that runs is the best.
  const known = variants.every((file) => file.score !== undefined);
  if (known) variants.sort((a, b) => (b.score ?? 0) - (a.score ?? 0));
  let best: { name: string; score: number } | undefined;
  for (const file of variants) {
    const score = scoreOf(open(file));
    if (traced("load")) {
      traceLine(`${file.name}: ${score === 0 ? "refused, not for this processor" : `score ${score}`}`);
    }
    if (score > (best?.score ?? 0)) best = { name: file.name, score };
    if (known && best !== undefined) break;
  }
  if (best !== undefined) return best.name;
  throw new LibraryNotFoundError(`no CPU backend in ${set.directory} runs on this processor`, {
    value: variants.map((file) => file.name),
    expected: "a set of libraries with the baseline variant",
  });
}

function scoreOf(library: NativeLibrary): number {
  const score = library.bind("ggml_backend_score", { parameters: [], result: "i32" });
  return score === null ? 0 : score() as number;
}

/** Versions that belong together. */
export interface Versions {
  /** ggml's. */
  readonly ggmlVersion: string;
  /** llama.cpp's. */
  readonly llamaVersion: string;
  /** That of the interface between ggml and its backends. */
  readonly backendApiVersion: number;
}

/** Throws LibraryVersionError when a set's manifest, or what its libraries say themselves, isn't what the tables were made for. */
export function checkVersions(libraries: Libraries, runtime: NativeRuntime, tables: Versions): void {
  const { set } = libraries;
  compare(set.directory, "ggml", set.ggmlVersion, tables.ggmlVersion);
  compare(set.directory, "llama.cpp", set.llamaVersion, tables.llamaVersion);
  compare(set.directory, "backend interface", set.backendApiVersion, tables.backendApiVersion);
  const reported = (name: LibraryName, symbol: string): string => {
    const version: RawFunction | null = libraries.library(name).bind(symbol, { parameters: [], result: "u64" });
    return version === null ? "one without a version" : readCString(runtime, version() as bigint);
  };
  compare(libraries.library("ggml-base").path, "ggml", reported("ggml-base", "ggml_version"), tables.ggmlVersion);
  compare(libraries.library("llama").path, "llama.cpp", reported("llama", "llama_version"), tables.llamaVersion);
}

function compare(where: string, what: string, found: string | number, wanted: string | number): void {
  if (found === wanted) return;
  throw new LibraryVersionError(
    `${where} has ${what} ${found}, but this release of ggml-ffi is made for ${what} ${wanted}`,
    {
      value: found,
      expected: String(wanted),
    },
  );
}
