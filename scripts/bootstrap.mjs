// @ts-check
// Starts a script of this folder in Deno, with nothing but Node and npm there: node scripts/bootstrap.mjs NAME [ARGUMENT…] installs the
// packages of package-lock.json, Deno among them, unless they are there, then runs scripts/NAME.ts in its place.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { denoProgram, ensurePackages } from "./bootstrap/packages.mjs";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/**
 * Runs a program in place of this one: with its terminal, and to the same exit code or signal.
 *
 * @param {string} program
 * @param {readonly string[]} args
 */
function runInPlace(program, args) {
  const child = spawn(program, args, { stdio: "inherit", env: { DENO_NO_UPDATE_CHECK: "1", ...process.env } });
  // The terminal sends its signals to the child too, which decides what they mean; those sent to this process alone are passed on.
  process.on("SIGINT", () => {});
  for (const signal of /** @type {const} */ (["SIGTERM", "SIGHUP"])) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(`${program} can't be started: ${error.message}`));
  child.on("close", (code, signal) => {
    if (signal === null) return process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** @param {string} message */
function fail(message, code = 1) {
  process.stderr.write(`${message}\n`);
  process.exitCode = code;
}

const [name = "", ...args] = process.argv.slice(2);
const script = join(root, "scripts", `${name}.ts`);
if (!/^\w+$/.test(name) || !existsSync(script)) {
  fail(`Usage: node scripts/bootstrap.mjs NAME [ARGUMENT…]\n\nThere is no scripts/${name || "NAME"}.ts.`, 2);
} else {
  try {
    await ensurePackages(root);
    runInPlace(denoProgram(root), ["run", "-A", "--no-check", script, ...args]);
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
}
