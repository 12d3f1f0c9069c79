/** Errors of JavaScript backends that native code called. */
const thrown: unknown[] = [];

/** Keeps what was thrown, since native code can't pass it on. */
export function recordError(error: unknown): void {
  thrown.push(error);
}

/** The first thing thrown since the last look; `undefined` when there was none. */
export function drainErrors(): unknown {
  return thrown.splice(0)[0];
}
