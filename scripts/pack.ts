// Makes the npm packages of this tree.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { packLibrary } from "./pack/library.ts";
import { builtTargets, packPlatform } from "./pack/platform.ts";
import { runCommand } from "./support/command.ts";
import { ROOT } from "./support/root.ts";

const help =
  `Makes the npm packages of this tree: the library, and one with the built native libraries for each target in native/. Prints their tarballs.

Usage: deno run -A scripts/pack.ts [options]

  --out FOLDER      where the tarballs are put (default: .tmp/packages)
  --native FOLDER   the built libraries, a folder per target (default: native)
  -h, --help        this text
`;

const options = { out: { type: "string" }, native: { type: "string" } } as const;

await runCommand({ help, options }, async (values) => {
  const out = resolve(values.out ?? join(ROOT, ".tmp", "packages"));
  const native = resolve(values.native ?? join(ROOT, "native"));
  mkdirSync(out, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), "ggml-ffi-pack-"));
  try {
    const platforms = builtTargets(native).map((target) => packPlatform(target, work, out));
    console.log([await packLibrary(platforms, work, out), ...platforms.map(({ tarball }) => tarball)].join("\n"));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
});
