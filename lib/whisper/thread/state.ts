import { findBackend } from "../../../ffi/memory/find_backend.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { loggedErrors } from "../../support/native_log.ts";
import { TranscriptionError } from "../errors.ts";

/** `GGML_BACKEND_DEVICE_TYPE_CPU`. */
const CPU = 0;

/** Makes a state of a model. A cancelled request stops its computations after the operator under way, also those of an encoder. */
export function makeState(
  context: Pointer<"whisper_context">,
  task: Pick<TaskContext, "native" | "lib" | "cancel">,
): Pointer<"whisper_state"> {
  const { native, lib } = task;
  const mark = native.logMark();
  const state = lib.whisper_init_state(context);
  if (state !== null) {
    stopWhenCancelled(state, task);
    return state;
  }
  const words = loggedErrors(native, mark) ?? "is there memory for it?";
  throw new TranscriptionError(`whisper.cpp can't make a state: ${words}`, { value: null, expected: "a state" });
}

/**
 * Gives the processor's backend of a state the request's `abort_callback`. whisper.cpp itself asks its own between computations alone, and those of a large
 * encoder take minutes. Where the backend can't be found, an encoding is finished first.
 */
function stopWhenCancelled(
  state: Pointer<"whisper_state">,
  { native, lib, cancel }: Pick<TaskContext, "native" | "lib" | "cancel">,
): void {
  const sample = lib.ggml_backend_init_by_type(CPU, null);
  if (sample === null) return;
  const backend = findBackend(native, state, sample);
  lib.ggml_backend_free(sample);
  if (backend !== undefined) lib.ggml_backend_cpu_set_abort_callback(backend, cancel.callback, cancel.data);
}
