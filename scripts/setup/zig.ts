// The compiler: Zig, of exactly one version.
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import process from "node:process";
import { SetupError } from "../support/errors.ts";
import { answer } from "../support/exec.ts";
import { checkSha256 } from "../support/hash.ts";
import { step } from "../support/progress.ts";
import { produce } from "./cache.ts";
import { downloadWheel, runPython } from "./python.ts";

/** The version that build.zig wants; it refuses any other. */
export const ZIG_VERSION = "0.17.1";

const WHEEL_BYTES = 101e6;
const WHEEL_HASHES: Readonly<Record<string, string>> = {
  "manylinux_2_12_x86_64.manylinux2010_x86_64.musllinux_1_1_x86_64":
    "ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54",
  "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64":
    "b7c5f02fccd40f89b999ee16a1f5ddced56e6182370f8affe494bcf8a28cf07e",
  "macosx_13_0_arm64": "09953b6af7f64168b915180a42774f520f92d86ef6331b28e33915c7e1f0bb23",
  "macosx_13_0_x86_64": "4e0b4b9c02b8d0d220e9948010f860b62ff11d96abb39762eca5fa2ef3f7bc97",
  "win_amd64": "69c3dfc3aff6a297ec4017aa904782c0e450eb988982d7f675d83edce27526fb",
  "win_arm64": "27a8da5f8eaa0e76ebbc7c2594130ed4646c1101ada2ce0aa86fe580c74154b9",
};

/** The path of a Zig of the pinned version: the cache's, one on PATH, or one that is fetched into the cache. */
export async function ensureZig(cache: string): Promise<string> {
  const folder = join(cache, "zig", ZIG_VERSION);
  const program = join(folder, "ziglang", process.platform === "win32" ? "zig.exe" : "zig");
  if (existsSync(program)) return program;
  if (await answer("zig", ["version"]) === ZIG_VERSION) return "zig";
  await produce(folder, (temporary) => fetchZig(temporary));
  return program;
}

async function fetchZig(temporary: string): Promise<void> {
  const title = `Fetching Zig ${ZIG_VERSION}, the compiler`;
  await step(title, "about 100 MB, usually under a minute", async (report) => {
    const work = `${temporary}-work`;
    try {
      await mkdir(work, { recursive: true });
      const wheel = await downloadWheel(work, "ziglang", ZIG_VERSION, WHEEL_BYTES, report);
      await checkWheel(wheel);
      report(0, 0, "unpacking");
      const args = ["--no-deps", "--no-index", "--no-compile", "--no-input", "--target", temporary, wheel];
      await runPython(["-m", "pip", "install", ...args], { task: "unpacking Zig" });
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
}

async function checkWheel(wheel: string): Promise<void> {
  const name = basename(wheel);
  const machine = name.replace(`ziglang-${ZIG_VERSION}-py3-none-`, "").replace(".whl", "");
  const expected = WHEEL_HASHES[machine];
  if (expected === undefined) {
    throw new SetupError(`${name} isn't among the wheels that are pinned: ${Object.keys(WHEEL_HASHES).join(", ")}`);
  }
  await checkSha256(wheel, expected, name);
}
