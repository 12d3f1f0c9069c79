import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/root.ts";
import type { PlatformPackage } from "./platform.ts";
import { copyLegal, npmPack, readJson, writeJson } from "./tools.ts";

/** The npm package that the JSR copy imports. */
export const NATIVE_PACKAGE = "@ggml-ffi/native";

const DOC = "/** The URL of this module: from here the platform packages can be resolved. */\n";

/** Makes the npm package that brings the platform packages to those who import from JSR, and gives its tarball's path. */
export function packNative(platforms: readonly PlatformPackage[], work: string, out: string): string {
  const { version, license } = readJson(join(ROOT, "deno.json"));
  const { repository } = readJson(join(ROOT, "package.json"));
  const staged = join(work, "native");
  mkdirSync(staged);
  copyLegal(staged);
  writeFileSync(
    join(staged, "README.md"),
    "# @ggml-ffi/native\n\nBrings the native libraries of @ggml-ffi/ggml-ffi; not a package to import.\n",
  );
  writeFileSync(join(staged, "index.js"), `${DOC}export const url = import.meta.url;\n`);
  writeFileSync(join(staged, "index.d.ts"), `${DOC}export declare const url: string;\n`);
  writeJson(join(staged, "package.json"), {
    name: NATIVE_PACKAGE,
    version,
    license,
    repository,
    type: "module",
    description: "The native libraries of @ggml-ffi/ggml-ffi for the machine that it is installed on",
    exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
    optionalDependencies: Object.fromEntries(platforms.map((one) => [one.name, one.version])),
  });
  return npmPack(staged, out);
}
