// Which target this machine is, and which CPU variant is the best that it can run.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SetupError } from "./errors.mjs";
import { run } from "./exec.mjs";
import { host } from "./npm_packages.mjs";

/** The name in build/targets.zig of the machine that this runs on. */
export function hostTarget({ platform, arch, musl } = host()) {
  const cpu = { x64: "x86_64", arm64: "aarch64" }[arch];
  const system = { linux: musl ? "linux-musl" : "linux-gnu", darwin: "macos", win32: "windows" }[platform];
  if (cpu === undefined || system === undefined) {
    throw new SetupError(`there are no libraries for ${platform} on ${arch}`);
  }
  return `${cpu}-${system}`;
}

export async function readVariants(root) {
  return JSON.parse(await readFile(join(root, "build", "variants.json"), "utf8"));
}

/** What this machine's processor can do, in LLVM's names, as Zig sees it. */
export async function cpuFeatures(zig, cache) {
  const args = ["build-obj", "--show-builtin", "-target", "native"];
  const env = { ZIG_LOCAL_CACHE_DIR: join(cache, "zig-cache", "local") };
  return parseFeatures(await run(zig, args, { env, task: "asking for the processor" }));
}

/** The names between `featureSet(&.{` and `})` in what Zig prints. */
export function parseFeatures(builtin) {
  const list = /\.features = std\.Target\.\w+\.featureSet\(&\.\{([^}]*)\}\)/.exec(builtin)?.[1];
  if (list === undefined) throw new SetupError("Zig didn't say what this processor can do");
  return new Set(
    list.split(",").map((name) => name.trim().replace(/^\.@?"?/, "").replace(/"$/, "")).filter((name) => name !== ""),
  );
}

/**
 * The baseline, and the best variant for a processor with these features. The table is in the order of upstream's scores,
 * so that is the last one whose every feature the processor has.
 */
export function nativeVariants(table, target, features) {
  const [arch, system] = target.split("-");
  const entries = table.variants[arch === "x86_64" ? arch : `${arch}-${system}`];
  const has = (feature) => table.features[arch][feature].cpu.every((name) => features.has(name));
  const fitting = entries.filter((entry) => entry.features.split(" ").filter((f) => f !== "").every(has));
  return [...new Set([entries[0].name, fitting.at(-1)?.name ?? entries[0].name])];
}
