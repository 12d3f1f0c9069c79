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
import { loggedErrors } from "../../support/native_log.ts";

/** Input of the task `loadLora`. */
export interface LoraInput {
  /** The model. */
  model: Pointer<"llama_model">;
  /** The file. */
  path: string;
}

/** Input of the task `freeLora`. */
export interface LoraFreeInput {
  /** The context that may use it. */
  context: Pointer<"llama_context">;
  /** The adapter. */
  adapter: Pointer<"llama_adapter_lora">;
}

/** Loads an adapter whose header was checked. */
export function loadLora({ model, path }: LoraInput, { native, lib }: TaskContext): Pointer<"llama_adapter_lora"> {
  const mark = native.logMark();
  const adapter = lib.llama_adapter_lora_init(model, path);
  if (adapter !== null) return adapter;
  throw new LoraError(
    `llama.cpp can't load the adapter ${path}: ${loggedErrors(native, mark) ?? "it gave no reason"}`,
    {
      value: path,
      expected: "an adapter that llama.cpp supports",
    },
  );
}

/** Removes an adapter from the context and frees it. */
export function freeLora({ context, adapter }: LoraFreeInput, task: TaskContext): void {
  useLoras(contextState(context), task, []);
  task.lib.llama_adapter_lora_free(adapter);
}

const inUse = new WeakMap<ContextState, string>();

/** Sets the adapters of a context. If they change, clears its memory, which was computed with others. */
export function useLoras(state: ContextState, { lib }: Pick<TaskContext, "lib">, loras: readonly LoraData[]): void {
  const wanted = loras.filter(({ scale }) => scale !== 0);
  const key = wanted.map(({ pointer, scale }) => `${pointer}*${scale}`).sort().join(" ");
  if (key === (inUse.get(state) ?? "")) return;
  // At least one element: an empty array has no address.
  const pointers = BigUint64Array.from([...wanted.map(({ pointer }) => pointer as bigint), 0n]);
  const scales = Float32Array.from([...wanted.map(({ scale }) => scale), 0]);
  lib.llama_set_adapters_lora(state.context, pointers, BigInt(wanted.length), scales);
  inUse.set(state, key);
  state.forget();
}
