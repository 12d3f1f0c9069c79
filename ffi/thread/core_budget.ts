import { availableParallelism } from "node:os";
import { InvalidArgumentError } from "../../base/errors.ts";

/** The most native threads that a process can have. */
export const MAX_THREADS = 256;
/** The words of the shared memory. */
const LOCK = 0, FREE = 1, TOTAL = 2, NEXT_TICKET = 3, SERVED = 4, CHANGES = 5, ACTIVE = 6, WANTED = 7, HELD = 8;
/** For each thread whether it waits, with which ticket, and how many cores it wants while it is at work. */
const WAITS = HELD + MAX_THREADS, TICKETS = WAITS + MAX_THREADS, WANTS = TICKETS + MAX_THREADS;
const WORDS = WANTS + MAX_THREADS;
/** Milliseconds between two looks whether a wait was cancelled. */
const POLL_MS = 20;

/** The shared memory behind the cores of a process. */
export type CoreMemory = SharedArrayBuffer;

/** Makes the shared memory for `total` cores (default: those of this machine that the process may use). */
export function makeCores(total: number = availableParallelism()): CoreMemory {
  if (!Number.isInteger(total) || total < 1) {
    throw new InvalidArgumentError(`${total} is not a valid number of cores`, {
      value: total,
      expected: "an integer of at least 1",
    });
  }
  const memory = new SharedArrayBuffer(WORDS * 4);
  const words = new Int32Array(memory);
  words[FREE] = total;
  words[TOTAL] = total;
  return memory;
}

/**
 * The processor's cores, shared out among the native threads of a process. ggml's compute threads spin at barriers, so more of them than cores is far
 * slower than one after another. Those at work get equal parts, since two models with a core each are faster than two that take turns with both; who
 * asked first gets cores first.
 *
 * ```ts ignore
 * // In a task, whose context has the budget of its thread:
 * const threads = context.cores.acquire(8);
 * lib.llama_set_n_threads(pointer, threads, threads);
 * // … a decode …
 * context.cores.release();
 * ```
 */
export class CoreBudget {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #slot: number;

  /** Makes the budget of thread number `slot` over the shared memory. Each thread has its own number, from 0 to 255. */
  constructor(memory: CoreMemory, slot: number) {
    if (!Number.isInteger(slot) || slot < 0 || slot >= MAX_THREADS) {
      throw new InvalidArgumentError(`${slot} is not a valid thread number`, {
        value: slot,
        expected: `an integer from 0 to ${MAX_THREADS - 1}`,
      });
    }
    this.#words = new Int32Array(memory);
    this.#slot = slot;
  }

  /** The number of cores to share. */
  get total(): number {
    return this.#at(TOTAL);
  }

  /** The number that this thread has now. */
  get held(): number {
    return this.#at(HELD + this.#slot);
  }

  /**
   * Takes up to `wanted` cores, no more than this thread's part, and says how many it got: at least one, or `least`. Waits, and blocks this thread, while
   * there are fewer; gives 0 when `cancelled`, which is asked some fifty times a second, says so meanwhile. Cores that the thread has are given back first.
   */
  acquire(wanted: number, cancelled: () => boolean = () => false, least = 1): number {
    this.pause();
    const ticket = this.#locked(() => {
      this.#want(Math.min(Math.max(1, wanted), this.total));
      return this.#takeTicket();
    });
    for (;;) {
      const seen = Atomics.load(this.#words, CHANGES);
      const granted = this.#locked(() => this.#grant(ticket, Math.min(Math.max(1, least), this.total)));
      if (granted > 0) return granted;
      if (cancelled()) {
        this.release();
        return 0;
      }
      Atomics.wait(this.#words, CHANGES, seen, POLL_MS);
    }
  }

  /** Gives back what the thread has until it asks again soon: it stays one of those among whom the cores are parted. */
  pause(): void {
    if (this.held === 0) return;
    this.#locked(() => this.#giveBack());
    this.#changed();
  }

  /** Gives back what the thread has, and its part. For the main thread: takes back what a lost thread had, and its place in the queue. */
  release(): void {
    if (this.#at(WANTS + this.#slot) === 0) return;
    this.#locked(() => {
      this.#leave();
      this.#giveBack();
      this.#want(0);
    });
    this.#changed();
  }

  #giveBack(): void {
    this.#words[FREE] = this.#at(FREE) + this.held;
    this.#words[HELD + this.#slot] = 0;
  }

  #want(wanted: number): void {
    const before = this.#at(WANTS + this.#slot);
    this.#words[WANTS + this.#slot] = wanted;
    this.#words[WANTED] = this.#at(WANTED) + wanted - before;
    this.#words[ACTIVE] = this.#at(ACTIVE) + Math.sign(wanted) - Math.sign(before);
  }

  /** An equal part of all cores, or what the others leave. */
  #part(): number {
    const own = this.#at(WANTS + this.#slot);
    return Math.min(own, Math.max(Math.floor(this.total / this.#at(ACTIVE)), this.total + own - this.#at(WANTED)));
  }

  #grant(ticket: number, least: number): number {
    const free = this.#at(FREE);
    if (this.#at(SERVED) !== ticket || free < least) return 0;
    const granted = Math.min(free, Math.max(least, this.#part()));
    this.#words[FREE] = free - granted;
    this.#words[HELD + this.#slot] = granted;
    this.#leave();
    return granted;
  }

  #takeTicket(): number {
    const ticket = this.#at(NEXT_TICKET);
    this.#words[NEXT_TICKET] = ticket + 1;
    this.#words[TICKETS + this.#slot] = ticket;
    this.#words[WAITS + this.#slot] = 1;
    return ticket;
  }

  /** Leaves the queue, served or not. */
  #leave(): void {
    if (this.#at(WAITS + this.#slot) === 0) return;
    this.#words[WAITS + this.#slot] = 0;
    if (this.#at(SERVED) === this.#at(TICKETS + this.#slot)) this.#serveNext();
  }

  /** Passes the turn on to who waits longest: tickets whose owners have left are skipped. */
  #serveNext(): void {
    const served = this.#at(SERVED);
    let ahead = this.#at(NEXT_TICKET) - served | 0;
    // Nobody can be nearer than the next ticket: the usual case, where nobody waits, looks at no thread.
    for (let slot = 0; ahead > 1 && slot < MAX_THREADS; slot++) {
      if (this.#at(WAITS + slot) === 1) ahead = Math.min(ahead, this.#at(TICKETS + slot) - served | 0);
    }
    this.#words[SERVED] = served + ahead;
    this.#changed();
  }

  #at(word: number): number {
    return Atomics.load(this.#words, word);
  }

  #changed(): void {
    Atomics.add(this.#words, CHANGES, 1);
    Atomics.notify(this.#words, CHANGES);
  }

  /** Runs a few instructions alone. The lock is held for nanoseconds, so waiting for it spins. */
  #locked<T>(action: () => T): T {
    while (Atomics.compareExchange(this.#words, LOCK, 0, 1) !== 0);
    try {
      return action();
    } finally {
      Atomics.store(this.#words, LOCK, 0);
    }
  }
}
