/**
 * The program of the npm package. Deno and Bun run the command line itself; Node, by which `npx` starts it, looks for one of them.
 *
 * @module
 */

import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

const OWN_RUNTIME = "deno" in process.versions || "bun" in process.versions;

if (OWN_RUNTIME) await import("./main.ts");
else await startRuntime([["bun"], ["deno", "run", "-A"]]);

/** Runs this program by the first of these that is installed. */
async function startRuntime(commands: readonly (readonly [string, ...string[]])[]): Promise<void> {
  for (const [program, ...args] of commands) {
    const code = await runBy(program, [...args, fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
    if (code === undefined) continue;
    process.exitCode = code;
    return;
  }
  process.stderr.write(
    "ggml-ffi runs in Bun or Deno: install one of them (https://bun.sh, https://deno.com), then run this again.\n",
  );
  process.exitCode = 1;
}

/** Returns the exit code; `undefined` where there is no such program. */
function runBy(program: string, args: readonly string[]): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit" });
    // The terminal sends its signals to the child, too.
    process.on("SIGINT", () => {});
    process.once("SIGTERM", () => child.kill());
    child.once(
      "error",
      (error: Error & { code?: string }) => error.code === "ENOENT" ? resolve(undefined) : reject(error),
    );
    child.once("close", (code) => resolve(code ?? 130));
  });
}
