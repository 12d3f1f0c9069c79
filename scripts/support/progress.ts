// The progress of set-up on stderr: a bar on a terminal, lines elsewhere.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

const LINE_MS = 15_000;
const DRAW_MS = 200;
const WATCH_MS = 500;
const BAR_WIDTH = 24;

/** Tells how far a step is: units done, units in all (0: unknown), a short text. */
export type ReportProgress = (done: number, total: number, text?: string) => void;

/** A stream that progress is written to. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

interface State {
  readonly done: number;
  readonly total: number;
  readonly text?: string | undefined;
}

interface View {
  report(state: State): void;
  close(succeeded: boolean, took: string): void;
}

/** Announces a step and how long it may take, runs it, and says how long it took. */
export async function step<T>(
  title: string,
  expectation: string,
  work: (report: ReportProgress) => Promise<T>,
  out: ProgressOutput = process.stderr,
): Promise<T> {
  const started = performance.now();
  const view: View = out.isTTY === true ? new Bar(title, expectation, out) : new Lines(title, expectation, out);
  let succeeded = false;
  try {
    const result = await work((done, total, text) => view.report({ done, total, text }));
    succeeded = true;
    return result;
  } finally {
    view.close(succeeded, seconds(performance.now() - started));
  }
}

class Bar implements View {
  private readonly started = performance.now();
  private readonly timer: ReturnType<typeof setInterval>;
  private state: State = { done: 0, total: 0 };

  constructor(
    private readonly title: string,
    private readonly expectation: string,
    private readonly out: ProgressOutput,
  ) {
    this.draw();
    this.timer = setInterval(() => this.draw(), DRAW_MS);
    this.timer.unref();
  }

  report(state: State): void {
    this.state = state;
  }

  close(succeeded: boolean, took: string): void {
    clearInterval(this.timer);
    this.out.write(`\r\x1b[K${succeeded ? "✓" : "✗"} ${this.title} (${took})\n`);
  }

  private draw(): void {
    const { done, total, text } = this.state;
    const parts = [this.title];
    if (total > 0) parts.push(bar(done / total));
    if (text) parts.push(text);
    parts.push(clock(performance.now() - this.started), `(${this.expectation})`);
    this.out.write(`\r\x1b[K${parts.join("  ").slice(0, (this.out.columns ?? 80) - 1)}`);
  }
}

class Lines implements View {
  private readonly started = performance.now();
  private readonly timer: ReturnType<typeof setInterval>;
  private state: State = { done: 0, total: 0 };

  constructor(title: string, expectation: string, private readonly out: ProgressOutput) {
    out.write(`${title} (${expectation}) …\n`);
    this.timer = setInterval(() => this.line(), LINE_MS);
    this.timer.unref();
  }

  report(state: State): void {
    this.state = state;
  }

  close(succeeded: boolean, took: string): void {
    clearInterval(this.timer);
    this.out.write(`  ${succeeded ? "done" : "failed"} after ${took}\n`);
  }

  private line(): void {
    const { done, total, text } = this.state;
    const parts = [clock(performance.now() - this.started)];
    if (total > 0) parts.push(`${percent(done / total)} %`);
    if (text) parts.push(text);
    this.out.write(`  ${parts.join("  ")}\n`);
  }
}

function bar(share: number): string {
  const full = Math.round(Math.min(1, share) * BAR_WIDTH);
  return `${"█".repeat(full)}${"░".repeat(BAR_WIDTH - full)} ${String(percent(share)).padStart(3)} %`;
}

function percent(share: number): number {
  return Math.floor(Math.min(1, share) * 100);
}

function clock(ms: number): string {
  const s = Math.floor(ms / 1000);
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
}

/** Milliseconds as `0.42 s`, `12 s`, `3 min 5 s`. */
export function seconds(ms: number): string {
  const s = ms / 1000;
  if (s < 10) return `${s.toFixed(s < 1 ? 2 : 1)} s`;
  return s < 60 ? `${Math.round(s)} s` : `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
}

/** Reports the bytes under `folder` against `total` until `work` is done: the progress of a program that prints none. */
export async function watchBytes<T>(
  folder: string,
  total: number,
  report: ReportProgress,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(async () => report(await bytesUnder(folder), total), WATCH_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

async function bytesUnder(folder: string): Promise<number> {
  let sum = 0;
  try {
    for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
      if (entry.isFile()) sum += (await stat(join(entry.parentPath, entry.name))).size;
    }
  } catch {
    // It changes while it is read.
  }
  return sum;
}
