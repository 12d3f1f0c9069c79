/**
 * LoRA adapters on the native thread.
 *
 * @module
 */

import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { LoraError } from "../../errors.ts";
import type { LoraData } from "../adapters/lora.ts";
import { type ContextState, contextState } from "./context_state.ts";
import { logWords } from "../../support/native_log.ts";

/** What the load task is given. */
export interface LoraInput {
  /** The model. */
  model: Pointer<"llama_model">;
  /** The file. */
  path: string;
}

/** What the free task is given. */
export interface LoraFreeInput {
  /** The context in which it may be at work. */
  context: Pointer<"llama_context">;
  /** The adapter. */
  adapter: Pointer<"llama_adapter_lora">;
}

/** Loads an adapter whose header was checked. */
export function loadLora({ model, path }: LoraInput, { native, lib }: TaskContext): Pointer<"llama_adapter_lora"> {
  const mark = native.logMark();
  const adapter = lib.llama_adapter_lora_init(model, path);
  if (adapter !== null) return adapter;
  throw new LoraError(`llama.cpp can't load the adapter ${path}: ${logWords(native, mark) ?? "it gave no reason"}`, {
    value: path,
    expected: "an adapter that llama.cpp supports",
  });
}

/** Frees an adapter, and takes it out of the context first. */
export function freeLora({ context, adapter }: LoraFreeInput, task: TaskContext): void {
  useLoras(contextState(context), task, []);
  task.lib.llama_adapter_lora_free(adapter);
}

const atWork = new WeakMap<ContextState, string>();

/** Lets these adapters work in a context, and no others. What is in its memory was computed by others, so it is emptied when they change. */
export function useLoras(state: ContextState, { lib }: Pick<TaskContext, "lib">, loras: readonly LoraData[]): void {
  const wanted = loras.filter(({ scale }) => scale !== 0);
  const key = wanted.map(({ pointer, scale }) => `${pointer}*${scale}`).sort().join(" ");
  if (key === (atWork.get(state) ?? "")) return;
  // One element at the least: an empty array has no address.
  const pointers = BigUint64Array.from([...wanted.map(({ pointer }) => pointer as bigint), 0n]);
  const scales = Float32Array.from([...wanted.map(({ scale }) => scale), 0]);
  lib.llama_set_adapters_lora(state.context, pointers, BigInt(wanted.length), scales);
  atWork.set(state, key);
  state.forget();
}
