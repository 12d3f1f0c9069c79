/**
 * The source of a file's bytes: a file on disk, or memory.
 *
 * @module
 */

import type { Stats } from "node:fs";
import { ModelAccessError, ModelNotFoundError } from "../errors.ts";
import { throwFileError } from "../support/file_error.ts";
import { fileSystem } from "./file_system.ts";
import { OpenFile } from "./open_file.ts";

/** Something of a known size that can be read at any place. */
export interface ByteSource {
  /** Length in bytes. */
  readonly size: number;
  /** Name for messages. */
  readonly name: string;
  /** Reads bytes from `position` on into the whole of `into`, which never reaches past the end. */
  read(into: Uint8Array, position: number): Promise<void>;
}

/** Bytes in memory. */
export class MemorySource implements ByteSource {
  readonly #bytes: Uint8Array;
  readonly name: string;

  /** A source over these bytes, which are not copied. */
  constructor(bytes: Uint8Array, name = "the bytes given") {
    this.#bytes = bytes;
    this.name = name;
  }

  get size(): number {
    return this.#bytes.length;
  }

  read(into: Uint8Array, position: number): Promise<void> {
    into.set(this.#bytes.subarray(position, position + into.length));
    return Promise.resolve();
  }
}

/** A file on disk, opened for reading until it is disposed. */
export class FileSource implements ByteSource, AsyncDisposable {
  readonly #file: OpenFile;
  readonly name: string;
  readonly size: number;

  private constructor(file: OpenFile, name: string, size: number) {
    this.#file = file;
    this.name = name;
    this.size = size;
  }

  /**
   * Opens a file.
   *
   * Throws {@linkcode ModelNotFoundError} when there is none or when it is a folder, {@linkcode ModelAccessError} when it may not be read.
   */
  static async open(path: string): Promise<FileSource> {
    const { stat } = fileSystem();
    // Before it is opened: to open a pipe waits until somebody writes to it.
    const before = await stat(path).catch((cause: unknown) => refuse(path, cause));
    if (!before.isFile()) refuseKind(path, before);
    const file = await OpenFile.open(path).catch((cause: unknown) => refuse(path, cause));
    const status = await file.stat();
    if (status.isFile()) return new FileSource(file, path, status.size);
    await file.close();
    return refuseKind(path, status);
  }

  async read(into: Uint8Array, position: number): Promise<void> {
    let done = 0;
    while (done < into.length) {
      const bytesRead = await this.#file.read(into, done, position + done);
      if (bytesRead === 0) {
        throw new ModelAccessError(`${this.name} became shorter while it was read; write it again`, {
          value: this.name,
        });
      }
      done += bytesRead;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

function refuseKind(path: string, status: Stats): never {
  const what = status.isDirectory() ? "a folder" : "not a regular file";
  throw new ModelNotFoundError(`${path} is ${what}; give the path of a .gguf file`, {
    value: path,
    expected: "the path of a file",
  });
}

/** The system's refusal to open a file, as an error of ours. */
function refuse(path: string, cause: unknown): never {
  if ((cause as { code?: unknown }).code === "EISDIR") {
    throw new ModelNotFoundError(`${path} is a folder; give the path of a .gguf file`, {
      value: path,
      expected: "the path of a file",
      cause,
    });
  }
  throwFileError(path, cause, {
    NotFound: ModelNotFoundError,
    Access: ModelAccessError,
    expected: "the path of a .gguf file",
  });
}
