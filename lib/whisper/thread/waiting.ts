import type { TaskContext } from "../../../ffi/thread/task.ts";

/** Interval of the messages of a thread that waits for cores. */
const BEAT_MS = 10_000;

/** For `cores.acquire`: whether the request was cancelled. Posts now and then, so that a long wait isn't taken for a hang. */
export function waiting({ cancelled, post }: TaskContext<{ waiting: true }>): () => boolean {
  let last = performance.now();
  return () => {
    const now = performance.now();
    if (now - last >= BEAT_MS) {
      last = now;
      post({ waiting: true });
    }
    return cancelled();
  };
}
