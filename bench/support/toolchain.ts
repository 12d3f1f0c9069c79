import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { cacheFolder } from "../../ffi/runtime/cache_folder.ts";
import { ensureZig } from "../../scripts/setup/zig.ts";
import { ROOT } from "./places.ts";

/** The upstream headers that set-up fetched. */
export function headerFolders(): string[] {
  const upstream = join(ROOT, "csrc", "upstream", "llama.cpp");
  if (!existsSync(upstream)) throw new Error("upstream's sources aren't there: run `npm run setup`");
  return [join(upstream, "include"), join(upstream, "ggml", "include")];
}

/** The command that starts Zig: `$ZIG`, or the one that set-up fetches. */
export async function zigCommand(): Promise<readonly string[]> {
  const given = process.env["ZIG"];
  return given ? given.split(" ") : [await ensureZig(cacheFolder())];
}
