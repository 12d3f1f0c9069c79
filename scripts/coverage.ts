// npm run coverage: line and branch coverage by folder.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { denoProgram } from "./bootstrap/packages.mjs";
import { coverageByFolder, coverageTable } from "./coverage/lcov.ts";
import { setup } from "./setup/setup.ts";
import { runCommand } from "./support/command.ts";
import { SetupError } from "./support/errors.ts";
import { capture, run } from "./support/exec.ts";
import { ROOT } from "./support/root.ts";

const LIMIT_MS = 60 * 60_000;
const SOURCES = ["mod.ts", "base/", "ffi/", "lib/", "cli/"];

const help =
  `Runs the tests in Deno with coverage and prints the lines and branches of each folder of the library that ran.

Usage: npm run coverage -- [options] [TEST…]

  --data FOLDER   no tests: the data that \`deno test --coverage=FOLDER\` left
  --root FOLDER   the tree that the data is of (default: this one)
  --depth N       how many parts of a path make a folder (default: 2)
  -h, --help      this text
`;

const options = { data: { type: "string" }, root: { type: "string" }, depth: { type: "string" } } as const;

await runCommand({ help, options, allowPositionals: true }, async (values, tests) => {
  const root = resolve(values.root ?? ROOT);
  const made = values.data === undefined ? mkdtempSync(join(tmpdir(), "ggml-ffi-coverage-")) : undefined;
  try {
    const data = values.data ?? await runTests(made ?? "", tests);
    process.stdout.write(coverageTable(coverageByFolder(await lcovOf(data, root), root, Number(values.depth ?? 2))));
  } finally {
    if (made !== undefined) rmSync(made, { recursive: true });
  }
});

async function runTests(data: string, tests: readonly string[]): Promise<string> {
  await setup();
  const wanted = tests.length > 0 ? tests : ["tests"];
  const command = [denoProgram(ROOT), "test", "-A", "--no-check", `--coverage=${data}`, ...wanted];
  const { code, text } = await capture(command, { cwd: ROOT, limitMs: LIMIT_MS });
  if (code !== 0) throw new SetupError(`the tests failed:\n${text}`);
  return data;
}

async function lcovOf(data: string, root: string): Promise<string> {
  if (!existsSync(data)) throw new SetupError(`there is no folder ${data}`);
  const include = SOURCES.map((path) => `--include=^file://${root.replaceAll(".", "\\.")}/${path}`);
  return await run(denoProgram(ROOT), ["coverage", "--lcov", ...include, data], { cwd: root, task: "deno coverage" });
}
