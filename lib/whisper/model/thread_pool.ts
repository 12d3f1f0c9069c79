import type { GgmlError } from "../../../base/errors.ts";
import type { NativeThread } from "../../../ffi/thread/native_thread.ts";
import { DisposedError } from "../../errors.ts";
import type { WhisperTasks } from "../thread/tasks.ts";

/** A native thread of a Whisper model. */
export type WhisperThread = NativeThread<WhisperTasks>;

/** The native threads of one model: as many as transcriptions may run at once, each started when it is first needed. */
export class ThreadPool {
  readonly #start: () => Promise<WhisperThread>;
  readonly #most: number;
  readonly #threads: WhisperThread[];
  readonly #free: WhisperThread[];
  readonly #waiting: ((thread: WhisperThread) => void)[] = [];
  readonly #starting = new Set<Promise<WhisperThread>>();
  readonly #work = new Set<Promise<unknown>>();
  #ended = false;

  /** `first` loaded the model; `start` starts others, up to `most` in all. */
  constructor(first: WhisperThread, start: () => Promise<WhisperThread>, most: number) {
    this.#start = start;
    this.#most = most;
    this.#threads = [first];
    this.#free = [first];
  }

  /** Why the model is lost: what is lost on one thread is lost for all. */
  get lost(): GgmlError | undefined {
    return this.#threads.find(({ lost }) => lost !== undefined)?.lost;
  }

  /** Does something that the model is needed for: it isn't freed before that has ended. Rejects with DisposedError once it is to be freed. */
  async keep<T>(work: () => Promise<T>): Promise<T> {
    if (this.#ended) {
      throw new DisposedError("the Whisper model was disposed; load it again", { expected: "a model that is loaded" });
    }
    const running = work();
    this.#work.add(running);
    try {
      return await running;
    } finally {
      this.#work.delete(running);
    }
  }

  /** {@linkcode ThreadPool.keep} on a thread that has nothing else to do; waits for one while there is none. Who asked first comes first. */
  with<T>(work: (thread: WhisperThread) => Promise<T>): Promise<T> {
    return this.keep(() => this.on(work));
  }

  /** Waits for the work that was asked for, frees the model by `last`, and gives the threads back. */
  async end(last: (thread: WhisperThread) => Promise<unknown>): Promise<void> {
    this.#ended = true;
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
    const [first] = this.#threads;
    try {
      // After an abort nothing of the model may be touched any more.
      if (first !== undefined && this.lost === undefined) await last(first);
    } finally {
      await Promise.all(this.#threads.map((thread) => thread[Symbol.asyncDispose]()));
    }
  }

  /** Does work on a thread that has nothing else to do, inside of {@linkcode ThreadPool.keep}. */
  async on<T>(work: (thread: WhisperThread) => Promise<T>): Promise<T> {
    const thread = await this.#take();
    try {
      if (this.lost !== undefined) throw this.lost;
      return await work(thread);
    } finally {
      this.#giveBack(thread);
    }
  }

  #take(): Promise<WhisperThread> | WhisperThread {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#threads.length + this.#starting.size < this.#most) return this.#another();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async #another(): Promise<WhisperThread> {
    const started = this.#start();
    this.#starting.add(started);
    try {
      const thread = await started;
      this.#threads.push(thread);
      return thread;
    } finally {
      this.#starting.delete(started);
    }
  }

  #giveBack(thread: WhisperThread): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(thread);
    else next(thread);
  }
}
