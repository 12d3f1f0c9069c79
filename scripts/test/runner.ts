// Runs the steps of npm test, as many beside each other as there are cores, and adds up their counts.
import { availableParallelism } from "node:os";
import { capture } from "../support/exec.ts";
import { seconds } from "../support/progress.ts";
import { ROOT } from "../support/root.ts";
import { addCounts, type Counts, countsLine, NO_COUNTS } from "./counts.ts";
import type { Step } from "./steps.ts";

const LIMIT_MS = 20 * 60_000;
const CLOSING_LINES = 6;
const MAX_AT_ONCE = 4;
/** Lines that say nothing: of packages without types. */
const NOISE = /^Warning Failed resolving types|^ {4}at file:.*\/node_modules\//;

/** The end of a step. */
export interface StepResult {
  readonly step: Step;
  readonly succeeded: boolean;
  readonly counts: Counts;
  readonly ms: number;
}

/**
 * Runs the steps, begun in their order, as many at once as there are cores: tests wait for child processes and timers half of their time. Each prints its closing
 * lines when it succeeds, all of its output when it fails.
 */
export async function runSteps(steps: readonly Step[], atOnce: number = defaultAtOnce()): Promise<StepResult[]> {
  const waiting = [...steps];
  const results: StepResult[] = [];
  const work = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) results.push(await runStep(step));
  };
  await Promise.all(Array.from({ length: Math.max(1, atOnce) }, work));
  return results;
}

function defaultAtOnce(): number {
  return Math.min(MAX_AT_ONCE, availableParallelism());
}

async function runStep(step: Step): Promise<StepResult> {
  const started = performance.now();
  console.log(`── ${step.title} …`);
  const { code, text, timedOut } = await capture(step.command, { cwd: ROOT, limitMs: LIMIT_MS });
  const ms = performance.now() - started;
  const exited = code === 0;
  const counts = countsOf(step, exited, text);
  const lines = text.trimEnd().split("\n").filter((line) => !NOISE.test(line));
  const took = seconds(ms);
  console.log([
    `── ${step.title}`,
    ...(exited ? lines.slice(-CLOSING_LINES) : lines),
    `   ${exited ? "ok" : timedOut ? `stopped after ${took}` : `exit code ${code}`} (${took})\n`,
  ].join("\n"));
  return { step, succeeded: exited && counts.failed === 0, counts, ms };
}

function countsOf({ counter }: Step, exited: boolean, text: string): Counts {
  if (counter === undefined) return { ...NO_COUNTS, passed: exited ? 1 : 0, failed: exited ? 0 : 1 };
  const counts = counter(text);
  // A run that broke off without a failed test has failed all the same.
  return !exited && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

/** Prints the failures, the time of each step and the sums; returns the exit code. */
export function summarize(results: readonly StepResult[], ms: number): number {
  const failures = results.filter(({ succeeded }) => !succeeded).map(({ step }) => step.title);
  let total = results.reduce((sum, { counts }) => addCounts(sum, counts), NO_COUNTS);
  for (const runtime of ["deno", "bun"] as const) {
    const runs = results.filter(({ step }) => step.runtime === runtime);
    if (runs.length === 0 || runs.some(({ counts }) => counts.passed > 0)) continue;
    failures.push(`${runtime} ran no test`);
    total = addCounts(total, { ...NO_COUNTS, failed: 1 });
  }
  const width = Math.max(...results.map(({ step }) => step.title.length));
  for (const { step, counts, ms } of results.toSorted((a, b) => b.ms - a.ms)) {
    const tests = step.counter === undefined ? "" : `  ${counts.passed + counts.failed} tests`;
    console.log(`${step.title.padEnd(width)}  ${(ms / 1000).toFixed(1).padStart(7)} s${tests}`);
  }
  for (const title of failures) console.log(`FAILED: ${title}`);
  console.log(`Took ${seconds(ms)}.`);
  console.log(countsLine(total));
  return total.failed > 0 ? 1 : 0;
}
