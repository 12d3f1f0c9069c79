// The shared libraries: built once for each content of what goes into them, kept in the cache.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { produce, writeWhole } from "./cache.mjs";
import { cpuFeatures, hostTarget, nativeVariants, readVariants } from "./cpu.mjs";
import { SetupError } from "./errors.mjs";
import { linkTo } from "./link.mjs";
import { describe, manifestName } from "./manifest.mjs";
import { step } from "./progress.mjs";
import { readPins } from "./sources.mjs";
import { zigVersion } from "./zig.mjs";
import { runZigBuild } from "./zig_build.mjs";

/**
 * Builds the libraries of one target unless the cache has them, and links `native/<target>` to them. Returns their folder.
 * `options`: target, variants ("native", "all" or a list), what is handed to build.zig as it is (`["optimize=safe", …]`), and whether `native/<target>` shall
 * be linked to them (default: yes).
 */
export async function bringLibraries({ root, cache, zig, upstream }, options = {}) {
  const target = options.target ?? hostTarget();
  const variants = await resolveVariants({ root, cache, zig }, target, options.variants);
  const settings = options.settings ?? [];
  const pins = upstream.map(({ pin }) => pin);
  const key = await contentKey(root, pins, target, variants, settings);
  const folder = buildFolder(cache, target, key);
  await produce(
    folder,
    (temporary) =>
      step(`Building the libraries for ${target} (variants ${variants})`, expectation(variants), async (report) => {
        const args = [
          `-Dtarget=${target}`,
          `-Dvariants=${variants}`,
          ...settings.map((s) => `-D${s}`),
          "--prefix",
          temporary,
        ];
        const files = ["csrc/sources.json", ...await zigFiles(root, target)];
        const variantCount = variants.split(",").length;
        await runZigBuild({ root, cache, zig, upstream, files, args, variantCount, report });
        for (const one of upstream) await copyLicenses(one, join(temporary, "licenses"));
        const manifest = await describe(temporary, target, upstream);
        await writeWhole(join(temporary, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
      }),
  );
  if (options.link ?? true) await linkTo(folder, join(root, "native", target));
  return folder;
}

/** The folder of a target's libraries that the cache has for this tree: those with all variants, else with the fewest; undefined if it has none. */
export async function cachedLibraries(root, cache, target) {
  const pins = Object.values(await readPins(root));
  const { variants } = await readVariants(root);
  const [arch, system] = target.split("-");
  const baseline = variants[arch === "x86_64" ? arch : `${arch}-${system}`][0].name;
  for (const wanted of ["all", baseline]) {
    const folder = buildFolder(cache, target, await contentKey(root, pins, target, wanted, []));
    if (existsSync(folder)) return folder;
  }
  // Set-up keeps this machine's link up to date; another one may be of older sources.
  if (target !== hostTarget()) return undefined;
  const linked = join(root, "native", target);
  return existsSync(linked) ? await realpath(linked) : undefined;
}

function buildFolder(cache, target, key) {
  return join(cache, "builds", `${target}-${key}`);
}

function expectation(variants) {
  return variants === "all" || variants.split(",").length > 4
    ? "15 to 20 minutes on two cores the first time"
    : "5 to 8 minutes on two cores the first time";
}

/** `native` can be said of this machine's architecture only; another one gets all variants unless it is told which. */
async function resolveVariants({ root, cache, zig }, target, wanted) {
  const own = target.split("-")[0] === hostTarget().split("-")[0];
  const variants = wanted ?? (own ? "native" : "all");
  if (variants !== "native") return variants;
  if (!own) {
    throw new SetupError(`variants "native" means this machine's processor, and ${target} is of another architecture`);
  }
  return nativeVariants(await readVariants(root), target, await cpuFeatures(zig, cache)).join(",");
}

/** Whatever decides what comes out of the build is in the key; where the source tree lies is not. */
async function contentKey(root, pins, target, variants, settings) {
  const hash = createHash("sha256");
  const sources = pins.map((
    { integrity, commit, folders, licenseFiles },
  ) => [integrity, commit ?? folders, licenseFiles]);
  hash.update(JSON.stringify([zigVersion, sources, target, variants, settings]));
  for (const file of await zigFiles(root, target)) hash.update(`\0${file}\0`).update(await readFile(join(root, file)));
  return hash.digest("hex").slice(0, 16);
}

/** All that `zig build` reads, but for upstream's sources and their pin. What a DLL exports is in the tables. */
async function zigFiles(root, target) {
  const inFolder = async (folder, pattern) =>
    (await readdir(join(root, folder), { recursive: true })).filter((name) => pattern.test(name)).sort()
      .map((name) => join(folder, name));
  const tables = target.endsWith("windows") ? await inFolder(join("ffi", "tables"), /\.ts$/) : [];
  return ["build.zig", ...await inFolder("build", /\.(zig|json)$/), ...tables];
}

async function copyLicenses({ name, pin, sources }, to) {
  await mkdir(to, { recursive: true });
  for (const file of pin.licenseFiles) {
    await cp(join(sources, file), join(to, `${name.replace(/-.*/, "")}-${file.replaceAll("/", "-")}`));
  }
}
