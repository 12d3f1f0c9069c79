// Builds csrc/reference_backend, ggml's plain backend of our own, for a target whose libraries are built. Kept in the cache by its content: it is a build of
// its own, so that a change in it builds none of the other libraries anew.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, produce } from "../setup/cache.ts";
import { ensureZig, ZIG_VERSION } from "../setup/zig.ts";
import { run } from "../support/exec.ts";
import { ROOT } from "../support/root.ts";
import { hostTarget } from "./cpu.ts";

const FLAGS = [
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

/** Builds the backend for a target (default: this machine's) unless the cache has it, and returns its path. Set-up must have built the target's libraries. */
export async function ensureReference(target: string = hostTarget(), cache: string = cacheFolder()): Promise<string> {
  const folder = join(ROOT, "csrc", "reference_backend");
  const sources = (await readdir(folder)).filter((name) => /\.[ch]$/.test(name)).sort();
  const native = await realpath(join(ROOT, "native", target));
  const hash = createHash("sha256").update(JSON.stringify([ZIG_VERSION, target, FLAGS, native]));
  for (const name of sources) hash.update(`\0${name}\0`).update(await readFile(join(folder, name)));
  const built = join(cache, "reference", `${target}-${hash.digest("hex").slice(0, 16)}`);
  const { library, base } = fileNames(target);
  await produce(built, async (temporary) => {
    await mkdir(temporary, { recursive: true });
    const headers = join(ROOT, "csrc", "upstream", "llama.cpp", "ggml");
    const args = [
      ...["cc", "-target", zigTarget(target), ...FLAGS, `-I${join(headers, "include")}`, `-I${join(headers, "src")}`],
      ...sources.filter((source) => source.endsWith(".c")).map((source) => join(folder, source)),
      join(native, base),
      ...(target.includes("windows") ? [] : ["-lm", `-Wl,-rpath,${native}`]),
      ...["-o", join(temporary, library)],
    ];
    const env = { ZIG_GLOBAL_CACHE_DIR: join(cache, "zig-cache", "global") };
    await run(await ensureZig(cache), args, { env, task: "building the reference backend" });
  });
  return join(built, library);
}

/** The backend's file, and that of the library that it is linked against. */
function fileNames(target: string): { library: string; base: string } {
  if (target.includes("windows")) return { library: "ggml-reference.dll", base: "ggml-base.dll" };
  const base = target.includes("macos") ? "libggml-base.dylib" : "libggml-base.so";
  return { library: "libggml-reference.so", base };
}

/** As build/targets.zig has it: for the oldest system. */
function zigTarget(target: string): string {
  if (target.endsWith("-gnu")) return `${target}.2.17`;
  if (target.endsWith("-windows")) return `${target}-gnu`;
  return target;
}
