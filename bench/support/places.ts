import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "../../ffi/runtime/cache_folder.ts";

/** The root of the source tree. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** The command of each runtime's own program: npm's wrapper scripts would be measured too. */
export const RUNTIMES: Readonly<Record<"deno" | "bun", readonly string[]>> = {
  deno: [program("node_modules/deno/deno", "deno"), "run", "-A"],
  bun: [program("node_modules/bun/bin/bun.exe", "bun")],
};

function program(inTree: string, name: string): string {
  const path = join(ROOT, inTree);
  return existsSync(path) ? path : name;
}

/** A folder of the bench's own in the cache, made if need be: what was built or fetched once stays there. */
export function benchFolder(name: string): string {
  const folder = join(cacheFolder(), "bench", name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Runs a program to its end, and shows what it said if it failed. */
export function runTool(
  command: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): string {
  const [file = "", ...args] = command;
  return execFileSync(file, args, {
    cwd: options.cwd ?? ROOT,
    env: { ...process.env, ...options.env },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 1 << 26,
  });
}
