/**
 * Makes the npm packages of this tree: the library, and one with the built native libraries for each target in `native/`.
 *
 *   deno run -A scripts/pack.ts [--out FOLDER] [--native FOLDER]
 *
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { packLibrary } from "./pack/library.ts";
import { builtTargets, packPlatform } from "./pack/platform.ts";
import { ROOT } from "./pack/tools.ts";

const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(ROOT, ".tmp", "packages") },
    native: { type: "string", default: join(ROOT, "native") },
  },
});
const out = resolve(values.out);
mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "ggml-ffi-pack-"));
try {
  const platforms = builtTargets(resolve(values.native)).map((target) => packPlatform(target, work, out));
  console.log([await packLibrary(platforms, work, out), ...platforms.map(({ tarball }) => tarball)].join("\n"));
} finally {
  rmSync(work, { recursive: true, force: true });
}
