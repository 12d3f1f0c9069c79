// The compiler: Zig, of exactly one version.
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { produce } from "./cache.mjs";
import { answer } from "./exec.mjs";
import { step } from "./progress.mjs";
import { checkSha256, downloadWheel, runPython } from "./python.mjs";

/** build.zig refuses any other. */
export const zigVersion = "0.17.1";

const wheelBytes = 100e6;
/** Wheels whose hash is known. Those of other machines are taken as the registry gives them. */
const wheelHashes = {};

/** The path of a Zig of the pinned version: one on PATH, or brought into the cache. */
export async function bringZig(cache) {
  const folder = join(cache, "zig", zigVersion);
  const program = join(folder, "ziglang", process.platform === "win32" ? "zig.exe" : "zig");
  if (existsSync(program)) return program;
  if (await answer("zig", ["version"]) === zigVersion) return "zig";
  await produce(
    folder,
    (temporary) =>
      step(`Fetching Zig ${zigVersion}, the compiler`, "about 100 MB, usually under a minute", async (report) => {
        const work = `${temporary}-work`;
        try {
          await mkdir(work, { recursive: true });
          const wheel = await downloadWheel(work, "ziglang", zigVersion, wheelBytes, report);
          const expected = wheelHashes[basename(wheel)];
          if (expected !== undefined) await checkSha256(wheel, expected, basename(wheel));
          report(0, 0, "unpacking");
          const args = ["--no-deps", "--no-index", "--no-compile", "--no-input", "--target", temporary, wheel];
          await runPython(["-m", "pip", "install", ...args], { task: "unpacking Zig" });
        } finally {
          await rm(work, { recursive: true, force: true });
        }
      }),
  );
  return program;
}
