import type { TaskContext } from "../../../ffi/thread/task.ts";
import { DecodeError } from "../../errors.ts";
import type { ContextState } from "./context_state.ts";

/** Results of `llama_decode`: aborted by its callback, and no free slot in the context. */
const ABORTED = 2;
const NO_SLOT = 1;

/**
 * Computes the first tokens of the state's batch. If it is cancelled or fails it clears the context's memory, so that the next prompt starts as in a fresh
 * context.
 */
export function decode(state: ContextState, task: TaskContext, count: number): void {
  const code = compute(state, task, count);
  if (code === 0) {
    for (let index = 0; index < count; index++) state.held[state.used + index] = state.batchTokens[index] ?? 0;
    state.used += count;
    return;
  }
  if (code === ABORTED) abandon(state, task);
  state.forget();
  const why = code === NO_SLOT ? "the context has no free slot" : "it failed";
  throw new DecodeError(`llama_decode returned ${code}: ${why}; the context was cleared and can be used again`, {
    value: code,
    expected: "0",
  });
}

/** From this number of tokens on a decode multiplies matrices, which is faster when models take turns with all cores. */
const MATRIX_TOKENS = 16;

/** Acquires cores for the decode alone: models share them. */
function compute(state: ContextState, task: TaskContext, count: number): number {
  const { lib, cores, cancelled } = task;
  task.throwIfCancelled();
  const threads = cores.acquire(state.threads, cancelled, count < MATRIX_TOKENS ? 1 : state.threads);
  if (threads === 0) task.throwIfCancelled();
  if (threads !== state.currentThreads) {
    lib.llama_set_n_threads(state.context, threads, threads);
    state.currentThreads = threads;
  }
  state.batch.n_tokens = count;
  const code = lib.llama_decode(state.context, state.batch);
  cores.pause();
  return code;
}

function abandon(state: ContextState, task: TaskContext): never {
  state.forget();
  task.throwIfCancelled();
  throw new DecodeError("llama_decode was aborted without a request; the context was cleared and can be used again", {
    value: ABORTED,
    expected: "0",
  });
}
