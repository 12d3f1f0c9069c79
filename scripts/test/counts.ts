// Counts of tests, read from a runner's closing lines.

/** Numbers of tests. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Reads the counts from a runner's output. */
export type Counter = (text: string) => Counts;

/** `ok | 12 passed (3 steps) | 0 failed | 1 ignored (2s)` */
export function countDeno(text: string): Counts {
  const line = text.split("\n").findLast((l) => /^(ok|FAILED) \| /.test(l)) ?? "";
  return {
    passed: number(line, /(\d+) passed/),
    failed: number(line, /(\d+) failed/),
    skipped: number(line, /(\d+) ignored/),
  };
}

/** ` 12 pass`, ` 1 skip`, ` 0 fail`, one per line. */
export function countBun(text: string): Counts {
  return {
    passed: number(text, /^ *(\d+) pass$/m),
    failed: number(text, /^ *(\d+) fail$/m),
    skipped: number(text, /^ *(\d+) (?:skip|todo)$/m),
  };
}

/** `12 passed, 0 failed, 1 skipped`, the last line of our own scripts. */
export function countOwn(text: string): Counts {
  const line = text.trimEnd().split("\n").at(-1) ?? "";
  return {
    passed: number(line, /(\d+) passed/),
    failed: number(line, /(\d+) failed/),
    skipped: number(line, /(\d+) skipped/),
  };
}

/** The sum of two counts. */
export function addCounts(a: Counts, b: Counts): Counts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/** No tests. */
export const NO_COUNTS: Counts = { passed: 0, failed: 0, skipped: 0 };

/** Counts as the last line of our own scripts. */
export function countsLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

function number(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? 0);
}
