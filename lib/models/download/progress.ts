import type { DownloadProgress } from "../../support/download_options.ts";

/** The rate is that of this many milliseconds. */
const WINDOW_MS = 5_000;
const INTERVAL_MS = 100;

/** Counts bytes, and reports at most ten times a second, at the start and at the end. */
export class ProgressMeter {
  readonly #file: string;
  readonly #totalBytes: number;
  readonly #report: ((progress: DownloadProgress) => void) | undefined;
  readonly #samples: { at: number; bytes: number }[] = [];
  #received: number;
  #reportedAt = -Infinity;

  constructor(
    file: string,
    receivedBytes: number,
    totalBytes: number,
    report: ((progress: DownloadProgress) => void) | undefined,
  ) {
    this.#file = file;
    this.#received = receivedBytes;
    this.#totalBytes = totalBytes;
    this.#report = report;
    this.add(0);
  }

  /** Adds bytes; a negative number takes them back. Throws what the caller's function throws. */
  add(bytes: number): void {
    this.#received += bytes;
    const now = performance.now();
    if (this.#report === undefined) return;
    if (this.#received < this.#totalBytes && now - this.#reportedAt < INTERVAL_MS) return;
    this.#reportedAt = now;
    this.#samples.push({ at: now, bytes: this.#received });
    while (this.#samples.length > 2 && now - (this.#samples[0]?.at ?? now) > WINDOW_MS) this.#samples.shift();
    this.#report(this.#progress());
  }

  #progress(): DownloadProgress {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    const seconds = first === undefined || last === undefined ? 0 : (last.at - first.at) / 1000;
    const gained = (last?.bytes ?? 0) - (first?.bytes ?? 0);
    const bytesPerSecond = seconds > 0 && gained > 0 ? gained / seconds : 0;
    return {
      file: this.#file,
      receivedBytes: this.#received,
      totalBytes: this.#totalBytes,
      bytesPerSecond,
      secondsLeft: bytesPerSecond > 0 ? (this.#totalBytes - this.#received) / bytesPerSecond : undefined,
    };
  }
}
