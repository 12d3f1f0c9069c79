import { type RulesOf, signal } from "../../../base/options.ts";
import {
  type Native,
  NativeAbortError,
  NativeHangError,
  type NativeThread,
  NativeThreadError,
} from "../../../ffi/mod.ts";
import { startThread } from "../../worker/start.ts";
import type { GgmlError } from "../../errors.ts";
import { abandon } from "../tensor/handle.ts";
import type { GgmlTasks } from "../thread/tasks.ts";

/** Options of work on a native thread. */
export interface WorkOptions {
  /** Stops the work: at the next node, where the backend can stop there. The promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** The options of work on a native thread. */
export const workRules = { signal: signal() } satisfies RulesOf<WorkOptions>;

/** The native thread of one object, started when it is first needed. */
export class ComputeThread {
  readonly #native: Native;
  #thread: Promise<NativeThread<GgmlTasks>> | undefined;
  #working = 0;
  #lost: GgmlError | undefined;

  /** A thread for an object of these libraries. */
  constructor(native: Native) {
    this.#native = native;
  }

  /** Whether work is under way. */
  get working(): boolean {
    return this.#working > 0;
  }

  /** The error that ended the thread; its objects can't be used any more. */
  get lost(): GgmlError | undefined {
    return this.#lost;
  }

  /** Throws what ended the thread: native code may not see again what it worked on. */
  assertKept(): void {
    if (this.#lost !== undefined) throw this.#lost;
  }

  /** Does work on the calling thread. `releases` are called when it has ended. */
  runSync<T>(releases: readonly (() => void)[], work: () => T): T {
    this.#working++;
    try {
      return work();
    } finally {
      this.#working--;
      releases.forEach((release) => release());
    }
  }

  /**
   * Does work on the thread, in the order in which it was asked for. `releases` are called when it has ended; not when the thread was lost, since native
   * code may still use what they retain.
   */
  async run<T>(
    releases: readonly (() => void)[],
    work: (thread: NativeThread<GgmlTasks>) => Promise<T>,
  ): Promise<T> {
    this.#working++;
    try {
      this.assertKept();
      return await this.#watch(work(await (this.#thread ??= this.#start())));
    } finally {
      this.#working--;
      if (this.#lost === undefined) releases.forEach((release) => release());
      else abandon(releases);
    }
  }

  async #watch<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (isLoss(error)) this.#lost ??= error;
      throw error;
    }
  }

  /** A start that failed, such as for want of threads, is tried again the next time. */
  #start(): Promise<NativeThread<GgmlTasks>> {
    const thread = startThread<GgmlTasks>(this.#native);
    thread.catch(() => this.#thread = undefined);
    return thread;
  }

  /** Releases the thread once its work is done. */
  end(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    thread?.then((one) => one[Symbol.asyncDispose](), () => {});
  }
}

function isLoss(error: unknown): error is GgmlError {
  return error instanceof NativeAbortError || error instanceof NativeHangError || error instanceof NativeThreadError;
}
