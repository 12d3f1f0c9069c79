// The shared libraries: built once for each content of what goes into them, kept in the cache.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { produce, writeWhole } from "../setup/cache.ts";
import { linkTo } from "../setup/link.ts";
import { readPins, type SourcePin, type Upstream } from "../setup/sources.ts";
import { Verifier } from "../setup/verify.ts";
import { ZIG_VERSION } from "../setup/zig.ts";
import { SetupError } from "../support/errors.ts";
import { step } from "../support/progress.ts";
import { cpuFeatures, hostTarget, nativeVariants, readVariants, targetVariants } from "./cpu.ts";
import { describe, libraryFault, MANIFEST_NAME } from "./manifest.ts";
import { runZigBuild } from "./zig_build.ts";

/** The compiler, the sources and the folders of a build. */
export interface BuildTools {
  /** The source tree. */
  readonly root: string;
  readonly cache: string;
  /** The compiler's program. */
  readonly zig: string;
  readonly upstream: readonly Upstream[];
}

/** Options of {@linkcode ensureLibraries}. */
export interface LibraryOptions {
  /** The target (default: this machine's). */
  readonly target?: string | undefined;
  /** `native`, `all` or a list (default: `native`, for another architecture `all`). */
  readonly variants?: string | undefined;
  /** Options of build.zig: `["optimize=safe", …]`. */
  readonly settings?: readonly string[] | undefined;
  /** Knows the hashes of files that weren't touched since; without it every library is hashed. */
  readonly verifier?: Verifier | undefined;
  /** Whether `native/<target>` is linked to the libraries (default: yes). */
  readonly link?: boolean | undefined;
}

/** Builds the libraries of one target unless the cache has them whole, and links `native/<target>` to them. Returns their folder. */
export async function ensureLibraries(tools: BuildTools, options: LibraryOptions = {}): Promise<string> {
  const { root, cache, upstream } = tools;
  const target = options.target ?? hostTarget();
  const variants = await resolveVariants(tools, target, options.variants);
  const settings = options.settings ?? [];
  const pins = upstream.map(({ pin }) => pin);
  const folder = buildFolder(cache, target, await contentKey(root, pins, target, variants, settings));
  const verifier = options.verifier ?? await Verifier.open(cache, false);
  const build = (temporary: string): Promise<void> => buildLibraries(tools, { target, variants, settings }, temporary);
  const names = targetVariants(await readVariants(root), target).map(({ name }) => name);
  const wanted = { target, variants: variants === "all" ? names : variants.split(",") };
  await produce(folder, build, { fault: () => libraryFault(folder, wanted, verifier) });
  if (options.link ?? true) await linkTo(folder, join(root, "native", target));
  return folder;
}

async function buildLibraries(
  tools: BuildTools,
  { target, variants, settings }: { target: string; variants: string; settings: readonly string[] },
  temporary: string,
): Promise<void> {
  const title = `Building the libraries for ${target} (variants ${variants})`;
  await step(title, expectation(variants), async (report) => {
    const flags = [`-Dtarget=${target}`, `-Dvariants=${variants}`, ...settings.map((setting) => `-D${setting}`)];
    await runZigBuild({
      ...tools,
      files: ["csrc/sources.json", ...await zigFiles(tools.root, target)],
      args: [...flags, "--prefix", temporary],
      variantCount: variants.split(",").length,
      report,
    });
    for (const one of tools.upstream) await copyLicenses(one, join(temporary, "licenses"));
    const manifest = await describe(temporary, target, tools.upstream);
    await writeWhole(join(temporary, MANIFEST_NAME), `${JSON.stringify(manifest, null, 2)}\n`);
  });
}

/** The folder of a target's libraries that the cache has for this tree: those with all variants, else with the fewest; undefined if it has none. */
export async function cachedLibraries(root: string, cache: string, target: string): Promise<string | undefined> {
  const pins = Object.values(await readPins(root));
  const baseline = targetVariants(await readVariants(root), target)[0]?.name ?? "";
  for (const wanted of ["all", baseline]) {
    const folder = buildFolder(cache, target, await contentKey(root, pins, target, wanted, []));
    if (existsSync(folder)) return folder;
  }
  // Set-up keeps this machine's link up to date; another one may be of older sources.
  if (target !== hostTarget()) return undefined;
  const linked = join(root, "native", target);
  return existsSync(linked) ? await realpath(linked) : undefined;
}

function buildFolder(cache: string, target: string, key: string): string {
  return join(cache, "builds", `${target}-${key}`);
}

function expectation(variants: string): string {
  return variants === "all" || variants.split(",").length > 4
    ? "15 to 20 minutes on two cores the first time"
    : "5 to 8 minutes on two cores the first time";
}

/** `native` can be said of this machine's architecture only; another one gets all variants unless it is told which. */
async function resolveVariants(
  { root, cache, zig }: BuildTools,
  target: string,
  wanted: string | undefined,
): Promise<string> {
  const own = target.split("-")[0] === hostTarget().split("-")[0];
  const variants = wanted ?? (own ? "native" : "all");
  if (variants !== "native") return variants;
  if (!own) {
    throw new SetupError(`variants "native" means this machine's processor, and ${target} is of another architecture`);
  }
  return nativeVariants(await readVariants(root), target, await cpuFeatures(zig, cache)).join(",");
}

/** Whatever decides what comes out of the build is in the key; where the source tree lies is not. */
async function contentKey(
  root: string,
  pins: readonly SourcePin[],
  target: string,
  variants: string,
  settings: readonly string[],
): Promise<string> {
  const hash = createHash("sha256");
  const sources = pins.map((pin) => [pin.integrity, pin.commit ?? pin.folders, pin.licenseFiles]);
  hash.update(JSON.stringify([ZIG_VERSION, sources, target, variants, settings]));
  for (const file of await zigFiles(root, target)) hash.update(`\0${file}\0`).update(await readFile(join(root, file)));
  return hash.digest("hex").slice(0, 16);
}

/** All that `zig build` reads, but for upstream's sources and their pin. What a DLL exports is in the tables. */
async function zigFiles(root: string, target: string): Promise<string[]> {
  const inFolder = async (folder: string, pattern: RegExp): Promise<string[]> => {
    const names = await readdir(join(root, folder), { recursive: true });
    return names.filter((name) => pattern.test(name)).sort().map((name) => join(folder, name));
  };
  const tables = target.endsWith("windows") ? await inFolder(join("ffi", "tables"), /\.ts$/) : [];
  const own = await inFolder(join("csrc", "barrier"), /\.h$/);
  return ["build.zig", ...await inFolder("build", /\.(zig|json)$/), ...own, ...tables];
}

async function copyLicenses({ name, pin, sources }: Upstream, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const file of pin.licenseFiles) {
    await cp(join(sources, file), join(to, `${name.replace(/-.*/, "")}-${file.replaceAll("/", "-")}`));
  }
}
