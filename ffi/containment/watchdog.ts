import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { isMainThread } from "node:worker_threads";
import { type GgmlError, NativeAbortError, NativeHangError, RemoteLostError } from "../../base/errors.ts";
import { type Guard, nameOfThreads } from "./guard.ts";
import type { LogLine } from "./log.ts";
import { MARK_TEXT } from "./guard_code.ts";

/** What happens when native code calls `abort()`: the thread at fault is put to sleep for ever and its call rejects, or the process ends. */
export type NativeAbortPolicy = "contain" | "exit";

/** How long a call may go without a sign of life, in milliseconds. */
export const DEFAULT_WATCHDOG_MS = 120_000;
/** How often is looked for parked threads. */
const LOOK_MS = 50;
/** How often a thread that doesn't let itself be parked is asked to; then it is given up. */
const ATTEMPTS = 40;
/** How often in the watchdog's time is asked for a sign of life. */
const LOOKS_A_WATCHDOG = 8;

/** A native thread with a call under way. */
export interface WatchedCall {
  /** The system's number of the thread. */
  readonly tid: number;
  /** See {@linkcode DEFAULT_WATCHDOG_MS}; 0 turns it off. */
  readonly watchdogMs: number;
  /** When it last gave a sign of life, in the time of `performance.now()`. */
  lastSign: number;
  /** When it was told to stop. */
  cancelledAt: number | undefined;
  /** Whether an abort is survived, and a call that never returns given up. */
  readonly contain: boolean;
  /** Gets the lines that native code logs on the thread. */
  readonly onLog: ((line: LogLine) => void) | undefined;
  /** Called once, when the call will never return; the thread's own threads sleep then, too. */
  lose(error: GgmlError): void;
}

interface State {
  readonly call: WatchedCall;
  /** Where the log was when the call began. */
  readonly mark: number;
  nextLook: number;
  /** Where the log was at the last look. */
  heard: number;
  /** Nanoseconds that its threads had run at the last look. */
  runtime: number;
  /** Why it will never return. */
  fate?: { readonly hang: boolean; attempts: number };
}

/**
 * Watches native threads that have a call under way: for aborts, which the guard notes, and for calls that never return. One a JavaScript thread.
 * Costs a read of memory every {@linkcode LOOK_MS} milliseconds while there are such calls.
 */
export class AbortWatch {
  readonly #guard: Guard;
  readonly #calls = new Map<number, State>();
  readonly #parked = new Set<number>();
  #seen = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** A watch by a guard. */
  constructor(guard: Guard) {
    this.#guard = guard;
  }

  /** Watches a call until {@linkcode AbortWatch.end}. */
  begin(call: WatchedCall): void {
    const nextLook = call.lastSign + call.watchdogMs / LOOKS_A_WATCHDOG;
    const mark = this.#guard.lineCount;
    this.#calls.set(call.tid, { call, mark, heard: mark, nextLook, runtime: -1 });
    // It keeps no program alive: the call does.
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** The call of this thread has returned. */
  end(tid: number): void {
    const state = this.#calls.get(tid);
    if (state !== undefined) this.#deliver(state);
    this.#calls.delete(tid);
    this.#rest();
  }

  /** Stops the timer when there is nothing to watch: no timer outlives the last call. */
  #rest(): void {
    if (this.#calls.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    if (this.#guard.parkedCount !== this.#seen) this.#takeParked();
    const now = performance.now();
    for (const state of this.#calls.values()) {
      this.#deliver(state);
      if (!state.call.contain) continue;
      if (state.fate !== undefined) this.#park(state, state.fate);
      else if (state.call.watchdogMs > 0 && now >= state.nextLook) this.#askForSign(state, now);
    }
  }

  #deliver(state: State): void {
    const { onLog, tid } = state.call;
    if (onLog === undefined) return;
    const lines = this.#guard.lines(state.heard, tid);
    state.heard = this.#guard.lineCount;
    for (const line of lines) onLog(line);
  }

  #takeParked(): void {
    for (const tid of this.#guard.parked(this.#seen)) {
      this.#seen++;
      this.#parked.add(tid);
      const name = this.#guard.linux.nameOf(tid);
      const state = this.#calls.get(Number(name.slice(MARK_TEXT.length)));
      if (state !== undefined) state.fate ??= { hang: false, attempts: 0 };
    }
  }

  /** Parks what else runs or waits for this call: ggml's compute threads would spin for ever. */
  #park({ call, mark }: State, fate: { readonly hang: boolean; attempts: number }): void {
    const threads = this.#threadsOf(call.tid);
    const awake = threads.filter((tid) => !this.#parked.has(tid));
    if (awake.length > 0 && fate.attempts++ < ATTEMPTS) {
      for (const tid of awake) this.#guard.linux.abort(tid);
      return;
    }
    this.#calls.delete(call.tid);
    this.#rest();
    call.lose(fate.hang ? hangError(call) : this.#abortError(threads, mark));
  }

  #abortError(threads: readonly number[], mark: number): NativeAbortError {
    return abortError(
      this.#guard.lastWords(threads),
      this.#guard.lines(mark).filter((line) => threads.includes(line.tid)),
    );
  }

  #threadsOf(tid: number): number[] {
    const { linux } = this.#guard;
    const name = nameOfThreads(tid);
    return linux.threads().filter((one) => linux.nameOf(one) === name);
  }

  #askForSign(state: State, now: number): void {
    const { call } = state;
    state.nextLook = now + call.watchdogMs / LOOKS_A_WATCHDOG;
    const runtime = this.#threadsOf(call.tid).reduce((sum, tid) => sum + (this.#guard.linux.runtimeOf(tid) ?? 0), 0);
    if (runtime !== state.runtime) call.lastSign = now;
    state.runtime = runtime;
    const overdue = now - call.lastSign >= call.watchdogMs ||
      call.cancelledAt !== undefined && now - call.cancelledAt >= call.watchdogMs;
    if (overdue) state.fate = { hang: true, attempts: 0 };
  }
}

const watches = new WeakMap<object, AbortWatch>();

/** The watch of this JavaScript thread; `undefined` where aborts can't be contained. */
export function abortWatch(guard: Guard | undefined): AbortWatch | undefined {
  // When a Worker ends, Bun waits for the Workers that it started, and everything else with it: one that sleeps for ever would stop the program.
  if (guard === undefined || ("bun" in process.versions && !isMainThread)) return undefined;
  let watch = watches.get(guard);
  if (watch === undefined) {
    watch = new AbortWatch(guard);
    watches.set(guard, watch);
  }
  return watch;
}

const LOST = "what was on this native thread is lost, and its memory stays taken; load the model again";

/** What ggml's RPC client says before it gives up. */
const SERVER_LOST = "Remote RPC server crashed";

function abortError(words: string | undefined, lines: readonly LogLine[]): NativeAbortError {
  const said = words ?? lines.filter((line) => line.level === "error").at(-1)?.text;
  const why = words ??
    `abort() was called without a word, as an uncaught C++ exception does too${
      said === undefined ? "" : `; before that it logged "${said}"`
    }`;
  if (words?.includes(SERVER_LOST) === true) {
    return new RemoteLostError(`an RPC server was lost while native code worked with it; ${LOST}`, {
      value: words,
      expected: "a server that goes on; see that it runs",
    });
  }
  return new NativeAbortError(`native code gave up: ${why}; ${LOST}`, {
    value: words,
    expected: "input that native code doesn't give up on",
  });
}

function hangError({ watchdogMs }: WatchedCall): NativeHangError {
  return new NativeHangError(`a native call gave no sign of life for ${watchdogMs} ms and was given up: ${LOST}`, {
    value: watchdogMs,
    expected: "a call that returns, sends something, or uses the processor; watchdogMs sets the time, 0 is for ever",
  });
}
