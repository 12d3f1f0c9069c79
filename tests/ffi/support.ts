import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { locateLibraries } from "../../ffi/library/locate.ts";
import type { LibraryFile, LibrarySet } from "../../ffi/library/manifest.ts";
import { type Finished, moduleCommand, runProgram, runtime } from "../support/program.ts";

export { TemporaryFolder } from "../support/temporary_folder.ts";

/** Runs a module of this folder in this runtime; in Deno with these permissions. */
export function runModule(
  name: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  permissions: readonly string[] = ["-A"],
): Promise<Finished> {
  return runProgram(moduleCommand(`tests/ffi/${name}`, args, runtime, permissions), { env });
}

type Change = (manifest: Record<string, unknown> & { files: (LibraryFile & Record<string, unknown>)[] }) => void;

/** Puts the built libraries, or links to them, into a folder beside a manifest that `change` has changed. */
export function librariesIn(folder: string, change: Change = () => {}, copy = false): LibrarySet {
  const set = locateLibraries();
  for (const { name } of set.files) {
    if (copy) cpSync(join(set.directory, name), join(folder, name));
    else symlinkSync(join(set.directory, name), join(folder, name));
  }
  const manifest = JSON.parse(readFileSync(join(set.directory, "manifest.json"), "utf8")) as Parameters<Change>[0];
  change(manifest);
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  return set;
}
