// Makes the packages of this tree, for npm and JSR.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { packLibrary } from "./pack/library.ts";
import { stageJsr } from "./pack/jsr.ts";
import { packNative } from "./pack/native.ts";
import { stageSources } from "./pack/stage.ts";
import { type BuiltTarget, builtTargets, packPlatform, TARGETS } from "./pack/platform.ts";
import { checkVersions } from "./pack/versions.ts";
import { ensureLibraries } from "./build/libraries.ts";
import { ensureTools } from "./setup/setup.ts";
import { runCommand } from "./support/command.ts";
import { ROOT } from "./support/root.ts";

const help =
  `Makes the packages of this tree: for npm the library, one with the native libraries for each target in native/, and one that brings those to programs that
import from JSR; for JSR a folder to publish. Prints their paths.

Usage: npm run pack -- [options]

  --all             a release: builds the libraries of all targets with all CPU variants first, as far as the cache lacks them (about an hour on two cores)
  --out FOLDER      where they are put (default: .tmp/packages)
  --native FOLDER   the built libraries, a folder per target (default: native)
  -h, --help        this text
`;

const options = { all: { type: "boolean" }, out: { type: "string" }, native: { type: "string" } } as const;

await runCommand({ help, options }, async (values) => {
  checkVersions(values.all === true);
  const out = resolve(values.out ?? join(ROOT, ".tmp", "packages"));
  const native = resolve(values.native ?? join(ROOT, "native"));
  mkdirSync(out, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), "ggml-ffi-pack-"));
  try {
    const built = values.all === true ? await buildAll() : builtTargets(native);
    const platforms = built.map((target) => packPlatform(target, work, out));
    const sources = join(work, "sources");
    await stageSources(platforms, sources);
    const made = [
      await packLibrary(platforms, sources, work, out),
      ...platforms.map(({ tarball }) => tarball),
      packNative(platforms, work, out),
      stageJsr(sources, out),
    ];
    console.log(made.join("\n"));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
});

/** Builds what the cache lacks of a release. */
async function buildAll(): Promise<BuiltTarget[]> {
  const tools = await ensureTools();
  const built: BuiltTarget[] = [];
  for (const target of TARGETS) {
    built.push({ target, folder: await ensureLibraries(tools, { target, variants: "all", link: false }) });
  }
  return built;
}
