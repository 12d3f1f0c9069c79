/**
 * Reading bytes one after another from a file, from memory or from a stream.
 *
 * @module
 */

import { close, open, read, type Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { InvalidArgumentError } from "../../../base/errors.ts";
import { isAsyncIterable, isInstance, show } from "../../../base/check.ts";
import { AudioAccessError, AudioNotFoundError } from "./errors.ts";
import { joined } from "../../../ffi/memory/concat.ts";
import { throwFileError } from "../../support/file_error.ts";

/** Source of audio: a path, a `file:` URL, bytes, a blob, or a stream of bytes. */
export type AudioSource =
  | string
  | URL
  | Uint8Array
  | ArrayBuffer
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>;

/** Bytes that are read in one go from a file or a stream. */
const PIECE_BYTES = 1 << 16;

/** More bytes than these are not kept to go back to. */
const MAX_RECORDED = 4 << 20;

/** Options of `ByteReader.open`. */
export interface ByteReaderOptions {
  /** Name of a stream in messages. */
  name?: string;
  /** Closes the source when it is aborted, also while bytes are waited for; they then end. */
  signal?: AbortSignal | undefined;
}

/** Bytes one after another. */
export class ByteReader implements AsyncDisposable {
  /** Name in messages. */
  readonly name: string;
  /** The path on disk, where it is a file. */
  readonly path: string | undefined;
  /** Number of bytes in all, where it is known. */
  readonly size: number | undefined;
  readonly #pieces: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array(0);
  #position = 0;
  #ended = false;
  #recorded: Uint8Array[] | undefined;
  #deaf: (() => void) | undefined;

  private constructor(pieces: AsyncIterator<Uint8Array>, name: string, size?: number, path?: string) {
    this.#pieces = pieces;
    this.name = name;
    this.size = size;
    this.path = path;
  }

  /**
   * Opens a source for reading.
   *
   * Throws {@linkcode AudioNotFoundError}, {@linkcode AudioAccessError}, or InvalidArgumentError for other values.
   */
  static async open(source: AudioSource, options: ByteReaderOptions = {}): Promise<ByteReader> {
    const reader = await ByteReader.#open(source, options.name);
    reader.#listen(options.signal);
    return reader;
  }

  static async #open(source: AudioSource, name = "the stream of audio"): Promise<ByteReader> {
    if (typeof source === "string" || isInstance(source, URL)) return await ByteReader.#openFile(pathOf(source));
    const bytes = bytesIn(source);
    if (bytes !== undefined) return new ByteReader(single(bytes), "the audio given as bytes", bytes.length);
    if (isInstance(source, Blob)) {
      const blob = source as Blob;
      return new ByteReader(streamPieces(blob.stream()), "the audio given as a blob", blob.size);
    }
    if (isInstance(source, ReadableStream)) {
      return new ByteReader(streamPieces(source as ReadableStream<Uint8Array>), name);
    }
    if (isAsyncIterable(source)) {
      return new ByteReader((source as AsyncIterable<Uint8Array>)[Symbol.asyncIterator](), name);
    }
    const expected = "a path, a file URL, a Uint8Array, a Blob or a ReadableStream of bytes";
    throw new InvalidArgumentError(`the audio is ${show(source)}; give ${expected}`, { value: source, expected });
  }

  static async #openFile(path: string): Promise<ByteReader> {
    // Before it is opened: to open a pipe waits until somebody writes to it.
    const status = await stat(path).catch((cause: unknown) => refuse(path, cause));
    if (!status.isFile()) refuseKind(path, status);
    const file = await openFile(path, "r").catch((cause: unknown) => refuse(path, cause));
    const reader = new ByteReader(filePieces(file, path), path, status.size, path);
    forgotten.register(reader, file, reader);
    return reader;
  }

  #listen(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const close = () => void this[Symbol.asyncDispose]().catch(() => undefined);
    signal.addEventListener("abort", close, { once: true });
    this.#deaf = () => signal.removeEventListener("abort", close);
  }

  /** Number of bytes taken so far. */
  get position(): number {
    return this.#position;
  }

  /** The next bytes, not taken: `count` of them, fewer at the end. */
  async peek(count: number): Promise<Uint8Array> {
    while (this.#held.length < count && await this.#pull());
    return this.#held.subarray(0, count);
  }

  /** Takes the next bytes: `count` of them, fewer at the end. Right until the next call. */
  async take(count: number): Promise<Uint8Array> {
    const bytes = await this.peek(count);
    this.#held = this.#held.subarray(bytes.length);
    this.#position += bytes.length;
    this.#recorded?.push(bytes);
    if (this.#position > MAX_RECORDED) this.#recorded = undefined;
    return bytes;
  }

  /** Takes bytes and forgets them; gives how many there were. */
  async skip(count: number): Promise<number> {
    let left = count;
    while (left > 0) {
      const { length } = await this.take(Math.min(left, PIECE_BYTES));
      if (length === 0) break;
      left -= length;
    }
    return count - left;
  }

  /** All that is left, piece by piece, as it comes. */
  async *rest(): AsyncGenerator<Uint8Array> {
    while (this.#held.length > 0 || await this.#pull()) yield await this.take(this.#held.length);
  }

  async #pull(): Promise<boolean> {
    if (this.#ended) return false;
    const next = await this.#pieces.next();
    if (next.done === true) {
      this.#ended = true;
      forgotten.unregister(this);
      return false;
    }
    const piece = bytesIn(next.value);
    if (piece === undefined) {
      throw new InvalidArgumentError(
        `${this.name} has ${show(next.value)} in it; give a stream of Uint8Array`,
        { value: next.value, expected: "a Uint8Array" },
      );
    }
    this.#held = this.#held.length === 0 ? piece : joined(Uint8Array, [this.#held, piece]);
    return true;
  }

  /** Keeps what is taken from now on, so that {@linkcode ByteReader.rewind} can go back to here. */
  record(): void {
    this.#recorded = [];
  }

  /** Goes back to where the record was begun; gives `false` when that was too long ago. Ends the record. */
  rewind(): boolean {
    const recorded = this.#recorded;
    this.#recorded = undefined;
    if (recorded === undefined) return false;
    const length = recorded.reduce((sum, piece) => sum + piece.length, 0);
    this.#held = joined(Uint8Array, [...recorded, this.#held]);
    this.#position -= length;
    return true;
  }

  /** Ends the record. */
  forget(): void {
    this.#recorded = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#deaf?.();
    forgotten.unregister(this);
    if (this.#ended) return;
    this.#ended = true;
    const left = this.#pieces.return?.();
    // A generator that waits for its next piece can't be left before that comes: only our own is waited for.
    if (this.path !== undefined) await left;
    else left?.catch(() => undefined);
  }
}

// Descriptors, not FileHandles: a FileHandle that is forgotten ends the program in Bun.
const [openFile, readFile, closeFile] = [promisify(open), promisify(read), promisify(close)];

/** Closes the files of readers that were collected before their end. */
const forgotten = new FinalizationRegistry<number>((file) => close(file, () => undefined));

/** The pieces of an open file; closes it at the end and when it is left. */
function filePieces(file: number, path: string): AsyncIterator<Uint8Array> {
  let closed: Promise<void> | undefined;
  let reading: Promise<unknown> | undefined;
  const done = async () => {
    // The number may be another file's as soon as it is closed.
    await reading;
    await (closed ??= closeFile(file));
    return { done: true, value: undefined } as const;
  };
  return {
    next: async () => {
      if (closed !== undefined) return { done: true, value: undefined };
      const piece = new Uint8Array(PIECE_BYTES);
      const read = readFile(file, piece, 0, PIECE_BYTES, null);
      reading = read.catch(() => undefined);
      const { bytesRead } = await read.catch(async (cause: unknown) => {
        await done();
        return refuse(path, cause);
      });
      return bytesRead === 0 ? await done() : { done: false, value: piece.subarray(0, bytesRead) };
    },
    return: done,
  };
}

function bytesIn(value: unknown): Uint8Array | undefined {
  // A plain one of Node's Buffer, whose slice() doesn't copy.
  if (isInstance(value, Uint8Array)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return isInstance(value, ArrayBuffer) ? new Uint8Array(value) : undefined;
}

function single(bytes: Uint8Array): AsyncIterator<Uint8Array> {
  let given = bytes.length === 0;
  const done = { done: true, value: undefined } as const;
  return {
    next: () => {
      if (given) return Promise.resolve(done);
      given = true;
      return Promise.resolve({ done: false, value: bytes });
    },
    return: () => Promise.resolve(done),
  };
}

/** The pieces of a stream; leaving cancels it, also while a piece is waited for. */
function streamPieces(stream: ReadableStream<Uint8Array>): AsyncIterator<Uint8Array> {
  if (stream.locked) {
    throw new InvalidArgumentError("the stream of audio is read by something else; give a stream of its own", {
      value: stream,
      expected: "a ReadableStream that isn't locked",
    });
  }
  const reader = stream.getReader();
  return {
    next: async () => {
      const { done, value } = await reader.read();
      return done ? { done, value: undefined } : { done, value };
    },
    return: async () => {
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}

function pathOf(source: string | URL): string {
  const text = String(source);
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (typeof source === "string" && scheme !== "file") {
    if (scheme !== undefined) refuseAddress(text);
    if (text !== "" && !text.includes("\0")) return text;
    throw new InvalidArgumentError(`the audio's path is ${show(text)}; give the path of a file`, {
      value: text,
      expected: "a path",
    });
  }
  if (scheme !== "file") refuseAddress(text);
  try {
    return fileURLToPath(text);
  } catch (cause) {
    throw new InvalidArgumentError(`${show(text)} is not a file: URL of this system; give a path`, {
      value: text,
      expected: "a file URL",
      cause,
    });
  }
}

function refuseAddress(text: string): never {
  throw new InvalidArgumentError(
    `the audio is the address ${
      show(text)
    }, which isn't fetched; give the path of a file, or the bytes: await (await fetch(address)).bytes()`,
    { value: text, expected: "a path, a file URL or bytes" },
  );
}

function refuseKind(path: string, status: Stats): never {
  const what = status.isDirectory() ? "a folder" : "not a regular file";
  throw new AudioNotFoundError(`${path} is ${what}; give the path of an audio file, or a stream`, {
    value: path,
    expected: "the path of a file",
  });
}

function refuse(path: string, cause: unknown): never {
  throwFileError(path, cause, {
    NotFound: AudioNotFoundError,
    Access: AudioAccessError,
    expected: "the path of an audio file",
  });
}
