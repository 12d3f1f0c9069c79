import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { isMainThread } from "node:worker_threads";
import { type GgmlError, NativeAbortError, NativeHangError, RemoteLostError } from "../../base/errors.ts";
import { type Guard, nameOfThreads } from "./guard.ts";
import type { LogLine } from "./log.ts";
import { MARK_TEXT } from "./guard_code.ts";

/** The policy for an `abort()` of native code: the thread at fault is parked for good and its call rejects, or the process ends. */
export type NativeAbortPolicy = "contain" | "exit";

/** The default of `watchdogMs`: the longest time of a call without a sign of life, in milliseconds. */
export const DEFAULT_WATCHDOG_MS = 120_000;
/** Milliseconds between two looks for parked threads. */
const LOOK_MS = 50;
/** The number of attempts to park a thread before it is given up. */
const ATTEMPTS = 40;
/** The number of looks for a sign of life within the watchdog's time. */
const LOOKS_A_WATCHDOG = 8;

/** A native thread with a call under way. */
export interface WatchedCall {
  /** The system's number of the thread. */
  readonly tid: number;
  /** See {@linkcode DEFAULT_WATCHDOG_MS}; 0 turns it off. */
  readonly watchdogMs: number;
  /** The time of its last sign of life, as `performance.now()` has it. */
  lastSign: number;
  /** The time at which it was cancelled. */
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
  /** The number of the next line of the log when the call began. */
  readonly mark: number;
  nextLook: number;
  /** The number of the next line of the log at the last look. */
  nextLine: number;
  /** Nanoseconds that its threads had run at the last look. */
  runtime: number;
  /** The reason that it will never return. */
  fate?: { readonly hang: boolean; attempts: number };
}

/**
 * Watches native threads that have a call under way: for aborts, which the guard notes, and for calls that never return. One per JavaScript thread.
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
    this.#calls.set(call.tid, { call, mark, nextLine: mark, nextLook, runtime: -1 });
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
    const lines = this.#guard.lines(state.nextLine, tid);
    state.nextLine = this.#guard.lineCount;
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
      this.#guard.lastMessage(threads),
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

/** The message of ggml's RPC client before it aborts. */
const SERVER_LOST = "Remote RPC server crashed";

function abortError(message: string | undefined, lines: readonly LogLine[]): NativeAbortError {
  const logged = message ?? lines.filter((line) => line.level === "error").at(-1)?.text;
  const why = message ??
    `abort() was called without a word, as an uncaught C++ exception does too${
      logged === undefined ? "" : `; before that it logged "${logged}"`
    }`;
  if (message?.includes(SERVER_LOST) === true) {
    return new RemoteLostError(`an RPC server was lost while native code worked with it; ${LOST}`, {
      value: message,
      expected: "a server that goes on; see that it runs",
    });
  }
  return new NativeAbortError(`native code gave up: ${why}; ${LOST}`, {
    value: message,
    expected: "input that native code doesn't abort on",
  });
}

function hangError({ watchdogMs }: WatchedCall): NativeHangError {
  return new NativeHangError(`a native call gave no sign of life for ${watchdogMs} ms and was given up: ${LOST}`, {
    value: watchdogMs,
    expected: "a call that returns, sends something, or uses the processor; watchdogMs sets the time, 0 is for ever",
  });
}
