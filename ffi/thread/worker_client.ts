import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import {
  type AbortWatch,
  abortWatch,
  DEFAULT_WATCHDOG_MS,
  type NativeAbortPolicy,
  type WatchedCall,
} from "../containment/watchdog.ts";
import { CoreBudget, type CoreMemory } from "./core_budget.ts";
import { deserializeError, messageOf } from "../../base/error.ts";
import { CancelledError, type GgmlError, NativeThreadError } from "../../base/errors.ts";
import type { LogLine } from "../containment/log.ts";
import { guardOf, type Native } from "../native.ts";
import type { Pointer } from "../types/pointer.ts";
import type { TaskRun } from "./task.ts";
import type { CallRequest, TaskRequest, ThreadAnswer, ThreadBegin, ThreadRequest, ThreadStart } from "./protocol.ts";
import { packMessage, unpackMessage } from "./message.ts";

/** A request without its number. */
type RequestBody = Omit<TaskRequest, "id"> | Omit<CallRequest, "id">;

/** A request as it is made. */
export interface Request {
  /** The task or the call. */
  readonly body: RequestBody;
  /** Cancels it. */
  readonly signal?: AbortSignal | undefined;
  /** Gets the task's messages. */
  readonly onMessage?: ((message: unknown) => void) | undefined;
  /** Buffers that move. */
  readonly transfer?: readonly ArrayBuffer[] | undefined;
  /** Memory that must live until the answer. */
  readonly retained?: unknown;
  /** The policy for an abort of native code; default `"contain"`. */
  readonly nativeAbort?: NativeAbortPolicy | undefined;
  /** The longest time without a sign of life, in milliseconds. */
  readonly watchdogMs?: number | undefined;
  /** Gets the lines that native code logs meanwhile. */
  readonly onLog?: ((line: LogLine) => void) | undefined;
}

interface Pending extends Request {
  readonly id: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly cancel: () => void;
  /** The exception of the caller's `onMessage`. */
  thrown?: { readonly error: unknown };
}

/** A Worker that was started and has no libraries yet. */
export interface StartedWorker {
  /** The URL of its module. */
  readonly entry: string;
  /** Its number among the threads of the process. */
  readonly slot: number;
  /** The Worker. */
  readonly worker: Worker;
  /** The port for messages to its tasks. */
  readonly port: MessagePort;
  /** The cores that the threads of the process share. */
  readonly cores: CoreMemory;
  /** The error that came before anyone listened. */
  failure?: { readonly cause: unknown };
}

/** Starts a Worker; it loads its modules while the libraries are opened elsewhere. */
export function startWorker(source: URL, slot: number, cores: CoreMemory): StartedWorker {
  const { port1, port2 } = new MessageChannel();
  const start: ThreadStart = { kind: "ggml-ffi", port: port2, cores, slot };
  const worker = new Worker(source, { workerData: start, transferList: [port2], name: "native thread" });
  const started: StartedWorker = { entry: source.href, slot, worker, port: port1, cores };
  worker.once("error", (cause: unknown) => started.failure ??= { cause });
  return started;
}

/** A Worker with its queue of requests. Only one request is in the Worker at a time, so that cancelling can't hit the next one. */
export class ThreadWorker {
  /** The URL of its module. */
  readonly entry: string;
  /** Its number among the threads of the process. */
  readonly slot: number;
  /** The libraries, as the thread that started it sees them. */
  readonly native: Native;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #flag: Pointer<"ggml_context">;
  readonly #cores: CoreBudget;
  readonly #queue: Pending[] = [];
  readonly #ready: PromiseWithResolvers<void> = Promise.withResolvers<void>();
  readonly #idle: (() => void)[] = [];
  #running: Pending | undefined;
  #lastId = 0;
  #isReady = false;
  #lost: GgmlError | undefined;
  #tid: number | undefined;
  #watch: AbortWatch | undefined;
  #watched: WatchedCall | undefined;

  /** Gives a Worker its libraries. */
  constructor(native: Native, started: StartedWorker) {
    this.entry = started.entry;
    this.slot = started.slot;
    this.native = native;
    this.#cores = new CoreBudget(started.cores, started.slot);
    this.#flag = makeFlag(native);
    this.#port = started.port;
    this.#worker = started.worker;
    this.#worker.on("message", (answer: ThreadAnswer) => this.#receive(answer));
    this.#worker.on("error", (cause: unknown) => this.lose(this.#failed(cause)));
    this.#worker.on(
      "exit",
      (code: number) =>
        this.lose(
          new NativeThreadError("the native thread has ended", { value: code, expected: "a thread that runs" }),
        ),
    );
    if (started.failure !== undefined) this.lose(this.#failed(started.failure.cause));
    const begin: ThreadBegin = { opened: native.opened(), flag: this.#flag };
    this.#worker.postMessage(begin);
  }

  /** Settles when the Worker is up. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** The error that it was lost by. */
  get lost(): GgmlError | undefined {
    return this.#lost;
  }

  /** Puts a request into the queue. */
  request(request: Request): TaskRun<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = ++this.#lastId;
    const pending: Pending = { ...request, id, resolve, reject, cancel: () => this.#abort(pending) };
    const run = Object.assign(promise, { post: (message: unknown) => this.#post(id, message) });
    if (request.signal?.aborted) reject(request.signal.reason);
    else if (this.#lost !== undefined) reject(this.#lost);
    else {
      request.signal?.addEventListener("abort", pending.cancel, { once: true });
      this.#queue.push(pending);
      this.#next();
    }
    return run;
  }

  /** Settles when no request is left. */
  idle(): Promise<void> {
    if (this.#running === undefined && this.#queue.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Lets the program end while the Worker has nothing to do. */
  rest(): void {
    this.#worker.unref();
  }

  /** Ends an idle Worker. */
  async end(): Promise<void> {
    this.#lost ??= new NativeThreadError("the native thread was ended");
    this.#port.close();
    this.native.lib.ggml_free(this.#flag);
    await this.#worker.terminate();
  }

  /**
   * Gives the thread up: all its requests reject. Its Worker isn't terminated, since native code may be running there, or sleeping for ever after an
   * abort; it no longer keeps the program alive.
   */
  lose(error: GgmlError): void {
    if (this.#lost !== undefined) return;
    this.#lost = error;
    this.#endWatch();
    this.#ready.reject(error);
    this.#ready.promise.catch(() => {});
    this.#worker.unref();
    this.#cores.release();
    const waiting = this.#queue.splice(0);
    if (this.#running !== undefined) waiting.unshift(this.#running);
    this.#running = undefined;
    for (const pending of waiting) this.#settle(pending, () => pending.reject(error));
    this.#becomeIdle();
  }

  #failed(cause: unknown): NativeThreadError {
    return new NativeThreadError(`the native thread failed: ${messageOf(cause)}`, { value: this.entry, cause });
  }

  #next(): void {
    if (!this.#isReady || this.#running !== undefined) return;
    const pending = this.#queue.shift();
    if (pending === undefined) return this.#becomeIdle();
    this.native.lib.ggml_set_no_alloc(this.#flag, false);
    const contain = this.#watch !== undefined && pending.nativeAbort !== "exit";
    const message: ThreadRequest = { id: pending.id, contain, ...pending.body };
    const packed = "input" in message ? { ...message, input: packMessage(message.input) } : message;
    try {
      this.#worker.postMessage(packed, [...(pending.transfer ?? [])]);
    } catch (error) {
      this.#settle(pending, () => pending.reject(error));
      return this.#next();
    }
    this.#running = pending;
    this.#worker.ref();
    this.#beginWatch(pending, contain);
  }

  #beginWatch({ watchdogMs = DEFAULT_WATCHDOG_MS, onLog }: Pending, contain: boolean): void {
    if (this.#tid === undefined || (!contain && onLog === undefined)) return;
    // In a microtask of its own: what the listener throws is the program's, not the request's.
    const listener = onLog === undefined ? undefined : (line: LogLine) => queueMicrotask(() => onLog(line));
    this.#watched = {
      tid: this.#tid,
      watchdogMs,
      lastSign: performance.now(),
      cancelledAt: undefined,
      contain,
      onLog: listener,
      lose: (error) => this.lose(error),
    };
    this.#watch?.begin(this.#watched);
  }

  #endWatch(): void {
    if (this.#watched === undefined) return;
    this.#watch?.end(this.#watched.tid);
    this.#watched = undefined;
  }

  #becomeIdle(): void {
    this.#worker.unref();
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #receive(answer: ThreadAnswer): void {
    if ("ready" in answer) {
      this.#tid = answer.tid;
      if (answer.tid !== undefined) this.#watch = abortWatch(guardOf(this.native));
      this.#isReady = true;
      this.#ready.resolve();
      return this.#next();
    }
    if ("failed" in answer) return this.lose(this.#failed(deserializeError(answer.failed)));
    const pending = this.#running;
    if (pending?.id !== answer.id) return;
    if ("message" in answer) return this.#deliver(pending, unpackMessage(answer.message));
    this.#running = undefined;
    this.#endWatch();
    const unpacked = "result" in answer ? { ...answer, result: unpackMessage(answer.result) } : answer;
    this.#settle(pending, () => finish(pending, unpacked));
    this.#next();
  }

  #deliver(pending: Pending, message: unknown): void {
    if (this.#watched !== undefined) this.#watched.lastSign = performance.now();
    if (pending.thrown !== undefined) return;
    try {
      pending.onMessage?.(message);
    } catch (error) {
      pending.thrown = { error };
      this.#cancel();
    }
  }

  #abort(pending: Pending): void {
    if (pending === this.#running) return this.#cancel();
    const at = this.#queue.indexOf(pending);
    if (at < 0) return;
    this.#queue.splice(at, 1);
    this.#settle(pending, () => pending.reject(pending.signal?.reason));
  }

  #cancel(): void {
    if (this.#watched !== undefined) this.#watched.cancelledAt ??= performance.now();
    this.native.lib.ggml_set_no_alloc(this.#flag, true);
  }

  #settle(pending: Pending, how: () => void): void {
    pending.signal?.removeEventListener("abort", pending.cancel);
    how();
  }

  #post(id: number, message: unknown): void {
    if (this.#lost === undefined) this.#port.postMessage({ id, message: packMessage(message) });
  }
}

function finish(
  pending: Pending,
  answer: Exclude<ThreadAnswer, { ready: true } | { failed: unknown } | { message: unknown }>,
): void {
  if (pending.thrown !== undefined) return pending.reject(pending.thrown.error);
  if ("result" in answer) return pending.resolve(answer.result);
  const error = deserializeError(answer.error);
  const cancelled = error instanceof CancelledError && pending.signal?.aborted === true;
  pending.reject(cancelled ? pending.signal?.reason : error);
}

/** A context without memory worth mention: its `no_alloc` is the flag. */
function makeFlag(native: Native): Pointer<"ggml_context"> {
  const params = native.struct("ggml_init_params");
  params.mem_size = 64n;
  const context = native.lib.ggml_init(params);
  if (context === null) throw new NativeThreadError("there is no memory for a native thread");
  return context;
}
