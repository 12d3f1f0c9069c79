// npm run chat -- "…": set-up if need be, then the command line's chat with the arguments given.
import { join } from "node:path";
import process from "node:process";
import { bunProgram } from "./bootstrap/packages.mjs";
import { setup } from "./setup/setup.ts";
import { SetupError, UsageError } from "./support/errors.ts";
import { runAttached } from "./support/exec.ts";
import { ROOT } from "./support/root.ts";

const MAIN = join(ROOT, "cli", "main.ts");

async function main(args: readonly string[]): Promise<void> {
  const runtime = process.env["GGML_FFI_RUNTIME"] ?? "deno";
  if (runtime !== "deno" && runtime !== "bun") {
    throw new UsageError(`GGML_FFI_RUNTIME is "${runtime}"; it may be deno or bun`);
  }
  if (!args.includes("--help") && !args.includes("-h")) await setup();
  if (runtime === "bun") {
    process.exitCode = await runAttached(bunProgram(ROOT), [MAIN, ...args]);
    return;
  }
  // The program of the command line, in this process.
  process.argv.splice(1, process.argv.length - 1, MAIN, ...args);
  await import("../cli/main.ts");
}

try {
  await main(["chat", ...process.argv.slice(2)]);
} catch (error) {
  if (!(error instanceof SetupError || error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
