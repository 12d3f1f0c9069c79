import { nativeRuntime } from "../../../ffi/runtime/types.ts";
import { systemOf } from "../../../ffi/runtime/system.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { serveTasks } from "../../../ffi/thread/worker_server.ts";

/** Tasks that don't return, and one that does. */
export const tasks = {
  echo: (value: unknown) => value,
  /** Tells that it runs, then calls a function of the C library. */
  libc: async (name: "abort" | "pause", { post }: TaskContext<"running">) => {
    const system = systemOf(await nativeRuntime());
    const call = system.libc(name, { parameters: [], result: "void" });
    post("running");
    call();
  },
  /** Uses the processor for ever, in JavaScript. */
  spin: (_: null, { post }: TaskContext<"running">) => {
    post("running");
    for (;;);
  },
} as const;

serveTasks(tasks);
