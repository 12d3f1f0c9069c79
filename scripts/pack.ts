// Makes the packages of this tree, for npm and JSR.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { packLibrary } from "./pack/library.ts";
import { stageJsr } from "./pack/jsr.ts";
import { packNative } from "./pack/native.ts";
import { builtTargets, packPlatform } from "./pack/platform.ts";
import { packageVersion } from "../base/version.ts";
import { runCommand } from "./support/command.ts";
import { SetupError } from "./support/errors.ts";
import { readJson } from "./pack/tools.ts";
import { ROOT } from "./support/root.ts";

const help =
  `Makes the packages of this tree: for npm the library, one with the native libraries for each target in native/, and one that brings those to programs that
import from JSR; for JSR a folder to publish. Prints their paths.

Usage: deno run -A scripts/pack.ts [options]

  --out FOLDER      where they are put (default: .tmp/packages)
  --native FOLDER   the built libraries, a folder per target (default: native)
  -h, --help        this text
`;

/** The package says its version in three places. */
function checkVersions(): void {
  const configs = ["deno.json", "package.json"].map((name) => readJson(join(ROOT, name))["version"]);
  if (configs.every((one) => one === packageVersion)) return;
  throw new SetupError(
    `the versions differ: deno.json and package.json have ${
      configs.join(" and ")
    }, base/version.ts has ${packageVersion}`,
  );
}

const options = { out: { type: "string" }, native: { type: "string" } } as const;

await runCommand({ help, options }, async (values) => {
  checkVersions();
  const out = resolve(values.out ?? join(ROOT, ".tmp", "packages"));
  const native = resolve(values.native ?? join(ROOT, "native"));
  mkdirSync(out, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), "ggml-ffi-pack-"));
  try {
    const platforms = builtTargets(native).map((target) => packPlatform(target, work, out));
    const made = [
      await packLibrary(platforms, work, out),
      ...platforms.map(({ tarball }) => tarball),
      packNative(platforms, work, out),
      await stageJsr(platforms, out),
    ];
    console.log(made.join("\n"));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
});
