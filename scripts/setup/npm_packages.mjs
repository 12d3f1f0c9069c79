// Deno, Bun and the other packages of package-lock.json.
import { existsSync, statSync } from "node:fs";
import { chmod, link, mkdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { withLock } from "./cache.mjs";
import { run } from "./exec.mjs";
import { step } from "./progress.mjs";

/** Installs what package-lock.json names unless node_modules has just that. No package's own script is run. */
export async function bringPackages(root) {
  if (await isInstalled(root) && programsAreInPlace(root)) return;
  await withLock(join(root, "node_modules"), async () => {
    if (!(await isInstalled(root))) {
      await step("Installing Deno, Bun and TypeScript", "npm ci, about 100 MB, usually under a minute", async () => {
        await run("npm", ["ci", "--ignore-scripts", "--no-progress"], { cwd: root, task: "installing packages" });
      });
    }
    await putProgramsInPlace(root);
  });
}

/** Compares npm's own record of what it installed with the lock file. */
async function isInstalled(root) {
  try {
    const wanted = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")).packages;
    const present = JSON.parse(await readFile(join(root, "node_modules", ".package-lock.json"), "utf8")).packages;
    return Object.entries(wanted).every(([path, entry]) =>
      path === "" || (present[path]?.version ?? (entry.optional ? entry.version : undefined)) === entry.version
    ) && existsSync(denoProgram(root)) && existsSync(bunProgram(root));
  } catch (error) {
    if (error.code === "ENOENT") return false;
    throw error;
  }
}

/** Whether the commands `bun` and `deno` are the programs themselves. */
export function programsAreInPlace(root) {
  return shims(root).every((shim) => !existsSync(shim)) &&
    programPlaces(root).every(([program, place]) =>
      existsSync(place) && existsSync(program) && statSync(program).size === statSync(place).size
    );
}

/**
 * The command `bun` is a placeholder until a script of its package has run, and `deno` stays a script for Node, which
 * Ctrl-C ends while the program runs on. Puts the programs themselves there.
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

function programPlaces(root) {
  const deno = process.platform === "win32" ? "deno.exe" : "deno";
  return [
    [denoProgram(root), join(root, "node_modules", "deno", deno)],
    [denoProgram(root), join(root, "node_modules", ".bin", deno)],
    ...["bun.exe", "bunx.exe"].map((name) => [bunProgram(root), join(root, "node_modules", "bun", "bin", name)]),
  ];
}

/** npm's scripts that a shell of Windows would take before `deno.exe`. */
function shims(root) {
  if (process.platform !== "win32") return [];
  return ["deno", "deno.cmd", "deno.ps1"].map((name) => join(root, "node_modules", ".bin", name));
}

/** The machine that this runs on, as the names of packages and targets are made from it. */
export function host() {
  const { platform, arch } = process;
  return {
    platform,
    arch,
    musl: platform === "linux" && process.report.getReport().header.glibcVersionRuntime === undefined,
  };
}

/** The program itself, not npm's wrapper, which costs a start of Node. */
export function denoProgram(root, { platform, arch } = process) {
  const name = `${platform}-${arch}${platform === "linux" ? "-glibc" : ""}`;
  return join(root, "node_modules", "@deno", name, platform === "win32" ? "deno.exe" : "deno");
}

export function bunProgram(root, { platform, arch, musl } = host()) {
  const system = platform === "win32" ? "windows" : platform;
  const name = `bun-${system}-${arch === "arm64" ? "aarch64" : arch}${musl ? "-musl" : ""}`;
  return join(root, "node_modules", "@oven", name, "bin", platform === "win32" ? "bun.exe" : "bun");
}
