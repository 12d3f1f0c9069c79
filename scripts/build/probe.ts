// The probe library that tests/ffi/probe/ calls: C functions that echo structs of every shape. Kept in the cache by its content.
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { type ProbeLayout, probeLayouts, probeSource } from "../../csrc/probe/layouts.ts";
import { cacheFolder, produce } from "../setup/cache.ts";
import { ensureZig, ZIG_VERSION } from "../setup/zig.ts";
import { run } from "../support/exec.ts";
import { hostTarget } from "./cpu.ts";

const FLAGS = ["-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-s"];

/** The structs of the probe: other random ones, or more of them, by `GGML_FFI_PROBE=COUNT,SEED`. */
export function wantedLayouts(): ProbeLayout[] {
  const [count, seed] = process.env["GGML_FFI_PROBE"]?.split(",").map(Number) ?? [];
  return probeLayouts(count, seed);
}

/** Builds the probe for a target (default: this machine's) unless the cache has it, and returns its path. */
export async function ensureProbe(target: string = hostTarget(), cache: string = cacheFolder()): Promise<string> {
  const source = probeSource(wantedLayouts());
  const content = JSON.stringify([ZIG_VERSION, target, FLAGS, source]);
  const key = createHash("sha256").update(content).digest("hex").slice(0, 16);
  const folder = join(cache, "probe", `${target}-${key}`);
  const name = target.includes("windows") ? "probe.dll" : "libprobe.so";
  await produce(folder, async (temporary) => {
    await mkdir(temporary, { recursive: true });
    const file = join(temporary, "probe.c");
    await writeFile(file, source);
    const zig = await ensureZig(cache);
    await run(zig, ["cc", "-target", target, ...FLAGS, "-o", join(temporary, name), file], {
      env: { ZIG_GLOBAL_CACHE_DIR: join(cache, "zig-cache", "global") },
      task: "building the probe library",
    });
  });
  return join(folder, name);
}
