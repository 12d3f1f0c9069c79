import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** How a child ended, and what it wrote. */
export interface ChildEnd {
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a module of this folder in a process and a working directory of its own, with a garbage collector that can be called. Large blocks of memory go back to
 * the system when they are freed, so that the size of the process tells what is in use.
 */
export function runChild(file: string, ...args: readonly string[]): ChildEnd {
  const child = fileURLToPath(new URL(file, import.meta.url));
  const run = "deno" in process.versions
    ? ["run", "-A", "--no-check", "--v8-flags=--expose-gc", child, ...args]
    : [child, ...args];
  const folder = mkdtempSync(join(tmpdir(), "ggml-child-"));
  try {
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, run, {
      cwd: folder,
      env: { ...process.env, MALLOC_MMAP_THRESHOLD_: String(1 << 20) },
      encoding: "utf8",
      timeout: 120_000,
      maxBuffer: 1 << 28,
    });
    return { status, signal, stdout, stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
