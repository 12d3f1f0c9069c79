/**
 * The bytes of a model in whisper.cpp's format, read on a native thread, where reading may block.
 *
 * @module
 */

import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { ModelAccessError, ModelNotFoundError } from "../../errors.ts";
import { NotWhisperModelError, WhisperFormatError, WhisperTruncatedError } from "../errors.ts";
import { fileKind, KIND_BYTES } from "../../gguf/file_kind.ts";
import { throwFileError } from "../../support/file_error.ts";

/** Something of a known size that can be read at any place. */
export interface ModelSource extends Disposable {
  /** Name in messages. */
  readonly name: string;
  /** Number of bytes. */
  readonly size: number;
  /** Reads bytes from `position` on into the whole of `into`. Says how many there were. */
  read(into: Uint8Array, position: number): number;
}

/** Bytes in memory. */
export class MemoryModel implements ModelSource {
  readonly name: string;
  readonly size: number;

  /** A source over these bytes, which are not copied. */
  constructor(readonly bytes: Uint8Array<ArrayBuffer>, name = "the model's bytes") {
    this.name = name;
    this.size = bytes.length;
  }

  read(into: Uint8Array, position: number): number {
    const part = this.bytes.subarray(position, position + into.length);
    into.set(part);
    return part.length;
  }

  [Symbol.dispose](): void {}
}

/** A file, open until it is disposed. */
export class ModelFile implements ModelSource {
  readonly size: number;
  readonly #descriptor: number;

  /** Opens it. Throws {@linkcode ModelNotFoundError} and {@linkcode ModelAccessError}. */
  constructor(readonly name: string) {
    try {
      // Before it is opened: to open a pipe waits until somebody writes to it.
      if (!statSync(name).isFile()) refuseKind(name);
      this.#descriptor = openSync(name, "r");
      this.size = fstatSync(this.#descriptor).size;
    } catch (cause) {
      refuse(name, cause);
    }
  }

  read(into: Uint8Array, position: number): number {
    let done = 0;
    while (done < into.length) {
      const count = readSync(this.#descriptor, into, done, into.length - done, position + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

function refuseKind(path: string): never {
  throw new ModelNotFoundError(`${path} is not a file; give the path of a model in whisper.cpp's format`, {
    value: path,
    expected: "the path of a file",
  });
}

function refuse(path: string, cause: unknown): never {
  if (cause instanceof ModelNotFoundError) throw cause;
  throwFileError(path, cause, {
    NotFound: ModelNotFoundError,
    Access: ModelAccessError,
    expected: "the path of a model in whisper.cpp's format",
  });
}

const CHUNK_SIZE = 1 << 18;

/** Reads a source from its start on, checking that nothing reaches beyond its end. */
export class ModelCursor {
  readonly #source: ModelSource;
  #chunk = new Uint8Array(0);
  #data = new DataView(this.#chunk.buffer);
  #chunkAt = 0;
  /** The place of the next byte. */
  position = 0;

  /** Starts at the first byte of `source`. */
  constructor(source: ModelSource) {
    this.#source = source;
  }

  /** Name of the source. */
  get name(): string {
    return this.#source.name;
  }

  /** Bytes up to the end. */
  get left(): number {
    return this.#source.size - this.position;
  }

  /** The next 32-bit whole number. */
  int32(what: string): number {
    const at = this.#ensure(4, what);
    this.position += 4;
    return this.#data.getInt32(at, true);
  }

  /** The next 32-bit floats. */
  float32(count: number, what: string): Float32Array {
    this.#need(count * 4, what);
    const values = new Float32Array(count);
    const bytes = new Uint8Array(values.buffer);
    if (this.#source.read(bytes, this.position) < bytes.length) this.#shorter();
    this.position += bytes.length;
    return values;
  }

  /** The next bytes, valid until the next call. */
  bytes(count: number, what: string): Uint8Array {
    const at = this.#ensure(count, what);
    this.position += count;
    return this.#chunk.subarray(at, at + count);
  }

  /** Goes past bytes that needn't be looked at. */
  skip(count: number, what: string): void {
    this.#need(count, what);
    this.position += count;
  }

  /** Refuses the file for what it says. */
  refuse(what: string, value: unknown, expected: string): never {
    throw new WhisperFormatError(
      `${this.name} can't be right: ${what} is ${String(value)}, not ${expected}; get or convert it again`,
      {
        value,
        expected,
      },
    );
  }

  /** The place of the next `count` bytes in the chunk. */
  #ensure(count: number, what: string): number {
    const at = this.position - this.#chunkAt;
    if (at >= 0 && at + count <= this.#chunk.length) return at;
    this.#need(count, what);
    this.#chunk = new Uint8Array(Math.min(Math.max(count, CHUNK_SIZE), this.left));
    this.#data = new DataView(this.#chunk.buffer);
    this.#chunkAt = this.position;
    if (this.#source.read(this.#chunk, this.position) < this.#chunk.length) this.#shorter();
    return 0;
  }

  #need(count: number, what: string): void {
    if (count <= this.left) return;
    throw new WhisperTruncatedError(
      `${this.name} ends inside ${what}: ${count} bytes are announced, ${this.left} are there; get it again`,
      { value: this.left, expected: `${count} bytes` },
    );
  }

  #shorter(): never {
    throw new ModelAccessError(`${this.name} became shorter while it was read; write it again`, { value: this.name });
  }
}

/** The first four bytes of a model, `GGML_FILE_MAGIC`. */
const FILE_MAGIC = 0x67676d6c;
const GGUF_MAGIC = 0x46554747;

/** Reads the mark at the start. Throws {@linkcode NotWhisperModelError} for files of other kinds. */
export function readMagic(cursor: ModelCursor): void {
  if (cursor.left < 4) {
    throw new NotWhisperModelError(`${cursor.name} has ${cursor.left} bytes; give a model in whisper.cpp's format`, {
      value: cursor.left,
      expected: "a file that starts with lmgg",
    });
  }
  const magic = cursor.int32("the mark at the start");
  if (magic === FILE_MAGIC) return;
  cursor.position = 0;
  const kind = fileKind(cursor.bytes(Math.min(cursor.left, KIND_BYTES), "its start"));
  const what = kind !== undefined
    ? `is ${kind.what}`
    : magic === GGUF_MAGIC
    ? "is a GGUF file, a model for loadModel"
    : `starts with 0x${(magic >>> 0).toString(16).padStart(8, "0")}`;
  throw new NotWhisperModelError(
    `${cursor.name} ${what}; give a model in whisper.cpp's format, such as ggml-tiny.en.bin`,
    { value: magic >>> 0, expected: `0x${FILE_MAGIC.toString(16)}` },
  );
}
