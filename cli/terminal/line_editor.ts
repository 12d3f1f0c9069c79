import process from "node:process";
import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { say } from "./output.ts";

/** A line that was typed. */
interface Line {
  readonly text: string;
  /** Whether it was seen while it was typed. */
  readonly shown: boolean;
}

/** Standard error as the editor writes to it; what it draws while an answer is written is dropped, and drawn again at the next prompt. */
class Screen extends Writable {
  isMuted = true;

  get columns(): number {
    return process.stderr.columns;
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    if (!this.isMuted) process.stderr.write(chunk);
    done();
  }
}

/**
 * Reads lines from the terminal: arrow keys edit them, the up arrow brings back earlier ones. What is typed while nobody asks is kept for the next prompt,
 * and so are whole lines. Ctrl-C is a key meanwhile, not a signal.
 */
export class LineEditor implements Disposable {
  readonly #screen = new Screen();
  readonly #reader: Interface;
  readonly #lines: Line[] = [];
  #wake: (() => void) | undefined;
  #closed = false;
  #warned = false;
  /** Called for Ctrl-C while nobody asks. */
  onInterrupt: () => void = () => {};

  constructor() {
    this.#reader = createInterface({
      input: process.stdin,
      output: this.#screen,
      terminal: true,
      historySize: 1000,
      prompt: "> ",
    });
    this.#reader.on("line", (text) => {
      this.#lines.push({ text, shown: !this.#screen.isMuted });
      // Others that come with it are drawn when it is their turn.
      this.#screen.isMuted = true;
      this.#wake?.();
    });
    this.#reader.on("close", () => {
      this.#closed = true;
      this.#wake?.();
    });
    this.#reader.on("SIGINT", () => this.#interrupt());
  }

  /** The next line; `undefined` when the user is done: Ctrl-D, or Ctrl-C twice on an empty line. */
  async next(): Promise<string | undefined> {
    if (this.#lines.length === 0 && !this.#closed) await this.#ask();
    const line = this.#lines.shift();
    if (line !== undefined && !line.shown) say(`> ${line.text}`);
    return line?.text;
  }

  /** Drops whole lines that nobody has asked for yet. */
  forget(): void {
    this.#lines.length = 0;
  }

  [Symbol.dispose](): void {
    this.#reader.close();
  }

  async #ask(): Promise<void> {
    this.#warned = false;
    this.#screen.isMuted = false;
    // Where the cursor was is overwritten by now.
    Object.assign(this.#reader, { prevRows: 0 });
    this.#reader.prompt(true);
    await new Promise<void>((resolve) => this.#wake = resolve);
    this.#screen.isMuted = true;
    this.#wake = undefined;
  }

  #interrupt(): void {
    if (this.#screen.isMuted) return this.onInterrupt();
    if (this.#reader.line === "" && this.#warned) return this.#reader.close();
    this.#warned = this.#reader.line === "";
    this.#reader.write(null, { ctrl: true, name: "e" });
    this.#reader.write(null, { ctrl: true, name: "u" });
    if (this.#warned) say("\n(Ctrl-C again, Ctrl-D or /exit ends the conversation)");
    this.#reader.prompt();
  }
}
