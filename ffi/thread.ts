import type { CoreBudget } from "./cores.ts";
import type { Native } from "./native.ts";
import type { Pointer } from "./pointer.ts";
import type { Lib } from "./tables.ts";

/** What a task on a native thread is given beside its input. */
export interface TaskContext<Out = unknown, In = unknown> {
  /** The libraries, on this thread. */
  readonly native: Native;
  /** The functions of the libraries, called on this thread. */
  readonly lib: Lib;
  /** The share of the processor's cores that this process's threads hand to each other. */
  readonly cores: CoreBudget;
  /** A C function and its argument that say "stop" when the request is cancelled: for `abort_callback` and `progress_callback`. */
  readonly cancel: CancelFlag;
  /** Whether the request was cancelled. Cheap (some ten nanoseconds): ask before each token. */
  cancelled(): boolean;
  /** Throws {@linkcode CancelledError} when the request was cancelled: `run` then rejects with the signal's reason. */
  throwIfCancelled(): void;
  /** Sends a message to the caller's `onMessage`. */
  post(message: Out, transfer?: readonly ArrayBuffer[]): void;
  /** The next message that the caller sent to this run since, or `undefined`. Doesn't wait. */
  receive(): In | undefined;
}

/** A flag in native memory that C code reads through a function of the library itself; no JavaScript runs for it. */
export interface CancelFlag {
  /** The address of a `bool (*)(void *)`. */
  readonly callback: Pointer<"function">;
  /** What to give it as its argument. */
  readonly data: Pointer<"void">;
}

/** A task: runs on the native thread from begin to end before the next request is looked at. */
// deno-lint-ignore no-explicit-any
export type Task<Input = any, Output = any, Out = any, In = any> = (
  input: Input,
  context: TaskContext<Out, In>,
) => Output | Promise<Output>;

/** Tasks by name. */
export type TaskTable = Readonly<Record<string, Task>>;

/** What {@linkcode NativeThread.run} takes beside the input. */
export interface RunOptions<Out = unknown> {
  /** Cancels the request: at once while it waits, through native memory while it runs. `run` rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called for each message that the task posts, in order, before the result arrives. */
  onMessage?: ((message: Out) => void) | undefined;
  /** Buffers of the input that are moved instead of copied. */
  transfer?: readonly ArrayBuffer[] | undefined;
}

/** A request under way: a Promise of its result that also takes messages for the task. */
export interface TaskRun<Output, In = unknown> extends Promise<Output> {
  /** Sends a message that the task's `receive()` finds. Ignored once the task has ended. */
  post(message: In): void;
}

/** How a native thread is started. */
export interface NativeThreadOptions {
  /** The Worker's module, for tests; default is `lib/native_thread.ts`. */
  entry?: URL | undefined;
}

/**
 * A thread for native calls that take time. Requests run one after another, in the order in which they came.
 *
 * ```ts ignore
 * const thread = await NativeThread.start<Tasks>(native);
 * const text = await thread.run("generate", input, { signal, onMessage: write });
 * await thread[Symbol.asyncDispose]();
 * ```
 */
export declare class NativeThread<Tasks extends TaskTable = TaskTable> implements AsyncDisposable {
  /** Starts a thread, or takes one that another owner has given back. Throws {@linkcode NativeThreadError} when it doesn't come up. */
  static start<Tasks extends TaskTable>(native: Native, options?: NativeThreadOptions): Promise<NativeThread<Tasks>>;
  /** Runs a registered task. */
  run<K extends keyof Tasks & string>(
    task: K,
    input: Parameters<Tasks[K]>[0],
    options?: RunOptions<MessageOut<Tasks[K]>>,
  ): TaskRun<Awaited<ReturnType<Tasks[K]>>, MessageIn<Tasks[K]>>;
  /** Calls one C function. Typed arrays and struct views are used in place: leave them alone until the Promise settles. */
  call<K extends keyof Lib>(name: K, ...args: Parameters<Lib[K]>): Promise<ReturnType<Lib[K]>>;
  /** Whether it was disposed or lost. */
  readonly closed: boolean;
  /** Waits for the requests that were made and gives the thread back. Later requests throw {@linkcode DisposedError}. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What a task posts to its caller. */
export type MessageOut<T> = T extends (input: never, context: TaskContext<infer Out, infer _In>) => unknown ? Out
  : never;
/** What a task's caller posts to it. */
export type MessageIn<T> = T extends (input: never, context: TaskContext<infer _Out, infer In>) => unknown ? In : never;
