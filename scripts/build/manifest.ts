// manifest.json of a folder of built libraries: what is in it, and what it was built from.
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Upstream } from "../setup/sources.ts";
import type { Verifier } from "../setup/verify.ts";
import { codeOf, SetupError } from "../support/errors.ts";
import { sha256 } from "../support/hash.ts";

export const MANIFEST_NAME = "manifest.json";

/** A library in a manifest. */
export interface ManifestFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
  readonly kind: "library" | "backend";
  /** The library's name, without what systems put around it; CPU backends have `variant` instead. */
  readonly library?: string;
  readonly variant?: string;
}

/** The content of manifest.json. */
export interface Manifest {
  readonly format: 1;
  readonly target: string;
  readonly ggmlVersion: string;
  readonly llamaVersion: string;
  readonly whisperVersion: string;
  readonly commit: string | undefined;
  readonly backendApiVersion: number;
  readonly files: readonly ManifestFile[];
}

/** The part of {@linkcode Upstream} that a manifest tells about. */
type DescribedSources = Pick<Upstream, "name" | "sources"> & { readonly pin: Pick<Upstream["pin"], "commit"> };

/** Describes the libraries in `folder`, built for `target` from the sources of `upstream`. */
export async function describe(
  folder: string,
  target: string,
  upstream: readonly DescribedSources[],
): Promise<Manifest> {
  const [llama, whisper] = ["llama.cpp", "whisper.cpp"].map((wanted) => {
    const found = upstream.find(({ name }) => name === wanted);
    if (found === undefined) throw new SetupError(`csrc/sources.json has no ${wanted}`);
    return found;
  }) as [DescribedSources, DescribedSources];
  const names = (await readdir(folder)).filter((name) => LIBRARY_FILE.test(name)).sort();
  return {
    format: 1,
    target,
    ggmlVersion: await cmakeVersion(join(llama.sources, "ggml", "CMakeLists.txt"), "GGML"),
    llamaVersion: await cmakeVersion(join(llama.sources, "CMakeLists.txt"), "LLAMA"),
    whisperVersion: await cmakeVersion(join(whisper.sources, "CMakeLists.txt"), "WHISPER"),
    commit: llama.pin.commit,
    backendApiVersion: await backendApiVersion(llama.sources),
    files: await Promise.all(names.map((name) => describeFile(folder, name))),
  };
}

/** The libraries that every build has. */
const REQUIRED = ["ggml", "ggml-base", "ggml-rpc", "llama", "mtmd", "whisper", "parakeet"];
const LIBRARY_FILE = /\.(so|dylib|dll)$/;

/** The reason why a folder isn't a whole build of a target: a manifest that says less than it must, a library that is missing, cut or changed. */
export async function libraryFault(
  folder: string,
  { target, variants }: { readonly target: string; readonly variants: readonly string[] },
  verifier: Verifier,
): Promise<string | undefined> {
  const manifest = await readManifest(join(folder, MANIFEST_NAME));
  if (manifest === undefined) return `${MANIFEST_NAME} can't be read`;
  if (manifest.target !== target) return `${MANIFEST_NAME} is for the target ${manifest.target}`;
  const listed = new Set(manifest.files.map(({ name }) => name));
  const missing = REQUIRED.find((wanted) => !manifest.files.some(({ library }) => library === wanted));
  if (missing !== undefined) return `${MANIFEST_NAME} lists no library ${missing}`;
  const absent = variants.find((wanted) => !manifest.files.some(({ variant }) => variant === wanted));
  if (absent !== undefined) return `${MANIFEST_NAME} lists no CPU variant ${absent}`;
  const unlisted = (await readdir(folder)).find((name) => LIBRARY_FILE.test(name) && !listed.has(name));
  if (unlisted !== undefined) return `${MANIFEST_NAME} doesn't list ${unlisted}`;
  for (const file of manifest.files) {
    const fault = await verifier.fault(join(folder, file.name), file);
    if (fault !== undefined) return `${file.name}: ${fault}`;
  }
  return undefined;
}

async function readManifest(path: string): Promise<Manifest | undefined> {
  try {
    const read = JSON.parse(await readFile(path, "utf8")) as Manifest;
    return Array.isArray(read.files) ? read : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function describeFile(folder: string, name: string): Promise<ManifestFile> {
  const path = join(folder, name);
  const common = { name, size: (await stat(path)).size, sha256: await sha256(path) };
  const id = name.replace(/^lib/, "").replace(/\.(so|dylib|dll)$/, "");
  if (id.startsWith("ggml-cpu-")) return { ...common, kind: "backend", variant: id.slice("ggml-cpu-".length) };
  if (id === "ggml-rpc") return { ...common, kind: "backend", library: id };
  return { ...common, kind: "library", library: id };
}

/** Upstream's CMake files say `set(LLAMA_VERSION_MAJOR 0)` and so on. */
async function cmakeVersion(path: string, name: string): Promise<string> {
  const text = await readFile(path, "utf8");
  return ["MAJOR", "MINOR", "PATCH"].map((part) => {
    const found = new RegExp(`set\\(${name}_VERSION_${part} (\\d+)\\)`).exec(text);
    if (found === null) throw new SetupError(`${path}: no line "set(${name}_VERSION_${part} …)"`);
    return found[1];
  }).join(".");
}

async function backendApiVersion(upstream: string): Promise<number> {
  const path = join(upstream, "ggml", "src", "ggml-backend-impl.h");
  const found = /#define GGML_BACKEND_API_VERSION (\d+)/.exec(await readFile(path, "utf8"));
  if (found === null) throw new SetupError(`${path}: no line "#define GGML_BACKEND_API_VERSION …"`);
  return Number(found[1]);
}
