import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/root.ts";
import { copyLegal, npmPack, readJson, writeJson } from "./tools.ts";

/** A package with the native libraries of one target. */
export interface PlatformPackage {
  /** Its npm name. */
  name: string;
  /** Its version, the library's own. */
  version: string;
  /** The path of its tarball. */
  tarball: string;
  /** The target, such as `x86_64-linux-gnu`. */
  target: string;
  /** Its manifest.json. */
  manifest: Uint8Array;
}

const SYSTEMS: Readonly<Record<string, string>> = { linux: "linux", macos: "darwin", windows: "win32" };
const PROCESSORS: Readonly<Record<string, string>> = { x86_64: "x64", aarch64: "arm64" };
const C_LIBRARIES: Readonly<Record<string, string>> = { gnu: "glibc", musl: "musl" };

/** The targets of a release: those of build/targets.zig. */
export const TARGETS = ["linux-gnu", "linux-musl", "macos", "windows"].flatMap((system) =>
  Object.keys(PROCESSORS).map((processor) => `${processor}-${system}`)
);

/** The folder of a target's libraries. */
export interface BuiltTarget {
  readonly target: string;
  readonly folder: string;
}

/** The targets that were built: those with a manifest. */
export function builtTargets(native: string): BuiltTarget[] {
  const names = existsSync(native) ? readdirSync(native) : [];
  const built = names.map((target) => ({ target, folder: join(native, target) }))
    .filter(({ folder }) => existsSync(join(folder, "manifest.json")));
  if (built.length === 0) throw new Error(`${native} holds no built libraries; run "npm run setup" first`);
  return built;
}

/** Makes the package of one target: its libraries, their manifest and their licenses. */
export function packPlatform({ target, folder }: BuiltTarget, work: string, out: string): PlatformPackage {
  const { name, ...limits } = describeTarget(target);
  const { version, license } = readJson(join(ROOT, "deno.json")) as { version: string; license: string };
  const { repository } = readJson(join(ROOT, "package.json"));
  const staged = join(work, target);
  mkdirSync(staged);
  cpSync(realpathSync(folder), staged, { recursive: true, dereference: true });
  if (!existsSync(join(staged, "licenses"))) throw new Error(`${folder} has no upstream licenses`);
  copyLegal(staged);
  writeJson(join(staged, "package.json"), {
    name,
    version,
    license,
    description: `The native libraries of @ggml-ffi/ggml-ffi for ${target}`,
    repository,
    ...limits,
  });
  const manifest = readFileSync(join(staged, "manifest.json"));
  return { name, version, tarball: npmPack(staged, out), target, manifest };
}

/** `x86_64-linux-gnu` as npm says it. */
function describeTarget(target: string): { name: string; os: string[]; cpu: string[]; libc?: string[] } {
  const [processor = "", system = "", abi = ""] = target.split("-");
  const os = SYSTEMS[system];
  const cpu = PROCESSORS[processor];
  if (os === undefined || cpu === undefined) {
    throw new Error(`the target "${target}" has no npm name; add it to ${import.meta.url}`);
  }
  if (os !== "linux") return { name: `@ggml-ffi/${os}-${cpu}`, os: [os], cpu: [cpu] };
  return { name: `@ggml-ffi/${os}-${cpu}-${abi}`, os: [os], cpu: [cpu], libc: [C_LIBRARIES[abi] ?? abi] };
}
