import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkAnnotations } from "./bindgen/annotation_check.ts";
import { findZig } from "./bindgen/clang.ts";
import { BANNER, emitTables } from "./bindgen/emit.ts";
import { readHeaders, upstreamFolder } from "./bindgen/read.ts";
import { readVersions } from "./bindgen/versions.ts";
import { runCommand, type Values } from "./support/command.ts";
import { ROOT } from "./support/root.ts";

const help = `Writes ffi/tables/ from the headers that csrc/sources.json pins.

Usage: deno run -A scripts/bindgen.ts [options]

  --check             write nothing; fail when the committed tables differ from what the headers give
  --defaults          write only ffi/tables/defaults.ts, from the built libraries
  --upstream FOLDER   the checkout of llama.cpp (default: csrc/upstream/llama.cpp)
  -h, --help          this text
`;

const options = {
  check: { type: "boolean" },
  defaults: { type: "boolean" },
  upstream: { type: "string" },
} as const;

/** The file that comes from the libraries, not from the headers. */
const FROM_LIBRARIES = "defaults.ts";

async function main(values: Values<typeof options>): Promise<number> {
  const folder = join(ROOT, "ffi", "tables");
  if (values.defaults === true) {
    // Imported here alone: the tables needn't be there to be made.
    const { open } = await import("../ffi/open.ts");
    const { defaultsRules, emitDefaults, readDefaults } = await import("./bindgen/defaults.ts");
    const native = await open();
    const read = defaultsRules.map((rule) => readDefaults(native, rule));
    writeFileSync(join(folder, FROM_LIBRARIES), emitDefaults(BANNER, read));
    return 0;
  }
  const root = values.upstream ?? upstreamFolder;
  const api = readHeaders(await findZig(), root);
  const problems = checkAnnotations(api);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) return 1;
  const files = emitTables(api, readVersions(root));
  for (const macro of api.skippedMacros) console.error(`no constant: ${macro.name} (${macro.header}): ${macro.reason}`);
  console.error(
    `${api.functions.length} functions, ${api.records.length} structs, ${api.enums.length} enums, ${api.constants.length} constants`,
  );
  if (values.check === true) return check(folder, files);
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (!files.has(name) && name !== FROM_LIBRARIES) rmSync(join(folder, name));
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  return 0;
}

function check(folder: string, files: ReadonlyMap<string, string>): number {
  const wrong = [...files].filter(([name, text]) =>
    !existsSync(join(folder, name)) || readFileSync(join(folder, name), "utf8") !== text
  ).map(([name]) => name);
  wrong.push(...readdirSync(folder).filter((name) => !files.has(name) && name !== FROM_LIBRARIES));
  if (wrong.length === 0) return 0;
  console.error(
    `ffi/tables isn't what the headers give: ${wrong.join(", ")}. Run scripts/bindgen.ts and commit the result.`,
  );
  return 1;
}

await runCommand({ help, options }, main);
