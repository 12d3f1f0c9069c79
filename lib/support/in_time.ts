/** What limits a wait. */
export interface WaitLimits {
  /** The longest wait in milliseconds. */
  readonly timeoutMs: number;
  /** Ends the wait; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits for a promise, but not longer than allowed.
 *
 * @param late makes the error of a wait that took too long, and stops what is waited for.
 */
export async function inTime<T>(
  promise: Promise<T>,
  { timeoutMs, signal }: WaitLimits,
  late: () => unknown,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let abort: (() => void) | undefined;
  const ended = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), timeoutMs);
    abort = () => reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
  });
  promise.catch(() => {});
  ended.catch(() => {});
  try {
    signal?.throwIfAborted();
    return await Promise.race([promise, ended]);
  } finally {
    clearTimeout(timer);
    if (abort !== undefined) signal?.removeEventListener("abort", abort);
  }
}
