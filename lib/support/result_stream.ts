import { ItemQueue } from "./item_queue.ts";

/** The state of a stream's work; one that was cancelled has failed. */
export type StreamState = "in progress" | "done" | "failed";

/**
 * Work that is under way: a promise of its result and an async iterable of what it makes meanwhile, in one.
 *
 * - The work starts at once, whether or not anyone listens.
 * - An error goes to whoever listens: to `then`, `catch` and `finally`, or to the loop. A stream that is iterated causes no unhandled rejection; one that
 *   is neither iterated nor awaited causes one, as any promise does.
 * - Leaving a loop cancels the work and waits until it has stopped. The promise then rejects with {@linkcode ResultStream.cancelledError}.
 * - An abort by signal rejects promise and loop with the signal's reason, once the work has stopped.
 *
 * It extends `Promise`, so that the runtimes themselves track rejections; `then` and its like return plain promises.
 */
export abstract class ResultStream<Item, Result> extends Promise<Result> implements AsyncIterable<Item> {
  /** Makes `then`, `catch` and `finally` return plain promises. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  readonly #settle: Pick<PromiseWithResolvers<Result>, "resolve" | "reject">;
  readonly #controller = new AbortController();
  readonly #queues: ItemQueue<unknown>[] = [];
  readonly #stopped: PromiseWithResolvers<void> = Promise.withResolvers<void>();
  #state: StreamState = "in progress";
  #left: Error | undefined;
  /** The items of the stream itself. */
  protected readonly items: ItemQueue<Item>;

  /** Makes a stream whose work begins by {@linkcode ResultStream.start}; messages call it by this name, such as "this generation". */
  constructor(name: string) {
    let settle!: Pick<PromiseWithResolvers<Result>, "resolve" | "reject">;
    super((resolve, reject) => settle = { resolve, reject });
    this.#settle = settle;
    this.items = this.queue(name);
  }

  /** Settles, and never rejects, once the work has ended in whatever way. Waiting for it leaves a rejection unhandled. */
  get settled(): Promise<void> {
    return this.#stopped.promise;
  }

  /** The state of the work. */
  get state(): StreamState {
    return this.#state;
  }

  /** Returns the items as they come, once. Throws {@linkcode InvalidArgumentError} for a second iteration. */
  [Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    return this.iterate(this.items);
  }

  /** Returns the error that a stream rejects with whose loop was left; made again when the work has stopped. */
  protected abstract cancelledError(): Error;

  /** Called when somebody begins to iterate. */
  protected onIterate(): void {}

  /** Makes a queue that ends with the work. */
  protected queue<T>(name: string): ItemQueue<T> {
    const queue = new ItemQueue<T>(name);
    this.#queues.push(queue);
    return queue;
  }

  /** Iterates a queue of this stream: leaving the loop cancels the work. */
  protected iterate<T>(queue: ItemQueue<T>): AsyncGenerator<T, void, undefined> {
    const items = queue.iterate(() => this.#leave());
    this.onIterate();
    // From here on errors are the loop's.
    this.catch(() => {});
    return items;
  }

  /** Begins the work. Once, by the function that makes the stream: no constructor does, since the work may use what a subclass adds. */
  protected start(work: (signal: AbortSignal) => Promise<Result>, signal: AbortSignal | undefined): void {
    const abort = (): void => this.#controller.abort(signal?.reason);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    const settle = (state: StreamState, how: () => void): void => {
      signal?.removeEventListener("abort", abort);
      this.#state = state;
      how();
      this.#stopped.resolve();
    };
    Promise.try(work, this.#controller.signal).then(
      (result) => settle("done", () => this.#succeed(result)),
      (error: unknown) => settle("failed", () => this.#fail(error)),
    );
  }

  #succeed(result: Result): void {
    for (const queue of this.#queues) queue.end();
    this.#settle.resolve(result);
  }

  #fail(given: unknown): void {
    const error = given === this.#left ? this.cancelledError() : given;
    for (const queue of this.#queues) queue.fail(error);
    this.#settle.reject(error);
  }

  /** Cancels what isn't done yet, and waits until it has really stopped. */
  async #leave(): Promise<void> {
    if (this.#state !== "in progress") return;
    this.#left ??= this.cancelledError();
    this.#controller.abort(this.#left);
    await this.settled;
  }
}
