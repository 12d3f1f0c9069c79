// The pin of another version of a package.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchTarball, readPins, type SourcePin } from "../setup/sources.ts";
import { filesOf } from "../setup/tar.ts";
import { SetupError, UsageError } from "../support/errors.ts";
import { run } from "../support/exec.ts";

/** Makes the pin of another version from what the registry says and the package holds. */
export async function pinVersion(root: string, name: string, version: string): Promise<SourcePin> {
  const pins = await readPins(root);
  const old = pins[name];
  if (old === undefined) {
    throw new UsageError(`csrc/sources.json has no ${name}; it has: ${Object.keys(pins).join(", ")}`);
  }
  const named = { package: old.package, version };
  const view = ["view", `${old.package}@${version}`, "dist.integrity", "--json"];
  const answer = (await run("npm", view, { cwd: root, task: `asking for ${old.package} ${version}` })).trim();
  if (answer === "") throw new SetupError(`the registry has no ${old.package} ${version}`);
  const work = await mkdtemp(join(tmpdir(), "ggml-ffi-upgrade-"));
  try {
    const tgz = await fetchTarball(work, named);
    return {
      ...old,
      ...named,
      integrity: JSON.parse(answer) as string,
      bytes: tgz.length,
      ...(old.gitBundle === undefined ? {} : { commit: await bundleCommit(tgz, old, work) }),
    };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function bundleCommit(tgz: Uint8Array, { gitBundle }: SourcePin, work: string): Promise<string> {
  const found = [...filesOf(tgz)].find(({ path }) => path === gitBundle);
  if (found === undefined) throw new SetupError(`the package has no ${gitBundle} any more`);
  const bundle = join(work, "release.bundle");
  await writeFile(bundle, found.bytes);
  const heads = await run("git", ["bundle", "list-heads", bundle], { task: "reading the package's git bundle" });
  const commit = /^([0-9a-f]{40}) HEAD$/m.exec(heads)?.[1] ?? /^([0-9a-f]{40}) /m.exec(heads)?.[1];
  if (commit === undefined) throw new SetupError(`${gitBundle} names no commit`);
  return commit;
}

/** Puts a pin into csrc/sources.json. */
export async function writePin(root: string, name: string, pin: SourcePin): Promise<void> {
  const path = join(root, "csrc", "sources.json");
  const pins = JSON.parse(await readFile(path, "utf8")) as Record<string, SourcePin>;
  await writeFile(path, `${JSON.stringify({ ...pins, [name]: pin }, null, 2)}\n`);
}
