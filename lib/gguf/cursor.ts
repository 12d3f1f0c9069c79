/**
 * Reads the little-endian numbers and strings of a GGUF file piece by piece, and notices where the file ends too early.
 *
 * @module
 */

import { GgufFormatError, GgufTruncatedError } from "../errors.ts";
import type { ByteSource } from "./byte_source.ts";

/** The most bytes kept in memory at once; also the longest string that is decoded. */
export const WINDOW_SIZE: number = 1 << 20;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A place in a source that moves forward as values are read. */
export class GgufCursor {
  readonly #source: ByteSource;
  readonly #window: Uint8Array<ArrayBuffer>;
  readonly #view: DataView<ArrayBuffer>;
  /** Offset of the window in the source, the number of bytes in it, and the position in it. */
  #start = 0;
  #filled = 0;
  #at = 0;

  /** A cursor at the start of a source. */
  constructor(source: ByteSource) {
    this.#source = source;
    this.#window = new Uint8Array(Math.min(WINDOW_SIZE, Math.max(source.size, 16)));
    this.#view = new DataView(this.#window.buffer);
  }

  /** The place in the source, in bytes from its start. */
  get position(): number {
    return this.#start + this.#at;
  }

  /** Remaining bytes. */
  get left(): number {
    return this.#source.size - this.position;
  }

  /** Reads the next bytes into the window; at most {@linkcode WINDOW_SIZE}. Throws {@linkcode GgufTruncatedError} when the source ends before. */
  async need(bytes: number, what: string): Promise<void> {
    if (this.#filled - this.#at >= bytes) return;
    this.refuseBeyondEnd(bytes, what);
    this.#window.copyWithin(0, this.#at, this.#filled);
    this.#start += this.#at;
    this.#filled = Math.max(0, this.#filled - this.#at);
    this.#at = 0;
    const from = this.#start + this.#filled;
    const count = Math.min(this.#window.length - this.#filled, this.#source.size - from);
    await this.#source.read(this.#window.subarray(this.#filled, this.#filled + count), from);
    this.#filled += count;
  }

  /** Throws when fewer bytes are left than something takes. */
  refuseBeyondEnd(bytes: number, what: string): void {
    if (bytes > this.left) this.#refuseCutOff(bytes, what);
  }

  #refuseCutOff(bytes: number, what: string): never {
    const wanted = this.position + bytes;
    throw new GgufTruncatedError(
      `${this.#source.name} is cut off: ${what} at byte ${this.position} needs ${bytes} bytes, so the file must have at least ${wanted} bytes, ` +
        `but it has ${this.#source.size}; get the file again`,
      { value: this.#source.size, expected: `at least ${wanted} bytes` },
    );
  }

  /** Throws that the header is wrong. */
  refuse(problem: string, value: unknown, expected: string): never {
    throw new GgufFormatError(
      `${this.#source.name} has a damaged header: ${problem}; expected ${expected}; get the file again`,
      { value, expected },
    );
  }

  /** The next bytes as they are, made readable by {@linkcode need} before. */
  bytes(count: number): Uint8Array {
    const part = this.#window.subarray(this.#at, this.#at + count);
    this.#at += count;
    return part;
  }

  /** A number of 32 bits, made readable before. */
  u32(): number {
    const value = this.#view.getUint32(this.#at, true);
    this.#at += 4;
    return value;
  }

  /** A number of 64 bits, made readable before. */
  u64(): bigint {
    const value = this.#view.getBigUint64(this.#at, true);
    this.#at += 8;
    return value;
  }

  /** The view and the place in it of the next bytes, made readable before; moves on by their number. */
  take(count: number): [view: DataView, at: number] {
    const at = this.#at;
    this.#at += count;
    return [this.#view, at];
  }

  /** A length of 64 bits that the rest of the source must have room for. */
  async length(what: string, unit = 1): Promise<number> {
    await this.need(8, `the length of ${what}`);
    const value = this.u64();
    const most = Math.floor(this.left / unit);
    if (value <= BigInt(most)) return Number(value);
    if (value >= 1n << 48n) {
      this.refuse(`${what} is said to have ${value} ${unit === 1 ? "bytes" : "entries"}`, value, `at most ${most}`);
    }
    return this.#refuseCutOff(Number(value) * unit, what);
  }

  /** A string with its length before it; `undefined` when it is longer than the window, and is skipped then. */
  async string(what: string): Promise<string | undefined> {
    const length = await this.length(what);
    if (length > this.#window.length) {
      this.skip(length);
      return undefined;
    }
    await this.need(length, what);
    return decoder.decode(this.bytes(length));
  }

  /** Moves on without reading, over what {@linkcode length} found to be there. */
  skip(bytes: number): void {
    this.#at += bytes;
    if (this.#at <= this.#filled) return;
    this.#start += this.#at;
    this.#at = 0;
    this.#filled = 0;
  }

  /** Moves on over strings without decoding them: a vocabulary has hundreds of thousands. */
  async skipStrings(count: number, what: string): Promise<void> {
    let done = 0;
    while (done < count) {
      done += this.#skipStringsInWindow(count - done);
      if (done < count) this.skip(await this.length(what)), done++;
    }
  }

  #skipStringsInWindow(count: number): number {
    let at = this.#at;
    let done = 0;
    const end = this.#filled;
    const view = this.#view;
    while (done < count && at + 8 <= end) {
      const next = at + 8 + view.getUint32(at, true);
      if (next > end || view.getUint32(at + 4, true) !== 0) break;
      at = next;
      done++;
    }
    this.#at = at;
    return done;
  }
}
