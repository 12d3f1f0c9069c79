/**
 * ggml, llama.cpp and mtmd as they are: every C function, struct, enum and constant, typed, in Deno and in Bun.
 *
 * ```ts ignore
 * import { open } from "@ggml-ffi/ggml-ffi/ffi";
 *
 * const native = await open();
 * const { lib } = native;
 * const params = native.defaults("llama_model_params");
 * const model = lib.llama_model_load_from_file("model.gguf", params);
 * ```
 *
 * This layer checks nothing that C doesn't: a wrong argument can end the process. The classes above it check first. `open({ checked: true })` checks each call
 * before it is made, as far as arguments show what is wrong; a bad call that the checks don't see still ends the process on the caller's thread.
 * @module
 */

export * from "../base/errors.ts";
export { deserializeError, type GgmlErrorClass, registerErrors, serializeError } from "../base/error.ts";
export { lazyTasks, serveTasks } from "./thread/worker_server.ts";
export { CoreBudget, type CoreMemory } from "./thread/core_budget.ts";
export { graphLeaves } from "./memory/graph_layout.ts";
export type { GuardPlace } from "./containment/guard.ts";
export type { LogLevel, LogLine } from "./containment/log.ts";
export type { OpenedLibraries } from "./library/libraries.ts";
export type { LibraryFile, LibrarySet } from "./library/manifest.ts";
export type { OpenOptions } from "./library/locate.ts";
export type { NativeBuffer, pointee, Pointer } from "./types/pointer.ts";
export { type CallbackName, type Lib, type StructName } from "./tables.ts";
export type { DefaultsName } from "./tables/defaults.ts";
export type { Pool } from "./memory/pool.ts";
export { type FunctionArgument, Native, type NativeModule, type StructFields } from "./native.ts";
export type { NativeCallback } from "./call/callback.ts";
export { open } from "./open.ts";
export type { CValue, Signature, StructValue } from "./types/signature.ts";
export type { Scalar } from "./runtime/types.ts";
export { Lifetime, type Owner } from "./memory/struct_factory.ts";
export {
  type CancelFlag,
  type MessageIn,
  type MessageOut,
  type NativeAbortPolicy,
  NativeThread,
  type NativeThreadOptions,
  type RunOptions,
  type Task,
  type TaskContext,
  type TaskInput,
  type TaskOutput,
  type TaskRun,
  type TaskTable,
} from "./thread/native_thread.ts";
export type { structName, StructView, viewMark } from "./types/struct_view.ts";
export * from "./tables/mod.ts";
export type { FileStream, MemoryFile } from "./runtime/file_stream.ts";
