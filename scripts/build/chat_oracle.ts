// Builds tests/oracle/chat_oracle.cpp against upstream's `common`, once for each content, into the cache. Needs the sources and libraries of set-up.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, realpath, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { cacheFolder, produce } from "../setup/cache.ts";
import { ensureZig } from "../setup/zig.ts";
import { run } from "../support/exec.ts";
import { ROOT } from "../support/root.ts";
import { hostTarget } from "./cpu.ts";

const UPSTREAM = join(ROOT, "csrc", "upstream", "llama.cpp");
const SOURCE = join(ROOT, "tests", "oracle", "chat_oracle.cpp");
/** The files of `common` that read and write conversations. */
const PARTS = [
  /^chat.*\.cpp$/,
  /^(common|sampling|speculative|fit|ngram-.*|reasoning-budget|log|json|json-schema|json-schema-to-grammar|peg-parser|unicode|trie|llguidance)\.cpp$/,
  /^(parsers|jinja)\/.*\.cpp$/,
];
const BUILD_INFO = `#include "build-info.h"
int llama_build_number(void) { return 0; }
const char * llama_commit(void) { return ""; }
const char * llama_compiler(void) { return ""; }
const char * llama_build_target(void) { return ""; }
const char * llama_build_info(void) { return ""; }
void llama_print_build_info(const char *, FILE *) {}
`;

/** Builds the oracle unless the cache has it, and returns the program's path. */
export async function ensureChatOracle(cache: string = cacheFolder()): Promise<string> {
  const pins = await readFile(join(ROOT, "csrc/sources.json"));
  const hash = createHash("sha256").update(pins).update(await readFile(SOURCE)).digest("hex").slice(0, 16);
  const folder = join(cache, "oracle", hash);
  await produce(folder, (temporary) => buildOracle(cache, temporary));
  return join(folder, "chat_oracle");
}

async function buildOracle(cache: string, temporary: string): Promise<void> {
  await mkdir(temporary, { recursive: true });
  await writeFile(join(temporary, "build_info.cpp"), BUILD_INFO);
  const zig = await ensureZig(cache);
  const common = join(UPSTREAM, "common");
  const names = (await readdir(common, { recursive: true })).map((name) => name.replaceAll("\\", "/"));
  const sources = names.filter((name) => PARTS.some((part) => part.test(name)));
  const env = { ZIG_GLOBAL_CACHE_DIR: join(cache, "zig-cache", "global") };
  const folders = ["common", "include", "ggml/include", "vendor", "src"];
  const includes = folders.flatMap((path) => ["-I", join(UPSTREAM, path)]);
  const flags = ["c++", "-target", hostTarget(), "-O1", "-g0", "-std=c++17", ...includes];
  const files = [SOURCE, join(temporary, "build_info.cpp"), ...sources.map((name) => join(common, name))];
  const jobs = files.map((file, index) => ({ file, object: join(temporary, `${index}.o`) }));
  const objects = jobs.map(({ object }) => object);
  const work = async (): Promise<void> => {
    for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) {
      await run(zig, [...flags, "-c", job.file, "-o", job.object], { env, task: `compiling ${job.file}` });
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
  const libraries = await realpath(join(ROOT, "native", hostTarget()));
  const linked = ["llama", "ggml", "ggml-base"].map((name) => join(libraries, `lib${name}.so`));
  const output = ["-o", join(temporary, "chat_oracle")];
  await run(zig, [...flags, ...objects, ...linked, `-Wl,-rpath,${libraries}`, ...output], { env });
}
