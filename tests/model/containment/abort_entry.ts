// A native thread that also has tasks that go wrong on purpose.
import "../../../lib/errors.ts";
import { nativeRuntime } from "../../../ffi/runtime/types.ts";
import { systemOf } from "../../../ffi/runtime/system.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { serveTasks } from "../../../ffi/thread/worker_server.ts";
import { llamaTasks } from "../../../lib/llama/thread/tasks.ts";

/** The ways in which native code gives up. */
export type Fault = "assert" | "exception" | "abort" | "compute" | "hang";

interface FaultInput {
  kind: Fault;
  vocab: Pointer<"llama_vocab">;
}

const GGML_TYPE_F32 = 0;
const GGML_TYPE_I32 = 26;

/** A graph for two threads in which the second finds a row that doesn't exist: one of ggml's own compute threads gives up, the first waits for it. */
function compute({ native, lib }: TaskContext): void {
  const params = native.struct("ggml_init_params");
  params.mem_size = 1n << 20n;
  const context = lib.ggml_init(params) as Pointer<"ggml_context">;
  const rows = lib.ggml_new_tensor_2d(context, GGML_TYPE_F32, 64n, 4n) as Pointer<"ggml_tensor">;
  const wanted = lib.ggml_new_tensor_1d(context, GGML_TYPE_I32, 2n) as Pointer<"ggml_tensor">;
  native.viewInt32(lib.ggml_get_data(wanted) as Pointer, 2).set([0, 99]);
  const picked = lib.ggml_get_rows(context, rows, wanted) as Pointer<"ggml_tensor">;
  const graph = lib.ggml_new_graph(context) as Pointer<"ggml_cgraph">;
  lib.ggml_build_forward_expand(graph, lib.ggml_silu(context, picked) as Pointer<"ggml_tensor">);
  lib.ggml_graph_compute_with_ctx(context, graph, 2);
}

async function fault({ kind, vocab }: FaultInput, task: TaskContext): Promise<void> {
  const { lib } = task;
  const system = systemOf(await nativeRuntime());
  const libc = (name: string) => system.libc(name, { parameters: [], result: "void" })();
  if (kind === "assert") lib.gguf_get_val_u32(lib.gguf_init_empty() as Pointer<"gguf_context">, 5n);
  if (kind === "exception") lib.llama_vocab_get_score(vocab, -5);
  if (kind === "compute") compute(task);
  if (kind === "abort") libc("abort");
  if (kind === "hang") libc("pause");
}

/** The tasks of a model's thread, and one that doesn't return. */
export const tasks = { ...llamaTasks, fault } as const;

serveTasks(tasks);
