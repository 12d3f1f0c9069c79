// @ts-self-types="./build_probe.d.mts"
// Builds the probe library that tests/ffi/ calls: C functions that echo structs of every shape. Kept in the cache by its content.
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { probeLayouts, probeSource } from "../csrc/probe/layouts.mjs";
import { cacheFolder, produce } from "./setup/cache.mjs";
import { hostTarget } from "./setup/cpu.mjs";
import { run } from "./setup/exec.mjs";
import { bringZig, zigVersion } from "./setup/zig.mjs";

const flags = ["-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-s"];

/** The structs: other random ones, or more of them, by `GGML_FFI_PROBE=COUNT,SEED`. */
export function wantedLayouts() {
  return probeLayouts(...(process.env.GGML_FFI_PROBE?.split(",").map(Number) ?? []));
}

/** Builds the probe for a target unless the cache has it; returns its path. */
export async function bringProbe(target = hostTarget(), cache = cacheFolder()) {
  const source = probeSource(wantedLayouts());
  const key = createHash("sha256").update(JSON.stringify([zigVersion, target, flags, source])).digest("hex").slice(
    0,
    16,
  );
  const folder = join(cache, "probe", `${target}-${key}`);
  const name = target.includes("windows") ? "probe.dll" : "libprobe.so";
  await produce(folder, async (temporary) => {
    await mkdir(temporary, { recursive: true });
    await writeFile(join(temporary, "probe.c"), source);
    const zig = await bringZig(cache);
    await run(zig, ["cc", "-target", target, ...flags, "-o", join(temporary, name), join(temporary, "probe.c")], {
      env: { ZIG_GLOBAL_CACHE_DIR: join(cache, "zig-cache", "global") },
    });
  });
  return join(folder, name);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await bringProbe(process.argv[2]));
