import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { CoreBudget } from "./core_budget.ts";
import { serializeError } from "../../base/error.ts";
import { CancelledError, InvalidArgumentError } from "../../base/errors.ts";
import { guardOf, Native } from "../native.ts";
import type { Pointer } from "../types/pointer.ts";
import { isStruct } from "../types/signature.ts";
import { functionEntry, type Lib, type StructName } from "../tables.ts";
import type { Task, TaskContext, TaskTable } from "./task.ts";
import {
  isMemoryArgument,
  type TaskRequest,
  type ThreadAnswer,
  type ThreadBegin,
  type ThreadMessage,
  type ThreadRequest,
  type ThreadStart,
} from "./protocol.ts";
import { packMessage, unpackMessage } from "./message.ts";

/**
 * Makes this Worker a native thread that serves these tasks. Called once, by the Worker's entry module.
 *
 * ```ts ignore
 * serveTasks({ add: ({ a, b }: { a: number; b: number }) => a + b });
 * ```
 */
export function serveTasks(tasks: TaskTable): void {
  const start = workerData as ThreadStart | null;
  if (parentPort === null || start?.kind !== "ggml-ffi") {
    throw new InvalidArgumentError("this module is the entry of a native thread; NativeThread.start starts it", {
      value: import.meta.url,
    });
  }
  new ThreadServer(parentPort, start, tasks).listen();
}

/**
 * Returns tasks whose module is loaded when one of them is first run, so that a thread without use for them starts sooner.
 *
 * ```ts ignore
 * const tasks = lazyTasks<WhisperTasks>({ transcribe: true }, async () => (await import("./tasks.ts")).whisperTasks);
 * ```
 */
export function lazyTasks<Tasks extends TaskTable>(
  names: Readonly<Record<keyof Tasks & string, true>>,
  load: () => Promise<Tasks>,
): TaskTable {
  const task = (name: string): Task => async (input, context) => await ((await load())[name] as Task)(input, context);
  return Object.fromEntries(Object.keys(names).map((name) => [name, task(name)]));
}

class ThreadServer {
  readonly #parent: MessagePort;
  readonly #start: ThreadStart;
  readonly #tasks: TaskTable;
  readonly #cores: CoreBudget;
  #native: Promise<Native> | undefined;
  #flag = 0n;
  #tid: number | undefined;
  #contained = false;

  constructor(parent: MessagePort, start: ThreadStart, tasks: TaskTable) {
    this.#parent = parent;
    this.#start = start;
    this.#tasks = tasks;
    this.#cores = new CoreBudget(start.cores, start.slot);
  }

  listen(): void {
    this.#parent.on("message", (message: ThreadMessage) => {
      if ("opened" in message) void this.#begin(message);
      else void this.#serve(message);
    });
  }

  async #begin({ opened, flag }: ThreadBegin): Promise<void> {
    this.#flag = flag;
    this.#native = Native.attach(opened);
    try {
      const guard = guardOf(await this.#native);
      this.#tid = guard?.linux.threadNumber();
      this.#send({ ready: true, tid: this.#tid });
    } catch (error) {
      this.#send({ failed: serializeError(error) });
    }
  }

  async #serve(request: ThreadRequest): Promise<void> {
    let answer: ThreadAnswer & { readonly id: number };
    try {
      const native = await (this.#native as Promise<Native>);
      this.#contain(native, request.contain);
      const result = "task" in request
        ? await this.#run(native, request)
        : this.#call(native, request.call, request.args);
      answer = { id: request.id, result: packMessage(result) };
    } catch (error) {
      answer = { id: request.id, error: serializeError(error) };
    } finally {
      this.#cores.release();
    }
    this.#answer(answer);
  }

  /** Threads that native code starts are parked or not as this one is. */
  #contain(native: Native, contain: boolean): void {
    const guard = guardOf(native);
    if (guard === undefined || this.#tid === undefined || this.#contained === contain) return;
    guard.contain(this.#tid, contain);
    this.#contained = contain;
  }

  /** Sends an answer; a result that can't be sent becomes an error. */
  #answer(answer: ThreadAnswer & { readonly id: number }): void {
    try {
      this.#send(answer);
    } catch (error) {
      this.#send({ id: answer.id, error: serializeError(error) });
    }
  }

  #send(answer: ThreadAnswer, transfer: readonly ArrayBuffer[] = []): void {
    this.#parent.postMessage(answer, [...transfer]);
  }

  #run(native: Native, { id, task, input }: TaskRequest): unknown {
    const run = Object.hasOwn(this.#tasks, task) ? this.#tasks[task] : undefined;
    if (run === undefined) {
      throw new InvalidArgumentError(`this thread has no task ${task}`, {
        value: task,
        expected: Object.keys(this.#tasks).join(", "),
      });
    }
    return run(unpackMessage(input), this.#context(native, id));
  }

  #context(native: Native, id: number): TaskContext {
    const { lib } = native;
    const { port } = this.#start;
    const flag = this.#flag as Pointer<"ggml_context">;
    const cancelled = (): boolean => lib.ggml_get_no_alloc(flag);
    return {
      native,
      lib,
      cores: this.#cores,
      cancel: {
        callback: native.symbol<"ggml_abort_callback">("ggml_get_no_alloc"),
        data: this.#flag as Pointer<"void">,
      },
      cancelled,
      throwIfCancelled(): void {
        if (cancelled()) throw new CancelledError("the request was cancelled");
      },
      post: (message, transfer) => this.#send({ id, message: packMessage(message) }, transfer),
      receive: () => receiveFor(port, id),
    };
  }

  /** Calls one C function with the caller's memory in place. A struct that comes back is sent as its bytes. */
  #call(native: Native, name: string, args: readonly unknown[]): unknown {
    const entry = functionEntry(name);
    if (entry === undefined) {
      throw new InvalidArgumentError(`the headers declare no ${name}`, { value: name, expected: "a C function" });
    }
    const { parameters, result } = entry.signature;
    const values = args.map((value, index) => {
      if (!isMemoryArgument(value)) return value;
      const type = parameters[index];
      if (type === undefined || !isStruct(type)) return value.address;
      return native.structAt(type.struct as StructName, value.address as Pointer<never>);
    });
    const call = native.lib[name as keyof Lib] as unknown as (...values: unknown[]) => unknown;
    const value = call(...values);
    return isStruct(result) ? native.bytesOf(value as never).slice() : value;
  }
}

/** The next message for this run; those for runs that have ended are dropped. */
function receiveFor(port: MessagePort, id: number): unknown {
  for (;;) {
    const received = receiveMessageOnPort(port) as { message: { id: number; message: unknown } } | undefined;
    if (received === undefined) return undefined;
    if (received.message.id === id) return unpackMessage(received.message.message);
  }
}
