// This machine's target, and the best CPU variant that it can run.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { host } from "../bootstrap/packages.mjs";
import { SetupError } from "../support/errors.ts";
import { run } from "../support/exec.ts";

/** The content of build/variants.json. */
export interface VariantTable {
  /** By architecture and upstream's name of a feature: LLVM's names. */
  readonly features: Readonly<Record<string, Readonly<Record<string, { readonly cpu: readonly string[] }>>>>;
  /** By architecture (or architecture and system), in the order of upstream's scores. */
  readonly variants: Readonly<Record<string, readonly { readonly name: string; readonly features: string }[]>>;
}

/** The name in build/targets.zig of the machine that this runs on. */
export function hostTarget(machine: { platform: string; arch: string; musl: boolean } = host()): string {
  const { platform, arch, musl } = machine;
  const cpus: Readonly<Record<string, string>> = { x64: "x86_64", arm64: "aarch64" };
  const systems: Readonly<Record<string, string>> = {
    linux: musl ? "linux-musl" : "linux-gnu",
    darwin: "macos",
    win32: "windows",
  };
  const [cpu, system] = [cpus[arch], systems[platform]];
  if (cpu === undefined || system === undefined) {
    throw new SetupError(`there are no libraries for ${platform} on ${arch}`);
  }
  return `${cpu}-${system}`;
}

export async function readVariants(root: string): Promise<VariantTable> {
  return JSON.parse(await readFile(join(root, "build", "variants.json"), "utf8")) as VariantTable;
}

/** The features of this machine's processor, in LLVM's names, as Zig sees it. */
export async function cpuFeatures(zig: string, cache: string): Promise<Set<string>> {
  const args = ["build-obj", "--show-builtin", "-target", "native"];
  const env = { ZIG_LOCAL_CACHE_DIR: join(cache, "zig-cache", "local") };
  return parseFeatures(await run(zig, args, { env, task: "asking for the processor" }));
}

/** The names between `featureSet(&.{` and `})` in Zig's output. */
export function parseFeatures(builtin: string): Set<string> {
  const list = /\.features = std\.Target\.\w+\.featureSet\(&\.\{([^}]*)\}\)/.exec(builtin)?.[1];
  if (list === undefined) throw new SetupError("Zig didn't say what this processor can do");
  const names = list.split(",").map((name) => name.trim().replace(/^\.@?"?/, "").replace(/"$/, ""));
  return new Set(names.filter((name) => name !== ""));
}

/** The CPU variants of a target, the baseline first. */
export function targetVariants(table: VariantTable, target: string): VariantTable["variants"][string] {
  const [arch = "", system = ""] = target.split("-");
  const entries = table.variants[arch === "x86_64" ? arch : `${arch}-${system}`];
  if (entries === undefined) throw new SetupError(`build/variants.json has no variants for ${target}`);
  return entries;
}

/**
 * The baseline, and the best variant for a processor with these features. The table is in the order of upstream's scores,
 * so that is the last one whose every feature the processor has.
 */
export function nativeVariants(table: VariantTable, target: string, features: ReadonlySet<string>): string[] {
  const known = table.features[target.split("-")[0] ?? ""] ?? {};
  const entries = targetVariants(table, target);
  const has = (feature: string): boolean => known[feature]?.cpu.every((name) => features.has(name)) === true;
  const fitting = entries.filter((entry) => entry.features.split(" ").filter((f) => f !== "").every(has));
  const baseline = entries[0]?.name ?? "";
  return [...new Set([baseline, fitting.at(-1)?.name ?? baseline])];
}
