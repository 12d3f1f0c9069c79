/** Makes random calls on the objects of an entry point and judges what comes of them. */

import { randomBelow } from "../support/random.ts";
import type { Api, ApiCall, ApiType } from "./api.ts";
import { pick, valueOf, type ValueSource } from "./values.ts";

/** The states of a call's object that are told apart. */
export type State = "fresh" | "in use" | "in callback" | "disposed";

/** What was found. */
export interface Finding {
  readonly step: number;
  readonly call: string;
  readonly error: string;
}

/** The outcome of a run. */
export interface Report {
  /** Calls by title and state. */
  readonly counts: Record<string, Partial<Record<State, number>>>;
  readonly findings: Finding[];
}

/** Prepares objects that random calls alone would seldom make. */
export type Recipe = (source: ValueSource, keep: (...made: unknown[]) => void) => unknown;

/** What a machine works on. */
export interface MachineOptions {
  readonly api: Api;
  /** The exports of the entry point; those of its namespaces by their own names. */
  readonly exports: Readonly<Record<string, unknown>>;
  readonly recipes: readonly Recipe[];
  /** Calls that are never made. */
  readonly excluded: ReadonlySet<string>;
  readonly seed: number;
  /** Gets a line before each call. */
  readonly trace: (line: string) => void;
}

const POOL = 12;
/** The error that callbacks throw and signals abort with: it comes back, and is no finding. */
class Deliberate extends Error {
  override name = "Deliberate";
}

/** A run of random calls. */
export class Machine {
  readonly report: Report = { counts: {}, findings: [] };
  readonly #options: MachineOptions;
  readonly #pools = new Map<string, unknown[]>();
  readonly #pending = new Map<unknown, number>();
  readonly #waiting = new Set<Promise<unknown>>();
  #below: (limit: number) => number = randomBelow(0);
  #step = 0;
  #depth = 0;

  constructor(options: MachineOptions) {
    this.#options = options;
  }

  /** Gives it an object to work with, by the name of its type. */
  add(name: string, object: unknown): void {
    this.#pools.set(name, [object]);
  }

  /** Makes one step: a recipe or a call. Each has random numbers of its own, so that a run without others stays much the same. */
  async step(step: number): Promise<void> {
    this.#step = step;
    this.#below = randomBelow(this.#options.seed * 1_000_003 + step);
    if (this.#below(6) === 0) await this.#recipe();
    else this.#call();
    if (this.#below(3) === 0) await this.#settle();
    if (this.#waiting.size > 24) await this.#settle();
  }

  /** Waits for all calls that are under way. */
  async #settle(): Promise<void> {
    while (this.#waiting.size > 0) await Promise.all(this.#waiting);
  }

  /** Waits for what is under way and disposes everything that the run made. */
  async end(): Promise<void> {
    await this.#settle();
    for (const object of [...this.#pools.values()].flat()) {
      const one = object as Partial<Disposable & AsyncDisposable>;
      try {
        if (typeof one[Symbol.asyncDispose] === "function") await one[Symbol.asyncDispose]?.();
        else if (typeof one[Symbol.dispose] === "function") one[Symbol.dispose]?.();
      } catch (error) {
        this.#judge("dispose at the end", error);
      }
    }
  }

  get #source(): ValueSource {
    return {
      below: (limit) => this.#below(limit),
      api: this.#options.api,
      object: (name) => this.#object(name),
      callback: (result) => this.#callback(result),
      signal: () => this.#signal(),
    };
  }

  async #recipe(): Promise<void> {
    const index = this.#below(this.#options.recipes.length);
    this.#options.trace(`${this.#step} recipe ${index}`);
    try {
      const made = this.#options.recipes[index]?.(
        this.#source,
        (...objects) => objects.forEach((one) => this.#keep(one)),
      );
      this.#keep(await made);
    } catch (error) {
      this.#judge(`recipe ${index}`, error);
    }
  }

  #call(): void {
    const calls = this.#options.api.calls.filter(({ title }) => !this.#options.excluded.has(title));
    const call = pick((limit) => this.#below(limit), calls);
    const receiver = call.kind === "method" || call.kind === "getter" || call.kind === "setter"
      ? this.#object(call.owner)
      : undefined;
    if (receiver === undefined && (call.kind === "method" || call.kind === "getter" || call.kind === "setter")) return;
    const args = this.#arguments(call);
    this.#count(call, receiver);
    this.#options.trace(
      `${this.#step} ${this.#depth > 0 ? "in a callback: " : ""}${call.title}(${args.map(shown).join(", ")})`,
    );
    try {
      this.#take(call, [receiver, ...args], this.#invoke(call, receiver, args));
    } catch (error) {
      this.#judge(call.title, error);
    }
  }

  #arguments({ parameters }: ApiCall): unknown[] {
    const wanted = parameters.filter(({ optional }) => !optional || this.#below(2) === 0);
    const given = this.#below(25) === 0 ? wanted.slice(0, this.#below(wanted.length + 1)) : wanted;
    return given.map(({ type }) => valueOf(type, this.#source));
  }

  #invoke(call: ApiCall, receiver: unknown, args: unknown[]): unknown {
    const { exports } = this.#options;
    const own = exports[call.owner === "" ? call.name : call.owner];
    switch (call.kind) {
      case "function":
        return (own as (...given: unknown[]) => unknown)(...args);
      case "constructor":
        return new (own as new (...given: unknown[]) => unknown)(...args);
      case "static":
        return (own as Record<string, (...given: unknown[]) => unknown>)[call.name]?.(...args);
      case "getter":
        return (receiver as Record<string, unknown>)[call.name];
      case "setter":
        (receiver as Record<string, unknown>)[call.name] = args[0];
        return undefined;
      case "method":
        return (receiver as Record<string, (...given: unknown[]) => unknown>)[call.name]?.(...args);
    }
  }

  /** Keeps what a call gave; a Promise is waited for, and a stream read for a while. */
  #take(call: ApiCall, used: readonly unknown[], given: unknown): void {
    if (given === null || typeof given !== "object") return;
    const stream = (given as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] !== undefined;
    if (!stream && typeof (given as Partial<PromiseLike<unknown>>).then !== "function") return this.#keep(given);
    for (const one of used) this.#pending.set(one, (this.#pending.get(one) ?? 0) + 1);
    const work = stream
      ? this.#read(given as AsyncIterable<unknown>)
      : (given as PromiseLike<unknown>).then((made) => this.#keep(made));
    const settled: Promise<unknown> = Promise.resolve(work).catch((error) => this.#judge(call.title, error)).finally(
      () => {
        this.#waiting.delete(settled);
        for (const one of used) this.#pending.set(one, (this.#pending.get(one) ?? 1) - 1);
      },
    );
    this.#waiting.add(settled);
  }

  async #read(stream: AsyncIterable<unknown>): Promise<void> {
    let left = 3;
    for await (const item of stream) {
      this.#keep(item);
      if (--left === 0) break;
    }
  }

  #keep(value: unknown): void {
    if (Array.isArray(value)) return value.slice(0, 4).forEach((one) => this.#keep(one));
    if (value === null || typeof value !== "object") return;
    const name = this.#options.api.classes.find((one) => {
      const type = this.#options.exports[one];
      return typeof type === "function" && value instanceof type;
    });
    if (name === undefined) return;
    const pool = this.#pools.get(name) ?? [];
    if (pool.length < POOL) pool.push(value);
    else pool[this.#below(POOL)] = value;
    this.#pools.set(name, pool);
  }

  #object(name: string): unknown {
    const pool = this.#pools.get(name);
    return pool === undefined ? undefined : pick((limit) => this.#below(limit), pool);
  }

  #callback(result: ApiType): unknown {
    return (): unknown => {
      if (this.#below(10) === 0) throw new Deliberate("a callback threw");
      if (this.#depth < 2) {
        this.#depth++;
        try {
          for (let left = this.#below(3); left > 0; left--) this.#call();
        } finally {
          this.#depth--;
        }
      }
      return valueOf(result, this.#source);
    };
  }

  #signal(): AbortSignal {
    const controller = new AbortController();
    const kind = this.#below(3);
    if (kind === 0) controller.abort(new Deliberate("aborted before"));
    if (kind === 1) queueMicrotask(() => controller.abort(new Deliberate("aborted soon")));
    return controller.signal;
  }

  #count(call: ApiCall, receiver: unknown): void {
    const state: State = this.#depth > 0
      ? "in callback"
      : (receiver as { disposed?: boolean } | undefined)?.disposed === true
      ? "disposed"
      : (this.#pending.get(receiver) ?? 0) > 0
      ? "in use"
      : "fresh";
    const counts = this.report.counts[call.title] ??= {};
    counts[state] = (counts[state] ?? 0) + 1;
  }

  /** An error with a code is the library's own; one of ours came back. Anything else is a finding. */
  #judge(call: string, error: unknown): void {
    for (let one: unknown = error; one instanceof Error; one = one.cause) if (one instanceof Deliberate) return;
    if (
      error instanceof Error && typeof (error as { code?: unknown }).code === "string" &&
      !error.name.startsWith("TypeError")
    ) return;
    if (error instanceof DOMException && error.name === "AbortError") return;
    const words = error instanceof Error
      ? `${error.name}: ${error.message} ${
        error.stack?.split("\n").find((line) => /lib\/|ffi\//.test(line))?.trim() ?? ""
      }`
      : String(error);
    this.report.findings.push({ step: this.#step, call, error: words });
  }
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 20));
  if (typeof value !== "object" || value === null) {
    return String(typeof value === "function" ? "function" : typeof value === "symbol" ? "symbol" : value);
  }
  try {
    if (Array.isArray(value)) return `[${Array.from(value.slice(0, 4), shown).join(", ")}]`;
    const name = Object.getPrototypeOf(value)?.constructor?.name ?? "null";
    return name === "Object"
      ? `{ ${
        Object.entries(value).slice(0, 4).map(([key, one]) => `${key}: ${typeof one === "object" ? "…" : shown(one)}`)
          .join(", ")
      } }`
      : name;
  } catch {
    return "a revoked Proxy";
  }
}
