/** How often each call was made in each state, and what is still to be done. */

import type { Api, ApiCall } from "./api.ts";
import { excludedOf } from "./excluded.ts";
import type { Counts, Finding, Report } from "./judge.ts";
import { type State, states, statesOf } from "./states.ts";

/** How often everything shall be called. */
export interface Targets {
  /** Calls of each method. */
  readonly calls: number;
  /** Calls in each state that applies. */
  readonly perState: number;
}

/** Adds up reports. */
export class Table {
  /** What was found, by kind. */
  readonly findings = new Map<string, Finding & { times: number; seed: number }>();
  readonly #calls: readonly ApiCall[];
  readonly #reasons: ReadonlyMap<string, Readonly<Record<State, string | undefined>>>;
  readonly #counts: Counts = {};
  readonly #scenes: Record<string, Counts> = {};
  readonly #times: Record<string, number> = {};

  constructor(api: Api) {
    const excluded = excludedOf(api);
    const byTitle = new Map(api.calls.map((call) => [call.title, call]));
    this.#calls = [...byTitle.values()].filter(({ title }) => !excluded.has(title));
    this.#reasons = new Map(this.#calls.map((call) => [call.title, statesOf(call, api)]));
  }

  /** Adds a report. */
  add(report: Report, seed: number): void {
    merge(this.#counts, report.counts);
    for (const [scene, counts] of Object.entries(report.scenes)) merge(this.#scenes[scene] ??= {}, counts);
    for (const [scene, ms] of Object.entries(report.times)) this.#times[scene] = (this.#times[scene] ?? 0) + ms;
    for (const finding of report.findings) {
      const key = `${finding.call} ${finding.error.replaceAll(/\d+/g, "#")}`;
      const known = this.findings.get(key);
      this.findings.set(key, { ...finding, seed, times: (known?.times ?? 0) + 1 });
    }
  }

  /** Number of calls so far. */
  get total(): number {
    return this.#calls.reduce((sum, { title }) => sum + this.#sum(title), 0);
  }

  /** Number of different calls. */
  get size(): number {
    return this.#calls.length;
  }

  #sum(title: string): number {
    return Object.values(this.#counts[title] ?? {}).reduce((sum, count) => sum + count, 0);
  }

  #count(title: string, state: State): number {
    return this.#counts[title]?.[state] ?? 0;
  }

  /** What is short of the targets, in words. */
  behind({ calls, perState }: Targets): string[] {
    return this.#calls.flatMap(({ title }) => [
      ...(this.#sum(title) < calls ? [`${title}: ${this.#sum(title)} calls`] : []),
      ...this.#applicable(title).filter((state) => this.#count(title, state) < perState)
        .map((state) => `${title}: ${this.#count(title, state)} ${state}`),
    ]);
  }

  #applicable(title: string): State[] {
    const reasons = this.#reasons.get(title);
    return states.filter((state) => reasons?.[state] === undefined);
  }

  /** How much scenes and calls are wanted: those that bring on what is behind, more. */
  weights({ calls, perState }: Targets): Record<string, number> {
    const wanted = (title: string, state: State): number =>
      (this.#applicable(title).includes(state) ? Math.max(0, 1 - this.#count(title, state) / perState) : 0) +
      Math.max(0, 1 - this.#sum(title) / calls);
    const weights: Record<string, number> = {};
    for (const { title } of this.#calls) {
      const most = Math.max(...states.map((state) => wanted(title, state)));
      weights[title] = Math.min(1, 0.1 + most);
    }
    for (const [scene, counts] of Object.entries(this.#scenes)) {
      let gain = 0;
      for (const [title, byState] of Object.entries(counts)) {
        for (const [state, count] of Object.entries(byState) as [State, number][]) {
          gain += count * wanted(title, state);
        }
      }
      // By time: some scenes take a thousand times as long as others.
      weights[scene] = 0.002 + gain / (100 + (this.#times[scene] ?? 0));
    }
    return weights;
  }

  /** The table as lines: calls by state, a dash where a state doesn't apply. */
  lines(): string[] {
    const cell = (title: string, state: State): string =>
      this.#reasons.get(title)?.[state] === undefined
        ? String(this.#count(title, state))
        : `-${this.#count(title, state) || ""}`;
    const head = ["".padEnd(44), "all".padStart(9), ...states.map((state) => state.padStart(12))].join("");
    const rows = this.#calls.toSorted((a, b) => a.title < b.title ? -1 : 1).map(({ title }) =>
      [
        title.padEnd(44),
        String(this.#sum(title)).padStart(9),
        ...states.map((state) => cell(title, state).padStart(12)),
      ].join("")
    );
    return [head, ...rows];
  }

  /** The smallest number of calls of a method, and in each state that applies. */
  least(): string {
    const all = Math.min(...this.#calls.map(({ title }) => this.#sum(title)));
    const each = states.map((state) => {
      const counts = this.#calls.filter(({ title }) => this.#applicable(title).includes(state))
        .map(({ title }) => this.#count(title, state));
      return `${state} ${counts.length === 0 ? "-" : Math.min(...counts)} (of ${counts.length})`;
    });
    return `least calls of a method ${all}; in a state: ${each.join(", ")}`;
  }

  /** Time and calls of each scene. */
  scenes(): string[] {
    return Object.entries(this.#times).map(([scene, ms]) => {
      const counts = Object.values(this.#scenes[scene] ?? {}).flatMap((states) => Object.values(states));
      return `${scene}: ${(ms / 1000).toFixed(1)} s, ${counts.reduce((sum, count) => sum + count, 0)} calls`;
    });
  }

  /** Why methods are never in a state, each reason once. */
  reasons(): string[] {
    const by = new Map<string, string[]>();
    for (const { title } of this.#calls) {
      for (const state of states) {
        const reason = this.#reasons.get(title)?.[state];
        if (reason === undefined) continue;
        const key = `never ${state}, since ${reason}`;
        const owner = title.split(".")[0] ?? title;
        const known = by.get(key) ?? [];
        if (!known.includes(owner)) known.push(owner);
        by.set(key, known);
      }
    }
    return [...by].map(([key, owners]) => `${key}: ${owners.join(", ")}`);
  }
}

function merge(into: Counts, from: Counts): void {
  for (const [title, byState] of Object.entries(from)) {
    const known = into[title] ??= {};
    for (const [state, count] of Object.entries(byState) as [State, number][]) {
      known[state] = (known[state] ?? 0) + count;
    }
  }
}
