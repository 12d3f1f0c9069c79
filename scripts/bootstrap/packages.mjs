// @ts-check
// Deno, Bun and the other packages of package-lock.json.
import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { chmod, link, mkdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { withLock } from "./lock.mjs";

const PROGRESS_MS = 15_000;

/** @typedef {{ platform: string, arch: string, musl: boolean }} Host */

/**
 * Installs what package-lock.json names unless node_modules has just that. No package's own script is run.
 *
 * @param {string} root
 */
export async function ensurePackages(root) {
  if (await isInstalled(root) && programsAreInPlace(root)) return;
  await withLock(join(root, "node_modules"), async () => {
    if (!(await isInstalled(root))) await install(root);
    await putProgramsInPlace(root);
  });
}

/**
 * Compares npm's own record of what it installed with the lock file.
 *
 * @param {string} root
 */
async function isInstalled(root) {
  try {
    const wanted = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")).packages;
    const present = JSON.parse(await readFile(join(root, "node_modules", ".package-lock.json"), "utf8")).packages;
    return Object.entries(wanted).every(([path, entry]) =>
      path === "" || (present[path]?.version ?? (entry.optional ? entry.version : undefined)) === entry.version
    ) && existsSync(denoProgram(root)) && existsSync(bunProgram(root));
  } catch (error) {
    // A file that was cut off in the writing is as good as none.
    const code = /** @type {{ code?: unknown }} */ (error).code;
    if (code === "ENOENT" || error instanceof SyntaxError) return false;
    throw error;
  }
}

/**
 * Runs npm ci. Its output is shown when it fails.
 *
 * @param {string} root
 */
async function install(root) {
  const started = performance.now();
  const seconds = () => `${Math.round((performance.now() - started) / 1000)} s`;
  process.stderr.write("Installing Deno, Bun and TypeScript (npm ci, about 100 MB, usually under a minute) …\n");
  const timer = setInterval(() => process.stderr.write(`  ${seconds()}\n`), PROGRESS_MS);
  try {
    await npm(root, ["ci", "--ignore-scripts", "--no-progress"]);
    process.stderr.write(`  done after ${seconds()}\n`);
  } finally {
    clearInterval(timer);
  }
}

/**
 * @param {string} root
 * @param {readonly string[]} args
 * @returns {Promise<void>}
 */
function npm(root, args) {
  return new Promise((resolve, reject) => {
    const shell = process.platform === "win32";
    const child = spawn("npm", args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], shell });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (/** @type {string} */ text) => output = (output + text).slice(-10_000));
    }
    child.on("error", (error) => reject(new Error(`npm can't be started: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) return resolve();
      const end = signal === null ? `exit code ${code}` : `signal ${signal}`;
      reject(new Error(`npm ${args.join(" ")} failed with ${end}:\n${output.trim()}`));
    });
  });
}

/**
 * Whether the commands `bun` and `deno` are the programs themselves.
 *
 * @param {string} root
 */
export function programsAreInPlace(root) {
  return shims(root).every((shim) => !existsSync(shim)) &&
    programPlaces(root).every(([program, place]) =>
      existsSync(place) && existsSync(program) && statSync(program).size === statSync(place).size
    );
}

/**
 * The command `bun` is a placeholder until a script of its package has run, and `deno` stays a script for Node, which
 * Ctrl-C ends while the program runs on. Puts the programs themselves there.
 *
 * @param {string} root
 */
async function putProgramsInPlace(root) {
  for (const [program, place] of programPlaces(root)) {
    const temporary = `${place}.tmp-${process.pid}`;
    await mkdir(dirname(place), { recursive: true });
    await rm(temporary, { force: true });
    await link(program, temporary);
    await chmod(temporary, 0o755);
    await rename(temporary, place);
    // Renaming a file to another name of its own does nothing.
    await rm(temporary, { force: true });
  }
  for (const shim of shims(root)) await rm(shim, { force: true });
}

/**
 * Each program, and a place where it must be found.
 *
 * @param {string} root
 * @returns {[program: string, place: string][]}
 */
function programPlaces(root) {
  const deno = process.platform === "win32" ? "deno.exe" : "deno";
  return [
    [denoProgram(root), join(root, "node_modules", "deno", deno)],
    [denoProgram(root), join(root, "node_modules", ".bin", deno)],
    [bunProgram(root), join(root, "node_modules", "bun", "bin", "bun.exe")],
    [bunProgram(root), join(root, "node_modules", "bun", "bin", "bunx.exe")],
  ];
}

/**
 * npm's scripts that a shell of Windows would take before `deno.exe`.
 *
 * @param {string} root
 */
function shims(root) {
  if (process.platform !== "win32") return [];
  return ["deno", "deno.cmd", "deno.ps1"].map((name) => join(root, "node_modules", ".bin", name));
}

/**
 * The machine that this runs on, as the names of packages and targets are made from it.
 *
 * @returns {Host}
 */
export function host() {
  const { platform, arch } = process;
  return { platform, arch, musl: platform === "linux" && isMusl() };
}

function isMusl() {
  const report = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
  return report.header.glibcVersionRuntime === undefined;
}

/**
 * The program itself, not npm's wrapper, which costs a start of Node.
 *
 * @param {string} root
 * @param {{ platform: string, arch: string }} host
 */
export function denoProgram(root, { platform, arch } = process) {
  const name = `${platform}-${arch}${platform === "linux" ? "-glibc" : ""}`;
  return join(root, "node_modules", "@deno", name, platform === "win32" ? "deno.exe" : "deno");
}

/**
 * @param {string} root
 * @param {Host} machine
 */
export function bunProgram(root, machine = host()) {
  const { platform, arch, musl } = machine;
  const system = platform === "win32" ? "windows" : platform;
  const name = `bun-${system}-${arch === "arm64" ? "aarch64" : arch}${musl ? "-musl" : ""}`;
  return join(root, "node_modules", "@oven", name, "bin", platform === "win32" ? "bun.exe" : "bun");
}
