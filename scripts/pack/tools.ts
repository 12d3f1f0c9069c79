import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/root.ts";

/** Runs a program to its end and gives its standard output; what it says otherwise is shown if it fails. */
export function run(command: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** Makes the tarball of a folder with a package.json, and gives its path. */
export function npmPack(folder: string, out: string): string {
  const [made] = JSON.parse(run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", out], folder)) as {
    filename: string;
  }[];
  if (made === undefined) throw new Error(`npm pack made nothing of ${folder}`);
  return join(out, made.filename);
}

/** Copies the license and the notices, which each package has. */
export function copyLegal(staged: string): void {
  for (const name of ["LICENSE", "NOTICE.md"]) cpSync(join(ROOT, name), join(staged, name));
}

/** A JSON file as an object. */
export function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
}

/** Writes an object as a JSON file. */
export function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
