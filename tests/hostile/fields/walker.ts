import type { Field, TextField } from "./field.ts";

/** Walks over a little-endian file and notes its fields. */
export class Walker {
  readonly numbers: Field[] = [];
  readonly texts: TextField[] = [];
  readonly #view: DataView;
  at = 0;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Whether so many more bytes are there. */
  has(length: number): boolean {
    return this.at + length <= this.#view.byteLength;
  }

  /** Notes a whole number and returns it. */
  u32(): number {
    this.numbers.push({ at: this.at, size: 4 });
    return this.#view.getUint32((this.at += 4) - 4, true);
  }

  /** Notes a whole number of eight bytes and returns it. */
  u64(): number {
    this.numbers.push({ at: this.at, size: 8 });
    return Number(this.#view.getBigUint64((this.at += 8) - 8, true));
  }

  /** Notes numbers that nothing depends on. */
  skip(size: Field["size"], count = 1, isFloat = false): void {
    for (let left = count; left > 0; left--) {
      this.numbers.push({ at: this.at, size, isFloat });
      this.at += size;
    }
  }

  /** Notes text. */
  text(length: number): string {
    this.texts.push({ at: this.at, length });
    const bytes = new Uint8Array(this.#view.buffer, this.#view.byteOffset + this.at, length);
    this.at += length;
    return new TextDecoder().decode(bytes);
  }
}
