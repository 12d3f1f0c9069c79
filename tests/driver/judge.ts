/** Counts calls, and judges the errors that they end with. */

import type { State } from "./states.ts";

/** What was found. */
export interface Finding {
  readonly step: number;
  readonly call: string;
  readonly error: string;
}

/** Calls by title and state. */
export type Counts = Record<string, Partial<Record<State, number>>>;

/** The outcome of a run. */
export interface Report {
  readonly counts: Counts;
  /** Calls by scene, title and state. */
  readonly scenes: Record<string, Counts>;
  /** Milliseconds that each scene took, all its performances together. */
  readonly times: Record<string, number>;
  readonly findings: Finding[];
}

/** The error that callbacks throw and signals abort with: it comes back, and is no finding. */
export class Deliberate extends Error {
  override name = "Deliberate";
}

/** Keeps the report of a run. */
export class Judge {
  readonly report: Report = { counts: {}, scenes: {}, times: {}, findings: [] };
  /** Objects that were disposed, or that live in one that was. */
  readonly gone = new WeakSet<object>();
  /** The step under way. */
  step = 0;

  /** Counts a call. */
  count(title: string, state: State, scene: string): void {
    for (const counts of [this.report.counts, this.report.scenes[scene] ??= {}]) {
      const states = counts[title] ??= {};
      states[state] = (states[state] ?? 0) + 1;
    }
  }

  /** Adds the time of a scene. */
  spend(scene: string, milliseconds: number): void {
    this.report.times[scene] = (this.report.times[scene] ?? 0) + milliseconds;
  }

  /** Whether an object was disposed, or the one that it lives in. */
  isGone(value: unknown): boolean {
    if (value === null || typeof value !== "object") return false;
    try {
      if (this.gone.has(value)) return true;
      const { disposed, context } = value as { disposed?: unknown; context?: { disposed?: unknown } };
      return disposed === true || context?.disposed === true;
    } catch {
      return false;
    }
  }

  /** An error with a code is the library's own; one of ours came back. Anything else is a finding. */
  error(call: string, error: unknown): void {
    try {
      if (isExpected(error)) return;
      this.report.findings.push({ step: this.step, call, error: words(error) });
    } catch {
      // A value that a callback threw, and that can't be looked at.
    }
  }

  /** A call that never settles. */
  hang(call: string, milliseconds: number): void {
    this.report.findings.push({ step: this.step, call, error: `isn't settled after ${milliseconds} ms` });
  }
}

function isExpected(error: unknown): boolean {
  // A callback of ours throws things that are no errors, too; the library throws errors alone.
  if (!(error instanceof Error)) return true;
  for (let one: unknown = error; one instanceof Error; one = one.cause) if (one instanceof Deliberate) return true;
  const { code, name } = error as { code?: unknown; name: string };
  if (error instanceof DOMException && name === "AbortError") return true;
  return typeof code === "string" && !name.startsWith("TypeError") && !code.startsWith("ERR_");
}

function words(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const places = error.stack?.split("\n").filter((line) => /\/(base|lib|ffi)\//.test(line)).slice(0, 3) ?? [];
  return `${error.name}: ${error.message.slice(0, 300)} ${places.map((line) => line.trim()).join(" < ")}`;
}
