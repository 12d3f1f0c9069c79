import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "./places.ts";

/** The upstream headers that set-up brought. */
export function headerFolders(): string[] {
  const upstream = join(ROOT, "csrc", "upstream", "llama.cpp");
  if (!existsSync(upstream)) throw new Error("upstream's sources aren't there: run `npm run setup`");
  return [join(upstream, "include"), join(upstream, "ggml", "include")];
}

/** The command that starts Zig: `$ZIG`, the one that set-up brought, or `zig` on the path. */
export function zigCommand(): readonly string[] {
  const given = process.env["ZIG"];
  if (given) return given.split(" ");
  const brought = join(ROOT, ".tools", "zig", "zig");
  return existsSync(brought) ? [brought] : ["zig"];
}
