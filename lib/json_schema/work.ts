/** Thrown where a conversion takes more work than it may here. */
export class TooMuchWork extends Error {}

/** The work that is done at once: some 20 ms, more the first time. */
const QUICK_WORK = 2_000;
/** The work between two calls of what may stop it. */
const POLL_WORK = 500;

let left = Infinity;
let poll: (() => void) | undefined;
let untilPoll = POLL_WORK;

/** Counts work of a conversion; a unit takes some 10 microseconds. Throws {@linkcode TooMuchWork}, and what stops the conversion. */
export function countWork(units: number): void {
  left -= units;
  if (left < 0) throw new TooMuchWork("too much work");
  untilPoll -= units;
  if (untilPoll >= 0) return;
  untilPoll = POLL_WORK;
  poll?.();
}

/** Does work that ends soon; `undefined` when it would take longer. */
export function quickly<T>(work: () => T): T | undefined {
  left = QUICK_WORK;
  try {
    return work();
  } catch (error) {
    if (error instanceof TooMuchWork) return undefined;
    throw error;
  } finally {
    left = Infinity;
  }
}

/** Does long work, which ends with what `stop` throws: that is called again and again. */
export function stoppable<T>(stop: () => void, work: () => T): T {
  poll = stop;
  try {
    return work();
  } finally {
    poll = undefined;
  }
}
