import { isMemory } from "../call/caller.ts";
import { DEFAULT_WATCHDOG_MS } from "../containment/watchdog.ts";
import type { NativeAbortPolicy } from "../containment/watchdog.ts";
import { definePicture } from "../../base/inspect.ts";
import { callback, custom, integer, oneOf, options, type Settings } from "../../base/options.ts";
import { isInstance, refuse } from "../../base/check.ts";
import { isAtLeast, LOG_LEVELS, type LogLevel, type LogLine } from "../containment/log.ts";
import { DisposedError, type GgmlError, InvalidArgumentError } from "../../base/errors.ts";
import { guardOf, type Native } from "../native.ts";
import { isStruct, type Signature } from "../types/signature.ts";
import { bytesOf } from "../memory/struct_factory.ts";
import type { StructView } from "../types/struct_view.ts";
import { functionEntry, type Lib, type StructName } from "../tables.ts";
import type { MessageIn, MessageOut, TaskInput, TaskOutput, TaskRun, TaskTable } from "./task.ts";
import { giveBack, takeWorker } from "./worker_pool.ts";
import type { MemoryArgument } from "./protocol.ts";
import type { Request, ThreadWorker } from "./worker_client.ts";

export type { NativeAbortPolicy } from "../containment/watchdog.ts";
export type { LogLevel, LogLine } from "../containment/log.ts";
export type {
  CancelFlag,
  MessageIn,
  MessageOut,
  Task,
  TaskContext,
  TaskInput,
  TaskOutput,
  TaskRun,
  TaskTable,
} from "./task.ts";

/** Options of {@linkcode NativeThread.run}. */
export interface RunOptions<Out = unknown> {
  /** Cancels the request: at once while it waits, through native memory while it runs. `run` then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called for each message that the task posts, in order, before the result arrives. When it throws, the request is cancelled and rejects with that. */
  onMessage?: ((message: Out) => void) | undefined;
  /** Buffers of the input that are moved instead of copied. */
  transfer?: readonly ArrayBuffer[] | undefined;
}

/** Options of {@linkcode NativeThread.start}. */
export interface NativeThreadOptions {
  /** The Worker's module, which calls `serveTasks`. Default: one without tasks, for {@linkcode NativeThread.call} alone. */
  entry?: URL | undefined;
  /**
   * The policy for an `abort()` of native code on this thread. `"contain"` (the default): the thread is parked for good, its requests reject with
   * NativeAbortError, and the program continues; on Linux only, elsewhere the program ends. `"exit"`: the program ends.
   */
  nativeAbort?: NativeAbortPolicy | undefined;
  /**
   * Time in milliseconds after which a request without a sign of life (a message, or use of the processor) rejects with NativeHangError and the thread is
   * lost; once cancelled, a request has this time in all. 0 to 2,147,483,647, default 120,000; 0 turns it off. Works where aborts are contained.
   */
  watchdogMs?: number | undefined;
  /**
   * Called with each line of at least `logLevel` that native code logs on this thread, some hundredths of a second late, and never by native code itself. On
   * Linux only. An exception that it throws is an uncaught error of the program.
   */
  onLog?: ((line: LogLine) => void) | undefined;
  /** The least severe level that `onLog` gets. Default `"info"`. C: `ggml_log_level`. */
  logLevel?: LogLevel | undefined;
}

/** The options of every native thread, for those who load a model on one too. */
export const threadRules = {
  nativeAbort: oneOf(["contain", "exit"], { default: "contain" }),
  watchdogMs: integer({ min: 0, max: 0x7fff_ffff, default: DEFAULT_WATCHDOG_MS }),
  onLog: callback<(line: LogLine) => void>(),
  logLevel: oneOf(LOG_LEVELS, { default: "info" }),
} as const;

const ENTRY_WORDS = 'a URL, such as new URL("./tasks.ts", import.meta.url)';

const startSpec = options("NativeThread.start", {
  entry: custom(ENTRY_WORDS, (name, value) => isInstance(value, URL) ? value : refuse(name, value, ENTRY_WORDS)),
  ...threadRules,
});
type StartSettings = Settings<typeof startSpec>;

/**
 * A thread for native calls that take time: a Worker in both runtimes. Requests run one after another, in the order in which they came. It keeps the
 * program alive only while a request is under way.
 *
 * ```ts ignore
 * await using thread = await NativeThread.start<Tasks>(native);
 * const result = await thread.run("generate", input, { signal, onMessage: write });
 * ```
 */
export class NativeThread<Tasks extends TaskTable = TaskTable> implements AsyncDisposable {
  readonly #worker: ThreadWorker;
  readonly #settings: StartSettings;
  readonly #onLog: ((line: LogLine) => void) | undefined;
  #disposed: Promise<void> | undefined;

  static {
    definePicture(NativeThread, "NativeThread", (thread) => {
      if (thread.#worker.lost !== undefined) return "(lost)";
      return thread.#disposed === undefined ? `${thread.#worker.slot}` : "(disposed)";
    });
  }

  private constructor(worker: ThreadWorker, settings: StartSettings) {
    this.#worker = worker;
    this.#settings = settings;
    const { onLog, logLevel } = settings;
    // Others may have asked for more.
    if (onLog !== undefined) this.#onLog = (line) => isAtLeast(line, logLevel) ? onLog(line) : undefined;
  }

  /**
   * Starts a thread, or takes one that its last owner has given back. Given the Promise of `open()`, the thread starts while the libraries are opened.
   * Throws InvalidArgumentError for a wrong option, NativeThreadError when it doesn't come up, and what `native` rejects with.
   */
  static async start<Tasks extends TaskTable>(
    native: Native | Promise<Native>,
    options: NativeThreadOptions = {},
  ): Promise<NativeThread<Tasks>> {
    const settings = startSpec.check(options);
    const worker = await takeWorker(native, settings.entry);
    if (settings.onLog !== undefined) guardOf(worker.native)?.note(settings.logLevel);
    return new NativeThread<Tasks>(worker, settings);
  }

  /**
   * Runs a task. Rejects with what the task throws (same class, code and cause), the signal's reason, DisposedError after a dispose, and
   * NativeThreadError when the thread is lost.
   */
  run<K extends keyof Tasks & string>(
    task: K,
    input: TaskInput<Tasks[K]>,
    options: RunOptions<MessageOut<Tasks[K]>> = {},
  ): TaskRun<TaskOutput<Tasks[K]>, MessageIn<Tasks[K]>> {
    return this.#request<TaskOutput<Tasks[K]>>({
      body: { task, input },
      signal: options.signal,
      onMessage: options.onMessage as ((message: unknown) => void) | undefined,
      transfer: options.transfer,
    });
  }

  /**
   * Calls one C function on the thread. Typed arrays and struct views are used in place, not copied: leave them alone until the Promise settles. Rejects
   * as {@linkcode NativeThread.run} does.
   */
  async call<K extends keyof Lib & string>(name: K, ...args: Parameters<Lib[K]>): Promise<ReturnType<Lib[K]>> {
    const signature = functionEntry(name)?.signature;
    if (signature === undefined) {
      throw new InvalidArgumentError(`the headers declare no ${name}`, { value: name, expected: "a C function" });
    }
    const result = await this.#request<unknown>({
      body: { call: name, args: this.#marshal(args, signature) },
      retained: args,
    });
    return this.#unmarshal(signature, result) as ReturnType<Lib[K]>;
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#disposed !== undefined;
  }

  /** Whether it was disposed or lost. */
  get closed(): boolean {
    return this.#disposed !== undefined || this.#worker.lost !== undefined;
  }

  /** The error that it was lost by: NativeAbortError, NativeHangError or NativeThreadError; `undefined` while it is there. */
  get lost(): GgmlError | undefined {
    return this.#worker.lost;
  }

  /** Settles once no request is under way and none waits, however they ended. */
  idle(): Promise<void> {
    return this.#worker.idle();
  }

  /** Waits for the requests that were made, then gives the thread back. Later requests reject with DisposedError. */
  dispose(): Promise<void> {
    return this.#disposed ??= this.#worker.idle().then(() => giveBack(this.#worker));
  }

  /** Does what {@linkcode NativeThread.dispose} does. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #request<Output>(request: Request): TaskRun<Output> {
    if (this.#disposed !== undefined) {
      const error = new DisposedError("the native thread was disposed; start another", { expected: "a thread in use" });
      return Object.assign(Promise.reject<Output>(error), { post(): void {} });
    }
    const { nativeAbort, watchdogMs } = this.#settings;
    return this.#worker.request({ ...request, nativeAbort, watchdogMs, onLog: this.#onLog }) as TaskRun<Output>;
  }

  #marshal(args: readonly unknown[], { parameters }: Signature): unknown[] {
    return args.map((value, index): unknown => {
      const type = parameters[index];
      // Here, where it is still known what it is: the other side sees an address.
      if (type !== undefined && isStruct(type)) bytesOf(value, type.struct);
      if (!isMemory(value)) return value;
      const argument: MemoryArgument = {
        address: this.#worker.native.addressOf(value as ArrayBufferView | StructView<object>),
      };
      return argument;
    });
  }

  #unmarshal({ result }: Signature, value: unknown): unknown {
    return isStruct(result) ? this.#worker.native.structFrom(result.struct as StructName, value as Uint8Array) : value;
  }
}
