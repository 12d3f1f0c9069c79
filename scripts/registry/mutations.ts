/** Takes away each guard in turn and runs the test that the registry names for it, which must fail then; or looks for these tests. */

import { availableParallelism } from "node:os";
import { ROOT } from "../support/root.ts";
import { type Guard, readGuards } from "./guards.ts";
import {
  candidates,
  each,
  findTest,
  type GuardTests,
  notices,
  readGuardTests,
  testFiles,
  testName,
  writeGuardTests,
} from "./guard_tests.ts";
import { InstrumentedTree } from "./tree.ts";

/** Options of {@linkcode testMutations}. */
export interface MutationOptions {
  /** Only guards of files whose path begins so. */
  readonly only?: string | undefined;
  /** Only so many of those that have a test, chosen by the seed (default 1). */
  readonly sample?: string | undefined;
  readonly seed?: string | undefined;
  /** Print each guard with its test, and run nothing. */
  readonly list?: boolean | undefined;
  /** Look for the test of each guard that has none yet; with `all` of each guard. */
  readonly find?: boolean | undefined;
  readonly all?: boolean | undefined;
  /** Only test files whose path begins so. */
  readonly tests?: string | undefined;
  /** Tests that run at once (default: one for each core, at most four). */
  readonly jobs?: string | undefined;
}

/** Takes away each guard in turn, or looks for their tests; returns the exit code. */
export async function testMutations(options: MutationOptions): Promise<number> {
  const { only = "", seed = "1", sample: count, list, find: finds, all: anew } = options;
  const tests = readGuardTests();
  const every = readGuards(ROOT);
  const wanted = every.filter(({ file }) => file.startsWith(only));
  const under = options.tests ?? "tests";
  const sampled = wanted.filter(({ id }) => tests[id]?.file.startsWith(under));
  const guards = count === undefined ? wanted : sample(sampled, Number(count), Number(seed));
  if (list) {
    for (const { id, line } of guards) console.log(`${id} (line ${line}): ${testName(tests[id])}`);
    return 0;
  }
  const jobs = Number(options.jobs ?? Math.min(4, availableParallelism()));
  using tree = new InstrumentedTree(every);
  if (!finds) return await verify(tree, guards, tests, jobs) === 0 ? 0 : 1;
  const known = new Set(every.map(({ id }) => id));
  for (const id of Object.keys(tests)) if (!known.has(id)) delete tests[id];
  const open = guards.filter(({ id }) => anew || (tests[id] ?? null) === null);
  return await find(tree, open, tests, testFiles(under), jobs) === 0 ? 0 : 1;
}

async function find(
  tree: InstrumentedTree,
  guards: readonly Guard[],
  tests: GuardTests,
  files: readonly string[],
  jobs: number,
): Promise<number> {
  const reached = await candidates(tree, files, jobs);
  let open = 0;
  await each(guards, jobs, async (guard) => {
    const test = tests[guard.id] = await findTest(tree, guard, reached.get(guard.id) ?? []);
    if (test === null) open++;
    console.log(
      `${guard.id}: ${testName(test)}${test === null && reached.has(guard.id) ? " fails, though it refuses" : ""}`,
    );
    writeGuardTests(tests);
  });
  console.log(`${guards.length} guards looked at, ${open} without a test`);
  return open;
}

async function verify(
  tree: InstrumentedTree,
  guards: readonly Guard[],
  tests: GuardTests,
  jobs: number,
): Promise<number> {
  let survived = 0;
  await each(guards, jobs, async (guard) => {
    const test = tests[guard.id];
    const fails = test !== undefined && test !== null && await notices(tree, guard, test);
    if (!fails) survived++;
    console.log(`${fails ? "fails " : "PASSES"} without ${guard.id} (${testName(test)})`);
  });
  console.log(`${guards.length} guards taken away, ${guards.length - survived} noticed, ${survived} not`);
  return survived;
}

/** Some of a list, the same ones for a seed. */
function sample<T>(from: readonly T[], count: number, seed: number): T[] {
  const step = 1 + (seed * 7919) % Math.max(1, from.length - 1);
  const order = Array.from(from, (_, index) => (index * step + seed) % from.length);
  return [...new Set(order)].slice(0, count).sort((a, b) => a - b).flatMap((index) => from[index] ?? []);
}
