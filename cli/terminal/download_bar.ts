import process from "node:process";
import type { DownloadProgress } from "../../lib/models/mod.ts";
import { styled } from "./output.ts";

/** The progress of a download on standard error: a line that changes on a terminal, else one at the start. */
export class DownloadBar implements Disposable {
  #drawn = "";
  #told = new Set<string>();

  /** Shows the progress. */
  draw({ file, receivedBytes, totalBytes, bytesPerSecond, secondsLeft }: DownloadProgress): void {
    const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
    if (!process.stderr.isTTY) {
      if (!this.#told.has(file)) process.stderr.write(`downloading ${file} (${megabytes(totalBytes)} MB) …\n`);
      this.#told.add(file);
      return;
    }
    const rate = bytesPerSecond > 0 ? `, ${megabytes(bytesPerSecond)} MB/s` : "";
    const left = secondsLeft === undefined ? "" : `, ${duration(secondsLeft)} left`;
    const line = `downloading ${file}: ${megabytes(receivedBytes)} of ${megabytes(totalBytes)} MB${rate}${left}`;
    const shown = line.slice(0, Math.max(20, (process.stderr.columns ?? 80) - 1));
    process.stderr.write(`\r${styled("dim", shown.padEnd(this.#drawn.length))}`);
    this.#drawn = shown;
  }

  /** Takes the line off the screen. */
  [Symbol.dispose](): void {
    if (this.#drawn !== "") process.stderr.write(`\r${" ".repeat(this.#drawn.length)}\r`);
    this.#drawn = "";
  }
}

function duration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
