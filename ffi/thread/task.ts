import type { CoreBudget } from "./core_budget.ts";
import type { Native } from "../native.ts";
import type { Pointer } from "../types/pointer.ts";
import type { Lib } from "../tables.ts";

/** A flag in native memory that C code reads through a function of the library itself: no JavaScript runs for it. */
export interface CancelFlag {
  /** The address of a `bool (*)(void *)` that returns true once the request is cancelled: an `abort_callback`. */
  readonly callback: Pointer<"ggml_abort_callback">;
  /** The argument of the callback. */
  readonly data: Pointer<"void">;
}

/** The second argument of a task: the libraries, and the channels to its caller. */
export interface TaskContext<Out = unknown, In = unknown> {
  /** The libraries, on this thread. */
  readonly native: Native;
  /** The functions of the libraries, called on this thread. */
  readonly lib: Lib;
  /** The processor's cores, which the native threads of this process share out among themselves. What a task doesn't give back is taken when it ends. */
  readonly cores: CoreBudget;
  /** For `abort_callback` and its data. */
  readonly cancel: CancelFlag;
  /** Whether the request was cancelled. Costs some ten nanoseconds: ask before each token. */
  cancelled(): boolean;
  /** Throws CancelledError when the request was cancelled: `run` then rejects with the signal's reason. */
  throwIfCancelled(): void;
  /** Sends a message to the caller's `onMessage`. */
  post(message: Out, transfer?: readonly ArrayBuffer[]): void;
  /** The next message that the caller sent to this run, or `undefined` when there is none. Doesn't wait. */
  receive(): In | undefined;
}

/** A task: runs on the native thread from start to finish before the next request is handled. */
// deno-lint-ignore no-explicit-any
export type Task<Input = any, Output = any, Out = any, In = any> = (
  input: Input,
  context: TaskContext<Out, In>,
) => Output | Promise<Output>;

/** Tasks by name. */
export type TaskTable = Readonly<Record<string, Task>>;

/** The input of a task. */
export type TaskInput<T> = T extends (input: infer Input, ...rest: never[]) => unknown ? Input : never;

/** The result of a task. */
export type TaskOutput<T> = T extends (...args: never[]) => infer Output ? Awaited<Output> : never;

/** The messages that a task posts to its caller. */
export type MessageOut<T> = T extends (input: never, context: TaskContext<infer Out, infer _In>) => unknown ? Out
  : never;

/** The messages that a task's caller posts to it. */
export type MessageIn<T> = T extends (input: never, context: TaskContext<infer _Out, infer In>) => unknown ? In : never;

/** A request under way: the Promise of its result, which also takes messages for the task. */
export interface TaskRun<Output, In = unknown> extends Promise<Output> {
  /** Sends a message that the task's `receive()` finds. Does nothing once the task has ended. */
  post(message: In): void;
}
