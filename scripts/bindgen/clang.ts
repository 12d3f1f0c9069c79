import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { cacheFolder } from "../setup/cache.ts";
import { ensureZig } from "../setup/zig.ts";
import { headers, includeFolders } from "./headers.ts";

/** Zig's clang, over all headers at once. */
export class Clang {
  private readonly folder = mkdtempSync(join(tmpdir(), "bindgen-"));
  private readonly unit = join(this.folder, "all.c");

  /** `zig` is the command that starts Zig, `root` the upstream checkout, `more` C text behind the headers. */
  constructor(private readonly zig: readonly string[], private readonly root: string, more = "") {
    writeFileSync(this.unit, headers.map((header) => `#include "${header.name}"\n`).join("") + more);
  }

  /** The whole syntax tree, as clang's JSON. */
  ast(target: string): string {
    return this.run(target, ["-fsyntax-only", "-Xclang", "-ast-dump=json"]);
  }

  /** The layout of every struct and union. */
  layouts(target: string): string {
    return this.run(target, ["-fsyntax-only", "-Xclang", "-fdump-record-layouts-complete"]);
  }

  /** The preprocessed headers with their `#define` lines. */
  macros(target: string): string {
    return this.run(target, ["-E", "-dD"]);
  }

  /** Removes what was written. */
  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The lines that report an error, one for each. */
  errors(target: string): string[] {
    return this.start(target, ["-fsyntax-only", "-ferror-limit=0"]).errors;
  }

  private run(target: string, options: readonly string[]): string {
    const { stdout, stderr, errors } = this.start(target, options);
    if (errors.length > 0 || stdout === "") throw new Error(`zig cc failed for ${target}:\n${stderr}`);
    return stdout;
  }

  private start(target: string, options: readonly string[]): { stdout: string; stderr: string; errors: string[] } {
    const [command, ...before] = this.zig;
    const include = includeFolders.map((folder) => `-I${join(this.root, folder)}`);
    // Without -c Zig would first build a C library for the target, for a program that is never linked.
    const args = [...before, "cc", "-c", "-target", target, ...options, "-w", ...include, this.unit];
    const done = spawnSync(command!, args, { encoding: "utf8", maxBuffer: 1 << 29, cwd: this.folder });
    if (done.error !== undefined) throw new Error(`can't start ${command}: ${done.error.message}`);
    // Zig fails to move the object file that -fsyntax-only doesn't write; only errors of the C text count.
    const errors = done.stderr.split("\n").filter((line) => /error:/.test(line) && !/failed to rename/.test(line));
    return { stdout: done.stdout, stderr: done.stderr, errors };
  }
}

/** The command that starts Zig: `$ZIG`, or the one that set-up fetches. */
export async function findZig(): Promise<readonly string[]> {
  const given = process.env["ZIG"];
  if (given !== undefined && given !== "") return given.split(" ");
  return [await ensureZig(cacheFolder())];
}
