import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readAst } from "./ast.ts";
import { Clang } from "./clang.ts";
import { headers, layoutTargets, MAIN_TARGET } from "./headers.ts";
import { compareLayouts, parseLayouts } from "./layout.ts";
import { parseMacros } from "./macros.ts";
import type { Api } from "./model.ts";

/** The checkout of llama.cpp that set-up makes. */
export const upstreamFolder: string = join(
  fileURLToPath(new URL("../..", import.meta.url)),
  "csrc",
  "upstream",
  "llama.cpp",
);

/** Everything that the headers under `root` say. Throws when a struct's layout differs between targets. */
export function readHeaders(zig: readonly string[], root: string): Api {
  const clang = new Clang(zig, root);
  try {
    const isBound = (header: string): boolean => headers.some((one) => one.name === header);
    const layouts = new Map(layoutTargets.map((target) => [target as string, parseLayouts(clang.layouts(target))]));
    const main = layouts.get(MAIN_TARGET)!;
    const api = readAst(clang.ast(MAIN_TARGET), main, isBound);
    const names = api.records.map((record) => record.name).filter((name) => main.has(name));
    for (const [target, other] of layouts) {
      const differences = compareLayouts(main, other, names);
      if (differences.length > 0) {
        throw new Error(`struct layouts differ between ${MAIN_TARGET} and ${target}:\n${differences.join("\n")}`);
      }
    }
    const macros = parseMacros(clang.macros(MAIN_TARGET), isBound);
    return { ...api, constants: [...api.constants, ...macros.constants], skippedMacros: macros.skipped };
  } finally {
    clang.dispose();
  }
}
