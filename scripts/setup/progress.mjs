// What set-up says while it works, on stderr: a bar on a terminal, lines elsewhere.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

const lineEvery = 15_000;
const barWidth = 24;

/**
 * Says what is done and how long it may take, does it, and says how long it took. `work` is given a function to report with:
 * `report(done, total, text)`, each of them optional.
 */
export async function step(title, expectation, work, out = process.stderr) {
  const started = performance.now();
  const view = out.isTTY ? new Bar(title, expectation, out) : new Lines(title, expectation, out);
  try {
    const result = await work((done, total, text) => view.report(done, total, text));
    view.close(true, seconds(performance.now() - started));
    return result;
  } catch (error) {
    view.close(false, seconds(performance.now() - started));
    throw error;
  }
}

class Bar {
  #title;
  #expectation;
  #out;
  #started = performance.now();
  #state = {};
  #timer;

  constructor(title, expectation, out) {
    Object.assign(this, { title, expectation });
    this.#title = title;
    this.#expectation = expectation;
    this.#out = out;
    this.#draw();
    this.#timer = setInterval(() => this.#draw(), 200);
    this.#timer.unref();
  }

  report(done, total, text) {
    this.#state = { done, total, text };
  }

  close(fine, took) {
    clearInterval(this.#timer);
    this.#out.write(`\r\x1b[K${fine ? "✓" : "✗"} ${this.#title} (${took})\n`);
  }

  #draw() {
    const { done, total, text } = this.#state;
    const parts = [this.#title];
    if (total > 0) parts.push(bar(done / total));
    if (text) parts.push(text);
    parts.push(clock(performance.now() - this.#started), `(${this.#expectation})`);
    this.#out.write(`\r\x1b[K${parts.join("  ").slice(0, (this.#out.columns ?? 80) - 1)}`);
  }
}

class Lines {
  #out;
  #started = performance.now();
  #state = {};
  #timer;

  constructor(title, expectation, out) {
    this.#out = out;
    out.write(`${title} (${expectation}) …\n`);
    this.#timer = setInterval(() => this.#line(), lineEvery);
    this.#timer.unref();
  }

  report(done, total, text) {
    this.#state = { done, total, text };
  }

  close(fine, took) {
    clearInterval(this.#timer);
    this.#out.write(`  ${fine ? "done" : "failed"} after ${took}\n`);
  }

  #line() {
    const { done, total, text } = this.#state;
    const parts = [clock(performance.now() - this.#started)];
    if (total > 0) parts.push(`${percent(done / total)} %`);
    if (text) parts.push(text);
    this.#out.write(`  ${parts.join("  ")}\n`);
  }
}

function bar(share) {
  const full = Math.round(Math.min(1, share) * barWidth);
  return `${"█".repeat(full)}${"░".repeat(barWidth - full)} ${String(percent(share)).padStart(3)} %`;
}

function percent(share) {
  return Math.floor(Math.min(1, share) * 100);
}

function clock(ms) {
  const s = Math.floor(ms / 1000);
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
}

/** 0.42 s, 12 s, 3 min 5 s. */
export function seconds(ms) {
  const s = ms / 1000;
  if (s < 10) return `${s.toFixed(s < 1 ? 2 : 1)} s`;
  return s < 60 ? `${Math.round(s)} s` : `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
}

/** Reports the bytes under `folder` against `total` until `work` is over: how far a program is that says nothing itself. */
export async function watchBytes(folder, total, report, work) {
  const timer = setInterval(async () => report(await bytesUnder(folder), total), 500);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

async function bytesUnder(folder) {
  let sum = 0;
  try {
    for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
      if (entry.isFile()) sum += (await stat(join(entry.parentPath ?? entry.path, entry.name))).size;
    }
  } catch {
    // It changes while we look.
  }
  return sum;
}
