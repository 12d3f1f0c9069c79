/**
 * Takes files out of a cache or damages them, runs set-up, kills it after so many changes to the cache, and runs it again: the cache must be sound then.
 *
 *   deno run -A tests/unit/setup/kill_rounds.ts [--count N] [--seed N]
 *
 * It works on a copy of this machine's cache, and fetches what it took away.
 */

import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  watch,
} from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { cacheFolder } from "../../../scripts/setup/cache.ts";
import { randomBelow } from "../../support/random.ts";
import { ROOT, runProgram } from "../../support/program.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

const MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf";
/** Most changes of the cache until the kill. An undisturbed run of set-up makes some hundred. */
const MOST_CHANGES = 400;
using folder = new TemporaryFolder();
const tree = folder.file("tree");
const cache = folder.file("cache");
const setup = [process.execPath, "run", "-A", "--no-check", join(tree, "scripts", "setup.ts")] as const;

/** Clones the tree, in which set-up puts links to its cache. */
function cloneTree(): void {
  execFileSync("git", ["clone", "--quiet", ROOT, tree]);
  symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
}

/** Copies what set-up made on this machine. */
function copyCache(): void {
  const from = cacheFolder();
  const libraries = readdirSync(join(ROOT, "native")).filter((name) => !name.startsWith(".")).map((target) =>
    basename(realpathSync(join(ROOT, "native", target)))
  );
  for (const name of ["sources", "zig", join("models", MODEL), ...libraries.map((one) => join("builds", one))]) {
    mkdirSync(join(cache, name, ".."), { recursive: true });
    cpSync(join(from, name), join(cache, name), { recursive: true, verbatimSymlinks: true });
  }
}

/** Takes a model or sources away, or cuts the model short; says what it did. */
function damage(below: (limit: number) => number): string {
  const model = join(cache, "models", MODEL);
  const sources = readdirSync(join(cache, "sources")).map((name) => join(cache, "sources", name));
  const victim = [model, ...sources][below(1 + sources.length)] ?? model;
  if (victim === model && below(2) === 0) {
    truncateSync(model, below(statSync(model).size));
    return `cut ${basename(model)}`;
  }
  rmSync(victim, { recursive: true });
  return `removed ${basename(victim)}`;
}

/** Runs set-up and kills it after so many changes of the cache, alone or with all that it started. Returns whether it was killed. */
async function kill(changes: number, all: boolean): Promise<boolean> {
  const child = spawn(setup[0], setup.slice(1), {
    cwd: tree,
    env: { ...process.env, GGML_FFI_CACHE: cache },
    stdio: "ignore",
    detached: true,
  });
  let left = changes;
  const watched = watch(cache, { recursive: true }, () => {
    if (--left === 0 && child.pid !== undefined) process.kill(all ? -child.pid : child.pid, "SIGKILL");
  });
  const signal = await new Promise((resolve) => child.once("close", (_, ended) => resolve(ended)));
  watched.close();
  return signal === "SIGKILL";
}

/** What isn't as it should be after set-up ran to its end. */
async function faults(): Promise<string[]> {
  const found: string[] = [];
  for (const args of [[], ["--verify"]]) {
    const { code, stderr } = await runProgram([...setup, ...args], {
      env: { GGML_FFI_CACHE: cache },
      limitMs: 600_000,
    });
    if (code !== 0) found.push(`set-up ${args.join("")} ends with ${code}: ${stderr.trim().split("\n").at(-1)}`);
    if (args.length > 0 && /damaged/.test(stderr)) found.push(`still damaged: ${stderr.trim()}`);
  }
  for (const folder of ["models", "sources", "builds"].map((name) => join(cache, name))) {
    if (!existsSync(folder)) continue;
    const left = readdirSync(folder).filter((name) => /\.tmp-|\.lock/.test(name));
    if (left.length > 0) found.push(`left in ${basename(folder)}: ${left.join(", ")}`);
  }
  return found;
}

const { values } = parseArgs({
  options: { count: { type: "string", default: "50" }, seed: { type: "string", default: "1" } },
});
cloneTree();
copyCache();
let killed = 0;
for (let round = 0; round < Number(values.count); round++) {
  const below = randomBelow(Number(values.seed) * 1000 + round);
  const what = damage(below);
  const changes = 1 + below(MOST_CHANGES);
  const all = below(2) === 0;
  const dead = await kill(changes, all);
  if (dead) killed++;
  const found = await faults();
  console.log(
    `${round}: ${what}, ${
      dead ? `killed ${all ? "with all its programs" : "alone"} after ${changes} changes` : "done"
    }: ${found.join("; ") || "sound"}`,
  );
  if (found.length > 0) process.exitCode = 1;
}
console.log(`${values.count} rounds, ${killed} killed, ${process.exitCode === 1 ? "NOT ALL SOUND" : "all sound"}`);
