// @ts-self-types="./build_reference.d.mts"
// Builds csrc/reference_backend, ggml's plain backend of our own, for a target whose libraries are built. Kept in the cache by its content: it is a build of
// its own, so that a change in it builds none of the other libraries anew.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, produce } from "./setup/cache.mjs";
import { hostTarget } from "./setup/cpu.mjs";
import { run } from "./setup/exec.mjs";
import { bringZig, zigVersion } from "./setup/zig.mjs";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");
const flags = [
  "-std=c11",
  "-O2",
  "-shared",
  "-fPIC",
  "-fvisibility=hidden",
  "-Wall",
  "-Wextra",
  "-Werror",
  "-D_GNU_SOURCE",
  "-DGGML_SHARED",
  "-DGGML_BACKEND_SHARED",
  "-DGGML_BACKEND_BUILD",
  "-s",
];

/** Builds the backend for a target (default: this machine's) unless the cache has it; returns its path. Set-up must have built the target's libraries. */
export async function bringReference(target = hostTarget(), cache = cacheFolder()) {
  const folder = join(root, "csrc", "reference_backend");
  const sources = (await readdir(folder)).filter((name) => /\.[ch]$/.test(name)).sort();
  const native = await realpath(join(root, "native", target));
  const hash = createHash("sha256").update(JSON.stringify([zigVersion, target, flags, native]));
  for (const name of sources) hash.update(`\0${name}\0`).update(await readFile(join(folder, name)));
  const built = join(cache, "reference", `${target}-${hash.digest("hex").slice(0, 16)}`);
  const [name, base] = names(target);
  await produce(built, async (temporary) => {
    await mkdir(temporary, { recursive: true });
    const headers = join(root, "csrc", "upstream", "llama.cpp", "ggml");
    const args = [
      ...["cc", "-target", zigTarget(target), ...flags, `-I${join(headers, "include")}`, `-I${join(headers, "src")}`],
      ...sources.filter((source) => source.endsWith(".c")).map((source) => join(folder, source)),
      join(native, base),
      ...(target.includes("windows") ? [] : ["-lm", `-Wl,-rpath,${native}`]),
      ...["-o", join(temporary, name)],
    ];
    const env = { ZIG_GLOBAL_CACHE_DIR: join(cache, "zig-cache", "global") };
    await run(await bringZig(cache), args, { env, task: "building the reference backend" });
  });
  return join(built, name);
}

/** The file's name, and that of the library that it is linked against. */
function names(target) {
  if (target.includes("windows")) return ["ggml-reference.dll", "ggml-base.dll"];
  return ["libggml-reference.so", target.includes("macos") ? "libggml-base.dylib" : "libggml-base.so"];
}

/** As build/targets.zig has it: for the oldest system. */
function zigTarget(target) {
  if (target.endsWith("-gnu")) return `${target}.2.17`;
  if (target.endsWith("-windows")) return `${target}-gnu`;
  return target;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await bringReference(process.argv[2]));
