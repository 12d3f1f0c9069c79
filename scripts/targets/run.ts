// Runs the tests of other targets on the machines where they can run.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bunProgram, denoProgram } from "../bootstrap/packages.mjs";
import { cachedLibraries, ensureLibraries } from "../build/libraries.ts";
import { ensureProbe } from "../build/probe.ts";
import { cacheFolder } from "../setup/cache.ts";
import { ensureTools, setup } from "../setup/setup.ts";
import { ensureZig } from "../setup/zig.ts";
import { SetupError } from "../support/errors.ts";
import { capture, run } from "../support/exec.ts";
import { seconds } from "../support/progress.ts";
import { ROOT } from "../support/root.ts";
import { addCounts, countBun, countDeno, type Counts, countsLine, NO_COUNTS } from "../test/counts.ts";
import { type Machine, machines } from "./machines.ts";
import { NotHere, type ToolContext } from "./tools.ts";

const LIMIT_MS = 20 * 60_000;

/** The test files that run on other targets. */
export const targetTests: readonly string[] = [
  "tests/ffi/probe/probe_test.ts",
  "tests/targets/tables.ts",
  "tests/targets/tokens.ts",
  "tests/targets/answer.ts",
];

/** The targets that have a machine. */
export function allTargets(): string[] {
  return [...new Set(machines.map(({ target }) => target))];
}

/** Runs `files` on each of the machines; returns the exit code. */
export async function testTargets(
  wanted: readonly Machine[],
  files: readonly string[],
  cachedOnly: boolean,
): Promise<number> {
  const started = performance.now();
  await setup();
  const cache = cacheFolder();
  const context: ToolContext = { root: ROOT, cache, cachedOnly, zig: () => ensureZig(cache) };
  const work = await mkdtemp(join(tmpdir(), "ggml-ffi-targets-"));
  let total: Counts;
  try {
    const reference = join(work, "reference.json");
    const tokens = ["tests/targets/reference.ts"];
    await writeFile(reference, await run(bunProgram(ROOT), tokens, { cwd: ROOT, task: "the reference" }));
    const libraries = await findLibraries(wanted, context);
    total = await checkFiles(libraries);
    for (const machine of wanted) {
      total = addCounts(total, await runOn(machine, context, files, libraries.get(machine.target), reference));
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  console.log(`Took ${seconds(performance.now() - started)}.`);
  console.log(countsLine(total));
  return total.failed > 0 ? 1 : 0;
}

/** The folder of each target's libraries; built unless only what is cached is wanted. */
async function findLibraries(wanted: readonly Machine[], context: ToolContext): Promise<Map<string, string>> {
  const tools = context.cachedOnly ? undefined : await ensureTools(context.cache);
  const libraries = new Map<string, string>();
  for (const target of new Set(wanted.map((machine) => machine.target))) {
    const cached = await cachedLibraries(ROOT, context.cache, target);
    const folder = cached ?? (tools && await ensureLibraries(tools, { target }));
    if (folder !== undefined) libraries.set(target, folder);
  }
  return libraries;
}

/** Each target's files are one check. */
async function checkFiles(libraries: ReadonlyMap<string, string>): Promise<Counts> {
  let counts: Counts = { ...NO_COUNTS, skipped: allTargets().length - libraries.size };
  for (const [target, folder] of libraries) {
    const command = [denoProgram(ROOT), "run", "-A", "--no-check", "scripts/check_targets.ts", `${target}=${folder}`];
    const { code, text } = await capture(command, { cwd: ROOT, limitMs: LIMIT_MS });
    counts = addCounts(counts, { ...NO_COUNTS, [code === 0 ? "passed" : "failed"]: 1 });
    console.log(`── files of ${target}\n${text.trimEnd()}\n`);
  }
  return counts;
}

/** Runs the tests on one machine and returns their counts. A machine that can't run counts as one skipped test. */
async function runOn(
  machine: Machine,
  context: ToolContext,
  files: readonly string[],
  libraries: string | undefined,
  reference: string,
): Promise<Counts> {
  console.log(`── ${machine.title} (${machine.target})`);
  try {
    return await runTests(machine, context, files, libraries, reference);
  } catch (error) {
    if (error instanceof NotHere) {
      console.log(`   not run: ${error.message}\n`);
      return { ...NO_COUNTS, skipped: 1 };
    }
    if (!(error instanceof SetupError)) throw error;
    console.log(`   failed: ${error.message}\n`);
    return { ...NO_COUNTS, failed: 1 };
  }
}

async function runTests(
  machine: Machine,
  context: ToolContext,
  files: readonly string[],
  libraries: string | undefined,
  reference: string,
): Promise<Counts> {
  const started = performance.now();
  const { command, env, path } = await machine.prepare(context);
  if (libraries === undefined) {
    throw new NotHere(`its libraries aren't in the cache: npm run build -- --target ${machine.target}`);
  }
  await ensureProbe(machine.target, context.cache);
  const { code, text } = await capture([...command, ...testArguments(machine.runtime, files)], {
    cwd: ROOT,
    limitMs: LIMIT_MS,
    env: {
      ...env,
      GGML_FFI_LIBRARY_PATH: path(libraries),
      GGML_FFI_CACHE: path(context.cache),
      GGML_FFI_TARGET: machine.target,
      GGML_FFI_REFERENCE: path(reference),
    },
  });
  const counts = (machine.runtime === "deno" ? countDeno : countBun)(text);
  if (code !== 0 || counts.passed === 0) console.log(text.trimEnd());
  for (const [line] of text.matchAll(/^(?:answer|structs): .*$/gm)) console.log(`   ${line}`);
  console.log(`   ${countsLine(counts)}, exit code ${code} (${seconds(performance.now() - started)})\n`);
  const brokeOff = code !== 0 && counts.failed === 0;
  return brokeOff || counts.passed === 0 ? addCounts(counts, { ...NO_COUNTS, failed: 1 }) : counts;
}

function testArguments(runtime: Machine["runtime"], files: readonly string[]): string[] {
  const paths = files.map((file) => `./${file}`);
  return runtime === "deno" ? ["test", "-A", "--no-check", ...paths] : ["test", "--timeout", "900000", ...paths];
}
