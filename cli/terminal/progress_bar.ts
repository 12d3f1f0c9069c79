import process from "node:process";
import { styled } from "./output.ts";

/** A progress bar on standard error; draws nothing unless that is a terminal. */
export class ProgressBar implements Disposable {
  readonly #label: string;
  #drawn = "";

  constructor(label: string) {
    this.#label = label;
  }

  /** Draws the bar. @param share how much is done, 0 to 1. */
  draw(share: number): void {
    if (!process.stderr.isTTY) return;
    const filled = Math.round(Math.min(1, Math.max(0, share)) * 24);
    const line = `${this.#label} [${"█".repeat(filled)}${"·".repeat(24 - filled)}] ${Math.round(share * 100)} %`;
    if (line === this.#drawn) return;
    process.stderr.write(`\r${styled("dim", line)}`);
    this.#drawn = line;
  }

  /** Takes the bar off the screen. */
  [Symbol.dispose](): void {
    if (this.#drawn !== "") process.stderr.write(`\r${" ".repeat(this.#drawn.length)}\r`);
    this.#drawn = "";
  }
}
