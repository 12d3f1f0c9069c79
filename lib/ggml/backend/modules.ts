import { messageOf } from "../../../base/error.ts";
import { readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Native } from "../../../ffi/mod.ts";
import { startThread } from "../../worker/start.ts";
import { BackendLoadError, GgmlError } from "../../errors.ts";
import { checkText } from "../../../base/check.ts";
import { BackendModule } from "./backend_module.ts";
import type { ModuleInfo } from "../thread/modules.ts";
import type { GgmlTasks } from "../thread/tasks.ts";

export type { ModuleInfo } from "../thread/modules.ts";

/** A module that wasn't loaded, and why. */
export interface RefusedModule {
  /** Its file. */
  readonly path: string;
  /** Why. */
  readonly error: GgmlError;
}

/** Result of loading all modules of a folder. */
export interface LoadedModules {
  /** Those that were loaded. */
  readonly loaded: BackendModule[];
  /** Those that were not: another one of the same kind is better, or it is no backend for this system. */
  readonly refused: RefusedModule[];
}

/** Asks modules, one after another, on a native thread. */
export async function inspectModules(
  native: Native,
  paths: readonly string[],
): Promise<(ModuleInfo | RefusedModule)[]> {
  await using thread = await startThread<GgmlTasks>(native);
  const found: (ModuleInfo | RefusedModule)[] = [];
  for (const path of paths) {
    try {
      found.push(await thread.run("inspectModule", path));
    } catch (error) {
      if (!(error instanceof GgmlError)) throw error;
      found.push({ path, error });
    }
  }
  return found;
}

/** Loads one module into the registry. Throws BackendLoadError. */
export async function loadModule(native: Native, path: string): Promise<BackendModule> {
  const [words] = await inspectModules(native, [fullPath(path)]);
  if (words === undefined) throw new BackendLoadError(`${path} wasn't looked at`, { value: path });
  if (isRefused(words)) throw words.error;
  return register(native, words);
}

/** Loads the best module of each kind in a folder: of `libggml-cpu-*.so` the one with the highest score. */
export async function loadFolder(native: Native, folder: string): Promise<LoadedModules> {
  const asked = await inspectModules(native, backendFiles(folder));
  const refused = asked.filter(isRefused);
  const loaded: BackendModule[] = [];
  const kinds = Map.groupBy(asked.filter((one): one is ModuleInfo => !isRefused(one)), ({ path }) => kindOf(path));
  for (const group of kinds.values()) {
    // One without a score is taken before any that says it fits badly.
    const [best, ...others] = group.toSorted((a, b) => (b.score ?? 1) - (a.score ?? 1));
    if (best === undefined) continue;
    try {
      loaded.push(register(native, best));
    } catch (error) {
      if (!(error instanceof GgmlError)) throw error;
      refused.push({ path: best.path, error });
    }
    refused.push(...others.map(({ path, score }) => ({ path, error: worse(path, score, best) })));
  }
  return { loaded, refused };
}

function isRefused(one: ModuleInfo | RefusedModule): one is RefusedModule {
  return "error" in one;
}

function worse(path: string, score: number | undefined, best: ModuleInfo): BackendLoadError {
  return new BackendLoadError(`${path} has the score ${score}; ${best.path} has ${best.score} and was taken`, {
    value: score,
    expected: `the highest score, ${best.score}`,
  });
}

/** Puts a module that was asked into the registry: on the caller's thread, since the registry has no lock. */
function register(native: Native, { path, score, apiVersion }: ModuleInfo): BackendModule {
  if (score === 0) {
    throw new BackendLoadError(`${path} doesn't run on this system: its score is 0; take another variant of it`, {
      value: score,
      expected: "a score above 0",
    });
  }
  const wanted = native.set.backendApiVersion;
  if (apiVersion !== wanted) {
    throw new BackendLoadError(
      `${path} was built for version ${apiVersion} of the interface between ggml and its backends, but ggml here has ${wanted}; take one of the same release`,
      { value: apiVersion, expected: String(wanted) },
    );
  }
  const pointer = native.lib.ggml_backend_load(path);
  if (pointer !== null) return new BackendModule(native, pointer);
  throw new BackendLoadError(`ggml refused ${path} after it was found right`, {
    value: path,
    expected: "a backend that loads",
  });
}

function fullPath(path: string): string {
  return resolve(checkText("the path of a backend", path));
}

/** The files of a folder that have a backend's name: `libggml-KIND.so`, `ggml-KIND.dll`. Throws BackendLoadError for a folder that can't be read. */
function backendFiles(folder: string): string[] {
  const full = fullPath(folder);
  let names: string[];
  try {
    names = readdirSync(full);
  } catch (cause) {
    throw new BackendLoadError(`the folder ${full} can't be read: ${messageOf(cause)}`, {
      value: folder,
      expected: "a folder with backends",
      cause,
    });
  }
  const wanted = /^(lib)?ggml-(?!base\.)[\w-]+\.(so|dll)$/;
  return names.filter((name) => wanted.test(name)).sort().map((name) => join(full, name));
}

/** `cpu` of `libggml-cpu-zen4.so`. */
function kindOf(path: string): string {
  return basename(path).replace(/^(lib)?ggml-/, "").split(/[-.]/)[0] ?? path;
}
