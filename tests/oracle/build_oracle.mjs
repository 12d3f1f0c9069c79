// @ts-self-types="./build_oracle.d.mts"
// Builds tests/oracle/chat_oracle.cpp against upstream's `common`, once for each content, into the cache. Needs the sources and libraries that set-up brings.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, realpath, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { cacheFolder, produce } from "../../scripts/setup/cache.mjs";
import { hostTarget } from "../../scripts/setup/cpu.mjs";
import { run } from "../../scripts/setup/exec.mjs";
import { bringZig } from "../../scripts/setup/zig.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const upstream = join(root, "csrc/upstream/llama.cpp");
const source = fileURLToPath(new URL("chat_oracle.cpp", import.meta.url));
/** What of `common` reads and writes conversations. */
const parts = [
  /^chat.*\.cpp$/,
  /^(common|sampling|speculative|fit|ngram-.*|reasoning-budget|log|json|json-schema|json-schema-to-grammar|peg-parser|unicode|trie|llguidance)\.cpp$/,
  /^(parsers|jinja)\/.*\.cpp$/,
];
const buildInfo = `#include "build-info.h"
int llama_build_number(void) { return 0; }
const char * llama_commit(void) { return ""; }
const char * llama_compiler(void) { return ""; }
const char * llama_build_target(void) { return ""; }
const char * llama_build_info(void) { return ""; }
void llama_print_build_info(const char *, FILE *) {}
`;

/** The path of the oracle's program. */
export async function bringOracle(cache = cacheFolder()) {
  const pins = await readFile(join(root, "csrc/sources.json"));
  const hash = createHash("sha256").update(pins).update(await readFile(source)).digest("hex").slice(0, 16);
  const folder = join(cache, "oracle", hash);
  await produce(folder, async (temporary) => {
    await mkdir(temporary, { recursive: true });
    await writeFile(join(temporary, "build_info.cpp"), buildInfo);
    const zig = await bringZig(cache);
    const common = join(upstream, "common");
    const names = await readdir(common, { recursive: true });
    const sources = names.map((name) => name.replaceAll("\\", "/")).filter((name) =>
      parts.some((part) => part.test(name))
    );
    const env = { ZIG_GLOBAL_CACHE_DIR: join(cache, "zig-cache", "global") };
    const includes = ["common", "include", "ggml/include", "vendor", "src"].flatMap((
      path,
    ) => ["-I", join(upstream, path)]);
    const flags = ["c++", "-target", hostTarget(), "-O1", "-g0", "-std=c++17", ...includes];
    const files = [source, join(temporary, "build_info.cpp"), ...sources.map((name) => join(common, name))];
    const objects = files.map((_, index) => join(temporary, `${index}.o`));
    let next = 0;
    const work = async () => {
      while (next < files.length) {
        const index = next++;
        await run(zig, [...flags, "-c", files[index], "-o", objects[index]], { env });
      }
    };
    await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
    const libraries = await realpath(join(root, "native", hostTarget()));
    const linked = ["llama", "ggml", "ggml-base"].map((name) => join(libraries, `lib${name}.so`));
    await run(zig, [
      ...flags,
      ...objects,
      ...linked,
      `-Wl,-rpath,${libraries}`,
      "-o",
      join(temporary, "chat_oracle"),
    ], { env });
  });
  return join(folder, "chat_oracle");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await bringOracle());
