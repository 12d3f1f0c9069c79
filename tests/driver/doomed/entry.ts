/** A native thread with the tasks of the library, and one that ends in an abort of native code. */

import "../../../lib/errors.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { serveTasks } from "../../../ffi/thread/worker_server.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import { llamaTasks } from "../../../lib/llama/thread/tasks.ts";
import { whisperTasks } from "../../../lib/whisper/thread/tasks.ts";

/** Reads a value that isn't there: an assertion fails. */
function fault(_: undefined, { lib }: TaskContext): void {
  lib.gguf_get_val_u32(lib.gguf_init_empty() as Pointer<"gguf_context">, 5n);
}

/** The tasks. */
export const tasks = { ...llamaTasks, ...whisperTasks, fault } as const;

serveTasks(tasks);
