import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readAst } from "./bindgen/ast.ts";
import { Clang, findZig } from "./bindgen/clang.ts";
import { emitTables } from "./bindgen/emit.ts";
import { headers, layoutTargets, mainTarget } from "./bindgen/headers.ts";
import { compareLayouts, parseLayouts } from "./bindgen/layout.ts";
import { parseMacros } from "./bindgen/macros.ts";
import type { Api } from "./bindgen/model.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));

const help = `usage: deno run -A scripts/bindgen.ts [--check] [--upstream FOLDER] [--ast FILE]

Writes ffi/tables/ from the headers that csrc/sources.json pins.
  --check            write nothing; fail when the committed tables aren't what the headers give
  --upstream FOLDER  the checkout of llama.cpp (default: csrc/upstream/llama.cpp)
  --ast FILE         reuse the syntax tree in FILE, or write it there (it takes half a minute to make)
`;

/** Everything that the headers under `root` say; throws when a struct's layout differs between targets. */
export function readHeaders(root: string, astFile?: string): Api {
  const clang = new Clang(findZig(repository), root);
  try {
    const isBound = (header: string): boolean => headers.some((one) => one.name === header);
    const layouts = parseLayouts(clang.layouts(mainTarget));
    const ast = astFile !== undefined && existsSync(astFile) ? readFileSync(astFile, "utf8") : clang.ast(mainTarget);
    if (astFile !== undefined && !existsSync(astFile)) writeFileSync(astFile, ast);
    const api = readAst(ast, layouts, isBound);
    const names = api.records.map((record) => record.name).filter((name) => layouts.has(name));
    for (const target of layoutTargets) {
      if (target === mainTarget) continue;
      const differences = compareLayouts(layouts, parseLayouts(clang.layouts(target)), names);
      if (differences.length > 0) throw new Error(`struct layouts differ between ${mainTarget} and ${target}:\n${differences.join("\n")}`);
    }
    const macros = parseMacros(clang.macros(mainTarget), isBound);
    return { ...api, constants: [...api.constants, ...macros.constants], skippedMacros: macros.skipped };
  } finally {
    clang.dispose();
  }
}

function main(): number {
  const { values } = parseArgs({ options: { check: { type: "boolean" }, upstream: { type: "string" }, ast: { type: "string" }, help: { type: "boolean" } } });
  if (values.help === true) {
    process.stdout.write(help);
    return 0;
  }
  const api = readHeaders(values.upstream ?? join(repository, "csrc", "upstream", "llama.cpp"), values.ast);
  const files = emitTables(api);
  const folder = join(repository, "ffi", "tables");
  for (const macro of api.skippedMacros) console.error(`no constant: ${macro.name} (${macro.header}): ${macro.reason}`);
  console.error(`${api.functions.length} functions, ${api.records.length} structs, ${api.enums.length} enums, ${api.constants.length} constants`);
  if (values.check === true) return check(folder, files);
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (!files.has(name)) rmSync(join(folder, name));
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  return 0;
}

function check(folder: string, files: ReadonlyMap<string, string>): number {
  const wrong = [...files].filter(([name, text]) => !existsSync(join(folder, name)) || readFileSync(join(folder, name), "utf8") !== text).map(([name]) => name);
  wrong.push(...readdirSync(folder).filter((name) => !files.has(name)));
  if (wrong.length === 0) return 0;
  console.error(`ffi/tables isn't what the headers give: ${wrong.join(", ")}. Run scripts/bindgen.ts and commit the result.`);
  return 1;
}

if (import.meta.main) process.exitCode = main();
