// Upstream's sources, as csrc/sources.json pins them: from a package of the registry, checked, unpacked once into the cache.
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SetupError } from "../support/errors.ts";
import { run } from "../support/exec.ts";
import { step, watchBytes } from "../support/progress.ts";
import { produce } from "./cache.ts";
import { filesOf } from "./tar.ts";

/** An entry of csrc/sources.json. */
export interface SourcePin {
  /** The npm package, and its version. */
  readonly package: string;
  readonly version: string;
  /** The tarball's hash, as package-lock.json has it. */
  readonly integrity: string;
  /** The tarball's size, for the progress. */
  readonly bytes: number;
  /** A git bundle inside the package, and its commit; else folders: from the package to the tree. */
  readonly gitBundle?: string;
  readonly commit?: string;
  readonly folders?: Readonly<Record<string, string>>;
  readonly license: string;
  readonly licenseFiles: readonly string[];
}

/** Upstream's sources in the cache. */
export interface Upstream {
  readonly name: string;
  readonly pin: SourcePin;
  /** Their folder. */
  readonly sources: string;
}

/** The pins, by the name of their folder in csrc/upstream/. */
export async function readPins(root: string): Promise<Record<string, SourcePin>> {
  return JSON.parse(await readFile(join(root, "csrc", "sources.json"), "utf8")) as Record<string, SourcePin>;
}

/** The cache's folder for a pin. Another pin is another folder. */
export function sourceFolder(
  cache: string,
  name: string,
  pin: Pick<SourcePin, "integrity" | "commit" | "folders"> & { readonly version?: string },
): string {
  const key = createHash("sha256").update(JSON.stringify([pin.integrity, pin.commit ?? pin.folders])).digest("hex");
  return join(cache, "sources", `${name}-${pin.commit?.slice(0, 7) ?? pin.version}-${key.slice(0, 12)}`);
}

/** Fetches the sources of a pin unless the cache has them, and returns their folder. */
export async function ensureSources(cache: string, name: string, pin: SourcePin): Promise<string> {
  const folder = sourceFolder(cache, name, pin);
  await produce(folder, (temporary) => fetchSources(name, pin, temporary));
  return folder;
}

async function fetchSources(name: string, pin: SourcePin, temporary: string): Promise<void> {
  const expectation = `${Math.round(pin.bytes / 1e6)} MB, usually under a minute`;
  await step(`Fetching ${name} (${pin.package} ${pin.version})`, expectation, async (report) => {
    await mkdir(temporary, { recursive: true });
    const work = await mkdtemp(join(temporary, "work-"));
    const tgz = await watchBytes(work, pin.bytes, report, () => fetchTarball(work, pin));
    checkIntegrity(tgz, pin);
    const tree = join(work, "tree");
    if (pin.gitBundle === undefined) await unpackFolders(tgz, pin, tree);
    else await cloneBundle(tgz, pin, work, tree);
    for (const entry of await readdir(tree)) await rename(join(tree, entry), join(temporary, entry));
    await rm(work, { recursive: true });
  });
}

/** Fetches the tarball of an npm package into `work` and returns its bytes. */
export async function fetchTarball(work: string, pin: { package: string; version: string }): Promise<Uint8Array> {
  // Its own cache folder: the growth of the download can be seen there, and nothing is left in the user's.
  const flags = ["--ignore-scripts", "--pack-destination", work, "--cache", join(work, "npm")];
  const name = `${pin.package}@${pin.version}`;
  await run("npm", ["pack", name, ...flags], { cwd: work, task: `fetching ${pin.package} ${pin.version}` });
  const file = (await readdir(work)).find((one) => one.endsWith(".tgz"));
  if (file === undefined) throw new SetupError(`npm pack ${name} left no tarball`);
  return await readFile(join(work, file));
}

/** Throws SetupError that names both values when the tarball isn't the pinned one. */
export function checkIntegrity(
  tgz: Uint8Array,
  pin: { package: string; version: string; integrity: string },
  pinnedIn = "csrc/sources.json",
): void {
  const [algorithm = ""] = pin.integrity.split("-", 1);
  const found = `${algorithm}-${createHash(algorithm).update(tgz).digest("base64")}`;
  if (found === pin.integrity) return;
  throw new SetupError(
    `${pin.package} ${pin.version} isn't what ${pinnedIn} pins.\n  pinned: ${pin.integrity}\n  came:   ${found}\n` +
      "Nothing was unpacked. If the pin was changed on purpose, give it the value that came.",
  );
}

/** Unpacks the files and folders of the package that `pin.folders` names, each to its place. */
async function unpackFolders(tgz: Uint8Array, pin: SourcePin, tree: string): Promise<void> {
  const folders = pin.folders ?? {};
  const missing = new Set(Object.keys(folders));
  for (const { path, bytes } of filesOf(tgz)) {
    const from = Object.keys(folders).find((one) => path === one || path.startsWith(`${one}/`));
    if (from === undefined || path.split("/").includes("..")) continue;
    const to = join(tree, folders[from] ?? "", path.slice(from.length));
    await mkdir(dirname(to), { recursive: true });
    await writeFile(to, bytes);
    missing.delete(from);
  }
  if (missing.size === 0) return;
  throw new SetupError(`${pin.package} ${pin.version} has no ${[...missing].join(", no ")}`);
}

async function cloneBundle(tgz: Uint8Array, pin: SourcePin, work: string, tree: string): Promise<void> {
  const bundle = join(work, "release.bundle");
  const found = [...filesOf(tgz)].find((file) => file.path === pin.gitBundle);
  if (found === undefined) throw new SetupError(`${pin.package} ${pin.version} has no file ${pin.gitBundle}`);
  await writeFile(bundle, found.bytes);
  const git = ["-c", "core.autocrlf=false", "-c", "advice.detachedHead=false"];
  await run("git", [...git, "clone", "--quiet", bundle, tree], { task: `unpacking ${pin.package}` });
  const commit = (await run("git", ["-C", tree, "rev-parse", "HEAD"])).trim();
  if (commit !== pin.commit) {
    throw new SetupError(
      `${pin.package} ${pin.version} holds another commit than csrc/sources.json pins.\n  pinned: ${pin.commit}\n  came:   ${commit}`,
    );
  }
  await rm(join(tree, ".git"), { recursive: true });
}
