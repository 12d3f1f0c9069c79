// How many tests a runner ran, from its closing lines.

/** `ok | 12 passed (3 steps) | 0 failed | 1 ignored (2s)` */
export function countDeno(text) {
  const line = text.split("\n").findLast((l) => /^(ok|FAILED) \| /.test(l)) ?? "";
  return {
    passed: number(line, /(\d+) passed/),
    failed: number(line, /(\d+) failed/),
    skipped: number(line, /(\d+) ignored/),
  };
}

/** ` 12 pass`, ` 1 skip`, ` 0 fail`, a line each. */
export function countBun(text) {
  return {
    passed: number(text, /^ *(\d+) pass$/m),
    failed: number(text, /^ *(\d+) fail$/m),
    skipped: number(text, /^ *(\d+) (?:skip|todo)$/m),
  };
}

/** `12 passed, 0 failed, 1 skipped`, as our own scripts end. */
export function countOwn(text) {
  const line = text.trimEnd().split("\n").at(-1) ?? "";
  return {
    passed: number(line, /(\d+) passed/),
    failed: number(line, /(\d+) failed/),
    skipped: number(line, /(\d+) skipped/),
  };
}

function number(text, pattern) {
  return Number(pattern.exec(text)?.[1] ?? 0);
}
