import type { MessagePort } from "node:worker_threads";
import type { CoreMemory } from "./core_budget.ts";
import type { SerializedError } from "../../base/errors.ts";
import type { OpenedLibraries } from "../library/libraries.ts";

/** The `workerData` of the Worker, which may start while the libraries are still being opened. */
export interface ThreadStart {
  /** Tells a native thread's Worker from others. */
  readonly kind: "ggml-ffi";
  /** The port on which messages for a running task arrive. */
  readonly port: MessagePort;
  /** The cores that the threads of the process share. */
  readonly cores: CoreMemory;
  /** The thread's number among those of the process. */
  readonly slot: number;
}

/** The first message to the Worker. */
export interface ThreadBegin {
  /** The libraries in use. */
  readonly opened: OpenedLibraries;
  /** The context in native memory whose `no_alloc` says that the running request was cancelled. */
  readonly flag: bigint;
}

/** Runs a task. */
export interface TaskRequest {
  /** The request's number. */
  readonly id: number;
  /** The task's name. */
  readonly task: string;
  /** Its input. */
  readonly input: unknown;
}

/** Calls a C function. */
export interface CallRequest {
  /** The request's number. */
  readonly id: number;
  /** The function's name. */
  readonly call: string;
  /** Its arguments, memory as {@linkcode MemoryArgument}. */
  readonly args: readonly unknown[];
}

/** A request to the Worker; the next one is sent after its answer. */
export type ThreadRequest = (TaskRequest | CallRequest) & {
  /** Whether an abort of native code is survived. */
  readonly contain: boolean;
};

/** Any message to the Worker. */
export type ThreadMessage = ThreadBegin | ThreadRequest;

/** A message from the Worker. */
export type ThreadAnswer =
  /** It is ready; `tid` is the system's number of the thread, where it can be had. */
  | { readonly ready: true; readonly tid: number | undefined }
  /** It can't use the libraries. */
  | { readonly failed: SerializedError }
  | { readonly id: number; readonly message: unknown }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: SerializedError };

/** An argument in the caller's memory, which the caller leaves alone until the answer. */
export interface MemoryArgument {
  /** Its address. */
  readonly address: bigint;
}

/** Whether an argument that came is memory of the caller. */
export function isMemoryArgument(value: unknown): value is MemoryArgument {
  return typeof value === "object" && value !== null && "address" in value;
}
