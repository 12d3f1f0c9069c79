import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NATIVE_PACKAGE } from "./native.ts";
import { readJson, writeJson } from "./tools.ts";

/** Makes the folder to run `deno publish` in out of the staged sources, and gives its path. */
export function stageJsr(sources: string, out: string): string {
  const staged = join(out, "jsr");
  rmSync(staged, { recursive: true, force: true });
  cpSync(sources, staged, { recursive: true });
  const path = join(staged, "deno.json");
  const { name, version, license, exports, compilerOptions } = readJson(path);
  writeJson(path, {
    name,
    version,
    license,
    exports: { ...exports as object, "./cli": "./cli/main.ts" },
    compilerOptions,
  });
  importNative(staged, String(version));
  return staged;
}

/** A static import, which Deno installs, locks, caches and vendors with the rest; a computed one fails in half of those cases. */
function importNative(staged: string, version: string): void {
  const path = join(staged, "ffi", "library", "platform_packages.ts");
  const source = readFileSync(path, "utf8");
  const made = source.replace("Promise.resolve(undefined)", `import("npm:${NATIVE_PACKAGE}@${version}")`);
  if (made === source) throw new Error(`${path} has no place for the import`);
  writeFileSync(
    path,
    `${made}
/** Never called: with it, modules that are started by their address are fetched, locked and vendored like all others. */
export const startedModules = (): Promise<unknown>[] => [
  import("../thread/entry.ts"),
  import("../../lib/worker/entry.ts"),
  import("../../lib/ggml/rpc/server_process.ts"),
];
`,
  );
}
