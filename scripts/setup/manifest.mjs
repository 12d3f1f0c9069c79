// manifest.json of a folder of built libraries: what is in it, and what it was built from.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { SetupError } from "./errors.mjs";

export const manifestName = "manifest.json";

/** Describes the libraries in `folder`, built for `target` from the sources of `upstream`. */
export async function describe(folder, target, upstream) {
  const sourcesOf = (wanted) => upstream.find(({ name }) => name === wanted).sources;
  const [llama, whisper] = ["llama.cpp", "whisper.cpp"].map(sourcesOf);
  const names = (await readdir(folder)).filter((name) => /\.(so|dylib|dll)$/.test(name)).sort();
  return {
    format: 1,
    target,
    ggmlVersion: await cmakeVersion(join(llama, "ggml", "CMakeLists.txt"), "GGML"),
    llamaVersion: await cmakeVersion(join(llama, "CMakeLists.txt"), "LLAMA"),
    whisperVersion: await cmakeVersion(join(whisper, "CMakeLists.txt"), "WHISPER"),
    commit: upstream.find(({ name }) => name === "llama.cpp").pin.commit,
    backendApiVersion: await backendApiVersion(llama),
    files: await Promise.all(names.map((name) => describeFile(folder, name))),
  };
}

async function describeFile(folder, name) {
  const path = join(folder, name);
  const common = { name, size: (await stat(path)).size, sha256: await sha256(path) };
  const id = name.replace(/^lib/, "").replace(/\.(so|dylib|dll)$/, "");
  if (id.startsWith("ggml-cpu-")) return { ...common, kind: "backend", variant: id.slice("ggml-cpu-".length) };
  if (id === "ggml-rpc") return { ...common, kind: "backend", library: id };
  return { ...common, kind: "library", library: id };
}

export async function sha256(path) {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
}

/** Upstream's CMake files say `set(LLAMA_VERSION_MAJOR 0)` and so on. */
async function cmakeVersion(path, name) {
  const text = await readFile(path, "utf8");
  return ["MAJOR", "MINOR", "PATCH"].map((part) => {
    const found = new RegExp(`set\\(${name}_VERSION_${part} (\\d+)\\)`).exec(text);
    if (found === null) throw new SetupError(`${path}: no line "set(${name}_VERSION_${part} …)"`);
    return found[1];
  }).join(".");
}

async function backendApiVersion(upstream) {
  const path = join(upstream, "ggml", "src", "ggml-backend-impl.h");
  const found = /#define GGML_BACKEND_API_VERSION (\d+)/.exec(await readFile(path, "utf8"));
  if (found === null) throw new SetupError(`${path}: no line "#define GGML_BACKEND_API_VERSION …"`);
  return Number(found[1]);
}
