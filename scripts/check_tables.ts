import process from "node:process";
import { open } from "../ffi/open.ts";
import { findZig } from "./bindgen/clang.ts";
import { readHeaders, upstreamFolder } from "./bindgen/read.ts";
import { checkDefaults } from "./check_tables/defaults.ts";
import { checkWithClang } from "./check_tables/layouts.ts";
import { checkLowering } from "./check_tables/lowering.ts";
import type { Report } from "./check_tables/report.ts";
import { checkSymbols } from "./check_tables/symbols.ts";
import { runCommand } from "./support/command.ts";

const help =
  `Compares ffi/tables/ with the built libraries and the pinned headers, in the runtime that runs it: exported symbols, calls, struct layouts
on six targets, default parameters. Ends with 1 when anything differs.

Usage: deno run -A scripts/check_tables.ts [options]
       bun scripts/check_tables.ts [options]

  --upstream FOLDER   the checkout of llama.cpp (default: csrc/upstream/llama.cpp)
  -h, --help          this text
`;

async function main(root: string): Promise<number> {
  const zig = await findZig();
  const api = readHeaders(zig, root);
  const native = await open();
  const parts: readonly (readonly [string, Report])[] = [
    ["Exported symbols", checkSymbols(native.set, api, root)],
    ["Calls", checkLowering(native)],
    ["Struct layouts, enums and macros", checkWithClang(zig, root, api)],
    ["Default parameters", checkDefaults(native, api)],
  ];
  const problems = parts.flatMap(([, report]) => report.problems);
  for (const [title, report] of parts) {
    process.stdout.write(`${title}\n${report.lines.map((line) => `  ${line}\n`).join("")}\n`);
  }
  for (const problem of problems) process.stdout.write(`WRONG: ${problem}\n`);
  process.stdout.write(problems.length === 0 ? "All agrees.\n" : `${problems.length} problems.\n`);
  return problems.length === 0 ? 0 : 1;
}

await runCommand(
  { help, options: { upstream: { type: "string" } } },
  ({ upstream }) => main(upstream ?? upstreamFolder),
);
