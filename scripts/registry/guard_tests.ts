/** The test that notices the absence of each guard, as tests/registry/guards.json has it. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../support/root.ts";
import type { Guard } from "./guards.ts";
import type { InstrumentedTree } from "./tree.ts";

const FILE = join(ROOT, "tests", "registry", "guards.json");
/** Tests that are tried for a guard, at most. */
const MAX_TRIES = 6;
/** Beside five times the time of the test's file. */
const MIN_LIMIT_MS = 20_000;
const FOLDERS = ["unit", "ffi", "ggml", "model", "whisper", "cli"];

/** A test by its file, and its name there: without one it is the whole file. */
export interface GuardTest {
  readonly file: string;
  readonly name?: string;
}

/** A test in which a guard refuses. */
export interface Candidate extends GuardTest {
  /** The time that its file takes. */
  readonly ms: number;
}

/** The test of each guard, by the guard's id; `null` where none fails without it. */
export type GuardTests = Record<string, GuardTest | null>;

/** Reads the registry. */
export function readGuardTests(): GuardTests {
  const rows = existsSync(FILE) ? JSON.parse(readFileSync(FILE, "utf8")) as Record<string, string | null> : {};
  return Object.fromEntries(
    Object.entries(rows).map(([id, text]) => {
      const [, file = "", name] = /^(.*?_test\.ts)(?:: ([^]*))?$/.exec(text ?? "") ?? [];
      return [id, text === null ? null : name === undefined ? { file } : { file, name }];
    }),
  );
}

/** Writes the registry, one line a guard. */
export function writeGuardTests(tests: GuardTests): void {
  mkdirSync(dirname(FILE), { recursive: true });
  const rows = Object.keys(tests).sort().map((id) => [id, tests[id] === null ? null : testName(tests[id])]);
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`);
}

/** A test in words. */
export function testName(test: GuardTest | null | undefined): string {
  if (test === null || test === undefined) return "no test";
  return test.name === undefined ? test.file : `${test.file}: ${test.name}`;
}

/** Calls `work` for each item, a few at once. */
export async function each<T>(items: readonly T[], jobs: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  await Promise.all(Array.from({ length: jobs }, async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  }));
}

/** The test files of the tree whose path begins so. */
export function testFiles(under: string): string[] {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, "tests", folder), { recursive: true, encoding: "utf8" }).map((name) =>
      `tests/${folder}/${name}`
    )
  );
  return files.filter((name) => name.endsWith("_test.ts") && name.startsWith(under)).sort();
}

/** The tests in which each guard refuses, those of the quickest file first. */
export async function candidates(
  tree: InstrumentedTree,
  files: readonly string[],
  jobs: number,
): Promise<Map<string, Candidate[]>> {
  const found = new Map<string, Candidate[]>();
  await each(files, jobs, async (file) => {
    const log = join(tree.folder, `${file.replaceAll("/", "-")}.log`);
    const started = performance.now();
    const code = await tree.test(file, { log });
    const ms = performance.now() - started;
    console.log(`${file}: ${code === 0 ? "passes" : `exit code ${code}`} in ${Math.round(ms)} ms`);
    const rows = code === 0 && existsSync(log) ? new Set(readFileSync(log, "utf8").trim().split("\n")) : [];
    for (const row of rows) {
      const [id = "", name = ""] = row.split("\t");
      found.set(id, [...found.get(id) ?? [], { file, ms, ...(name === "" ? {} : { name }) }]);
    }
    rmSync(log, { force: true });
  });
  return new Map([...found].map(([id, tests]) => [id, tests.sort((a, b) => a.ms - b.ms)]));
}

/** Whether a test fails without a guard. */
export async function notices(
  tree: InstrumentedTree,
  guard: Guard,
  { file, name }: GuardTest,
  limitMs?: number,
): Promise<boolean> {
  return await tree.test(file, { name, without: guard.id, limitMs }) !== 0;
}

/** The first test that fails without a guard, of some in which it refuses. */
export async function findTest(
  tree: InstrumentedTree,
  guard: Guard,
  tests: readonly Candidate[],
): Promise<GuardTest | null> {
  // A native thread keeps the name of the test that started it, so whole files are tried last.
  const files = new Map(tests.map(({ file, ms }) => [file, { file, ms }]));
  for (const { ms, ...test } of [...tests.slice(0, MAX_TRIES), ...[...files.values()].slice(0, 2)]) {
    if (await notices(tree, guard, test, MIN_LIMIT_MS + 5 * ms)) return test;
  }
  return null;
}
