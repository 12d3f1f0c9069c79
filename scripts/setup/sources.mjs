// Upstream's sources, as csrc/sources.json pins them: from a package of the registry, checked, unpacked once into the cache.
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { produce } from "./cache.mjs";
import { SetupError } from "./errors.mjs";
import { run } from "./exec.mjs";
import { step, watchBytes } from "./progress.mjs";
import { filesOf } from "./tar.mjs";

export async function readPins(root) {
  return JSON.parse(await readFile(join(root, "csrc", "sources.json"), "utf8"));
}

/** The folder in the cache that holds what `pin` names. Another pin is another folder. */
export function sourceFolder(cache, name, pin) {
  const key = createHash("sha256").update(JSON.stringify([pin.integrity, pin.commit ?? pin.folders])).digest("hex");
  return join(cache, "sources", `${name}-${pin.commit?.slice(0, 7) ?? pin.version}-${key.slice(0, 12)}`);
}

/** Brings the sources of one pin into the cache unless they are there, and returns their folder. */
export async function bringSources(cache, name, pin) {
  const folder = sourceFolder(cache, name, pin);
  await produce(folder, (temporary) =>
    step(
      `Fetching ${name} (${pin.package} ${pin.version})`,
      `${Math.round(pin.bytes / 1e6)} MB, usually under a minute`,
      async (report) => {
        await mkdir(temporary, { recursive: true });
        const work = await mkdtemp(join(temporary, "work-"));
        const tgz = await watchBytes(work, pin.bytes, report, () => fetchTarball(work, pin));
        checkIntegrity(tgz, pin);
        const tree = join(work, "tree");
        if (pin.gitBundle === undefined) await unpackFolders(tgz, pin, tree);
        else await cloneBundle(tgz, pin, work, tree);
        for (const entry of await readdir(tree)) await rename(join(tree, entry), join(temporary, entry));
        await rm(work, { recursive: true });
      },
    ));
  return folder;
}

async function fetchTarball(work, pin) {
  // Its own cache folder: the growth of the download can be seen there, and nothing is left in the user's.
  const args = [
    "pack",
    `${pin.package}@${pin.version}`,
    "--ignore-scripts",
    "--pack-destination",
    work,
    "--cache",
    join(work, "npm"),
  ];
  await run("npm", args, { cwd: work, task: `fetching ${pin.package} ${pin.version}` });
  const name = (await readdir(work)).find((file) => file.endsWith(".tgz"));
  if (name === undefined) throw new SetupError(`npm pack ${pin.package}@${pin.version} left no tarball`);
  return await readFile(join(work, name));
}

/** Throws an error that names both values when the tarball isn't the pinned one. */
export function checkIntegrity(tgz, pin) {
  const [algorithm] = pin.integrity.split("-", 1);
  const found = `${algorithm}-${createHash(algorithm).update(tgz).digest("base64")}`;
  if (found !== pin.integrity) {
    throw new SetupError(
      `${pin.package} ${pin.version} isn't what csrc/sources.json pins.\n  pinned: ${pin.integrity}\n  came:   ${found}\n` +
        "Nothing was unpacked. If the pin was changed on purpose, give it the value that came.",
    );
  }
}

/** Unpacks the files and folders of the package that `pin.folders` names, each to its place. */
async function unpackFolders(tgz, pin, tree) {
  const missing = new Set(Object.keys(pin.folders));
  for (const { path, bytes } of filesOf(tgz)) {
    const from = Object.keys(pin.folders).find((one) => path === one || path.startsWith(`${one}/`));
    if (from === undefined || path.split("/").includes("..")) continue;
    const place = join(tree, pin.folders[from], path.slice(from.length));
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, bytes);
    missing.delete(from);
  }
  if (missing.size === 0) return;
  throw new SetupError(`${pin.package} ${pin.version} has no ${[...missing].join(", no ")}`);
}

async function cloneBundle(tgz, pin, work, tree) {
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
