/**
 * Takes away each guard in turn and runs the test that the registry names for it, which must fail then.
 *
 *   npm run test:mutations -- [--only PATH] [--sample N --seed N] [--find] [--list]
 *
 * `--find` makes the registry anew: it runs every test file with coverage, and tries those that reach a guard until one of them fails without it.
 *
 * @module
 */

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { capture } from "../support/exec.ts";
import { ROOT } from "../support/root.ts";
import { type Guard, readGuards } from "./guards.ts";

const REGISTRY = join(ROOT, "tests", "registry", "guards.json");
/** Test files that are tried for a guard, at most. */
const MAX_TRIES = 4;
const LIMIT_MS = 180_000;
const testFolders = ["tests/unit", "tests/ffi", "tests/ggml", "tests/model", "tests/whisper"];

/** Options of {@linkcode testMutations}. */
export interface MutationOptions {
  /** Only guards of files whose path begins so. */
  readonly only?: string | undefined;
  /** Only so many of them, chosen by the seed (default 1). */
  readonly sample?: string | undefined;
  readonly seed?: string | undefined;
  /** Print each guard with its test, and run nothing. */
  readonly list?: boolean | undefined;
  /** Look for the test of each guard that has none yet; with `all` of each guard. */
  readonly find?: boolean | undefined;
  readonly all?: boolean | undefined;
  /** Try only test files whose path begins so. */
  readonly tests?: string | undefined;
}

/** The test file for each guard; `null` where none fails without it. */
export type Registry = Record<string, string | null>;

/** Reads the registry. */
export function readRegistry(): Registry {
  return existsSync(REGISTRY) ? JSON.parse(readFileSync(REGISTRY, "utf8")) as Registry : {};
}

/** A copy of the tree whose files may be changed. */
class Copy implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "ggml-ffi-mutations-"));

  constructor() {
    const skipped = /^(node_modules|native|\.git|\.tmp|\.zig-cache)$/;
    for (const name of readdirSync(ROOT)) {
      if (skipped.test(name)) continue;
      cpSync(join(ROOT, name), join(this.folder, name), { recursive: true, verbatimSymlinks: false });
    }
    for (const name of ["node_modules", "native"]) symlinkSync(join(ROOT, name), join(this.folder, name));
  }

  /** Runs a test file; gives its exit code, or the signal that ended it. */
  test(file: string, ...more: readonly string[]): Promise<number | string | null> {
    const command = [process.execPath, "test", "-A", "--no-check", ...more, file];
    return capture(command, { cwd: this.folder, limitMs: LIMIT_MS }).then(({ code }) => code);
  }

  /** Whether a test fails without a guard. */
  async fails(guard: Guard, file: string): Promise<boolean> {
    const path = join(this.folder, guard.file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.slice(0, guard.start) + guard.without + text.slice(guard.end));
    try {
      return await this.test(file, "--fail-fast") !== 0;
    } finally {
      writeFileSync(path, text);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The test files that run each guard's line, the quickest first. */
async function candidates(copy: Copy, guards: readonly Guard[], under: string): Promise<Map<string, string[]>> {
  const found = new Map<string, { file: string; ms: number }[]>();
  const files = testFolders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`)
  ).filter((name) => name.endsWith("_test.ts") && name.startsWith(under)).sort();
  for (const [index, file] of files.entries()) {
    const coverage = join(copy.folder, ".tmp", `coverage-${index}`);
    const started = performance.now();
    const code = await copy.test(file, `--coverage=${coverage}`);
    const ms = performance.now() - started;
    console.log(`${file}: ${code === 0 ? "passes" : `exit code ${code}`} in ${Math.round(ms)} ms`);
    if (code !== 0) continue;
    const hit = await linesHit(copy.folder, coverage);
    for (const guard of guards) {
      if (hit.get(guard.file)?.has(guard.line)) found.set(guard.id, [...found.get(guard.id) ?? [], { file, ms }]);
    }
    rmSync(coverage, { recursive: true, force: true });
  }
  return new Map([...found].map(([id, tests]) => [id, tests.sort((a, b) => a.ms - b.ms).map(({ file }) => file)]));
}

async function linesHit(folder: string, coverage: string): Promise<Map<string, Set<number>>> {
  const report = `${coverage}.lcov`;
  const args = ["coverage", coverage, "--lcov", `--output=${report}`, "--include=/(lib|ffi)/"];
  await capture([process.execPath, ...args], { cwd: folder, limitMs: LIMIT_MS });
  const hit = new Map<string, Set<number>>();
  let lines = new Set<number>();
  for (const row of existsSync(report) ? readFileSync(report, "utf8").split("\n") : []) {
    if (row.startsWith("SF:")) {
      const path = row.slice(3);
      hit.set(path.slice(path.search(/(lib|ffi)\/(?!.*ggml-ffi-mutations)/)), lines = new Set());
    }
    const [line = 0, count = 0] = row.startsWith("DA:") ? row.slice(3).split(",").map(Number) : [];
    if (count > 0) lines.add(line);
  }
  return hit;
}

async function find(copy: Copy, guards: readonly Guard[], registry: Registry, under: string): Promise<void> {
  const tests = await candidates(copy, guards, under);
  for (const guard of guards) {
    let killer: string | null = null;
    for (const file of tests.get(guard.id)?.slice(0, MAX_TRIES) ?? []) {
      if (!await copy.fails(guard, file)) continue;
      killer = file;
      break;
    }
    registry[guard.id] = killer;
    console.log(`${guard.id}: ${killer ?? "NO TEST"}`);
    mkdirSync(dirname(REGISTRY), { recursive: true });
    writeFileSync(REGISTRY, `${JSON.stringify(registry, Object.keys(registry).sort(), 2)}\n`);
  }
}

async function verify(copy: Copy, guards: readonly Guard[], registry: Registry): Promise<number> {
  let survived = 0;
  for (const guard of guards) {
    const test = registry[guard.id];
    const fails = typeof test === "string" && await copy.fails(guard, test);
    if (!fails) survived++;
    console.log(`${fails ? "fails " : "PASSES"} without ${guard.id} (${test ?? "no test"})`);
  }
  console.log(`${guards.length} guards taken away, ${guards.length - survived} noticed, ${survived} not`);
  return survived;
}

/** Some of a list, the same ones for a seed. */
function sample<T>(from: readonly T[], count: number, seed: number): T[] {
  const step = 1 + (seed * 7919) % Math.max(1, from.length - 1);
  const order = Array.from(from, (_, index) => (index * step + seed) % from.length);
  return [...new Set(order)].slice(0, count).sort((a, b) => a - b).flatMap((index) => from[index] ?? []);
}

/** Takes away each guard in turn, or looks for their tests; returns the exit code. */
export async function testMutations(options: MutationOptions): Promise<number> {
  const { only = "", seed = "1", tests = "tests", sample: count, list, find: finds, all: anew } = options;
  const registry = readRegistry();
  const all = readGuards(ROOT, (file) => file.startsWith(only));
  const guards = count === undefined ? all : sample(all, Number(count), Number(seed));
  if (list) {
    for (const { id, line } of guards) console.log(`${id} (line ${line}): ${registry[id] ?? "no test"}`);
    return 0;
  }
  using copy = new Copy();
  if (finds) {
    const known = new Set(all.map(({ id }) => id));
    for (const id of Object.keys(registry)) if (!known.has(id) && only === "") delete registry[id];
    await find(copy, guards.filter(({ id }) => anew || typeof registry[id] !== "string"), registry, tests);
    return 0;
  }
  return await verify(copy, guards, registry) === 0 ? 0 : 1;
}
