import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type LibraryFile, type LibrarySet, locateLibraries } from "../../ffi/library/locate.ts";

/** What a child process did. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a module of this folder in this runtime; in Deno with these permissions. */
export function runModule(
  name: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  permissions: readonly string[] = ["-A"],
): Promise<Ended> {
  const path = fileURLToPath(new URL(name, import.meta.url));
  const before = "deno" in process.versions ? ["run", "--no-prompt", ...permissions] : [];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...before, path, ...args], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text);
    child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text);
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** A folder that is removed at the end of the block. */
export class TemporaryFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "ggml-ffi-test-"));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
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
