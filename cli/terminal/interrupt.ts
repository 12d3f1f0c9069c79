import process from "node:process";
import { EXIT, InterruptedError } from "../errors.ts";

/**
 * Listens to Ctrl-C while it lives: the first aborts {@link signal}, the second ends the program at once.
 *
 * @example
 * ```ts ignore
 * using interrupt = new Interrupt();
 * await work({ signal: interrupt.signal });
 * ```
 */
export class Interrupt implements Disposable {
  readonly #controller = new AbortController();
  readonly #listener = (): void => this.press();

  constructor() {
    process.on("SIGINT", this.#listener);
  }

  /** Aborts with an {@link InterruptedError}. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Handles Ctrl-C. For a terminal in raw mode, where it is a key and no signal. */
  press(): void {
    if (this.signal.aborted) process.exit(EXIT.interrupted);
    this.#controller.abort(new InterruptedError());
  }

  [Symbol.dispose](): void {
    process.off("SIGINT", this.#listener);
  }
}
