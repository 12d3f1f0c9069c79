/**
 * GGUF files: their metadata, tensors and data.
 *
 * @module
 */

import { definePicture } from "../../base/inspect.ts";
import { DisposedError, InvalidArgumentError } from "../errors.ts";
import { checkInteger, checkText, isInstance, isPlainObject, refuse, show } from "../../base/check.ts";
import { custom, deferred, integer, options, type RulesOf, signal } from "../../base/options.ts";
import { type ByteSource, FileSource, MemorySource } from "./byte_source.ts";
import { pathOfFileUrl } from "./file_system.ts";
import { type GgufHeader, type GgufTensorInfo, type GgufValue, parseGgufHeader } from "./header.ts";
import type { GgufValueType } from "./types.ts";
import { decodeValue, type GgufTypedValue } from "./values.ts";
import { HttpSource } from "./http_source.ts";
import { decodeNumbers, type TensorNumbers } from "./numbers.ts";

/** Options of opening a GGUF file. */
export interface GgufOpenOptions {
  /** Stops; what is under way then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Idle time limit of a server in milliseconds: 1 to 2,147,483,647, default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Headers sent to a server, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Maximum number of bytes to read and drop from a server that ignores the requested range. Default 64 MiB. */
  readonly maxSkippedBytes?: number | undefined;
}

/** The part of a tensor's data to read. */
export interface GgufReadOptions {
  /** Offset in bytes from the start of the tensor's data. Default 0. */
  readonly byteOffset?: number | undefined;
  /** Number of bytes. Default all from there. */
  readonly byteLength?: number | undefined;
}

/** {@linkcode GgufOpenOptions}, declared. */
const openSpec = options(
  "GgufFile.open",
  {
    signal: signal(),
    timeoutMs: integer({ min: 1, max: 0x7fff_ffff, default: 30_000 }),
    headers: custom("an object of strings", checkHeaders, { default: {} }),
    maxSkippedBytes: integer({ min: 0, max: Number.MAX_SAFE_INTEGER, default: 64 << 20 }),
  } satisfies RulesOf<GgufOpenOptions>,
);

/** {@linkcode GgufReadOptions}, declared. */
const readSpec = options(
  "readTensor",
  { byteOffset: deferred("an integer", { default: 0 }), byteLength: deferred<number>("an integer") } satisfies RulesOf<
    GgufReadOptions
  >,
);

/** Bytes of a tensor that are read at once. */
const CHUNK_SIZE = 1 << 20;

/**
 * A GGUF file, open for reading. Made by {@linkcode GgufFile.open}; dispose it, best by `await using`.
 *
 * Only the header is read at first, and it is checked against the file's size: a damaged file is refused before its data is touched.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { GgufFile } from "./file.ts";
 * import { defaultModelPath } from "../models/default_model.ts";
 *
 * await using file = await GgufFile.open(await defaultModelPath());
 * assert.equal(file.metadata.get("general.architecture"), "llama");
 * const tokens = await file.value("tokenizer.ggml.tokens");
 * assert.equal(tokens?.type === "array" && tokens.value.length, 49152);
 * const norm = await file.readNumbers("output_norm.weight");
 * assert.equal(norm.length, 576);
 * ```
 */
export class GgufFile implements AsyncDisposable {
  readonly #source: ByteSource & Partial<AsyncDisposable>;
  #disposed: Promise<void> | undefined;
  readonly #byName: ReadonlyMap<string, GgufTensorInfo>;
  /** The parsed header. */
  readonly header: GgufHeader;

  private constructor(source: ByteSource & Partial<AsyncDisposable>, header: GgufHeader) {
    this.#source = source;
    this.header = header;
    this.#byName = new Map(header.tensors.map((tensor) => [tensor.name, tensor]));
  }

  /**
   * Opens a file by its path or `file:` URL, at an `http:` or `https:` URL, or in memory. Of a file on a server only the header is fetched, and later
   * what is asked for.
   *
   * Throws {@linkcode NotGgufError}, {@linkcode GgufVersionError}, {@linkcode GgufByteOrderError}, {@linkcode GgufTruncatedError} or
   * {@linkcode GgufFormatError} for what is wrong with it, ModelNotFoundError or ModelAccessError for a file that can't be read, GgufFetchError for what
   * is wrong with a server, InvalidArgumentError, and the signal's reason.
   */
  static async open(source: string | URL | Uint8Array | ArrayBuffer, options?: GgufOpenOptions): Promise<GgufFile> {
    const opened = await openSource(source, options);
    try {
      return new GgufFile(opened, await parseGgufHeader(opened, { nestedArrays: true }));
    } catch (error) {
      await opened[Symbol.asyncDispose]?.();
      throw error;
    }
  }

  /** The metadata, in the file's order; arrays are left in the file, {@linkcode GgufFile.value} reads them. */
  get metadata(): ReadonlyMap<string, GgufValue> {
    return this.header.metadata;
  }

  /** The tensors, in the file's order. */
  get tensors(): readonly GgufTensorInfo[] {
    return this.header.tensors;
  }

  /** The type of a metadata value; `undefined` when there is no such key. */
  type(key: string): GgufValueType | undefined {
    return this.header.locations.get(checkText("the key", key))?.type;
  }

  /** A metadata value with its type, arrays too; `undefined` when there is no such key. */
  async value(key: string): Promise<GgufTypedValue | undefined> {
    const place = this.header.locations.get(checkText("the key", key));
    if (place === undefined) return undefined;
    return decodeValue(await this.#read(place.byteOffset, place.byteLength), place);
  }

  /** Returns a tensor's entry in the header. Throws {@linkcode InvalidArgumentError} when there is none of that name. */
  tensor(name: string): GgufTensorInfo {
    const found = this.#byName.get(checkText("the name of the tensor", name));
    if (found !== undefined) return found;
    throw new InvalidArgumentError(
      `${this.#source.name} has no tensor ${show(name)}; it has ${this.tensors.length}, see tensors`,
      { value: name, expected: "the name of a tensor in the file" },
    );
  }

  /** The bytes of a tensor, or a part of them. Throws {@linkcode InvalidArgumentError}, and what {@linkcode GgufFile.open} throws for a source. */
  async readTensor(name: string, options?: GgufReadOptions): Promise<Uint8Array<ArrayBuffer>> {
    const { start, length } = this.#part(name, options);
    return await this.#read(start, length);
  }

  /** The bytes of a tensor, or a part of them, a mebibyte at a time. */
  async *tensorChunks(name: string, options?: GgufReadOptions): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    const { start, length } = this.#part(name, options);
    for (let at = 0; at < length; at += CHUNK_SIZE) {
      yield await this.#read(start + at, Math.min(CHUNK_SIZE, length - at));
    }
  }

  /**
   * The numbers of a tensor that isn't quantized: `f16` and `bf16` become a Float32Array. Throws {@linkcode InvalidArgumentError} for a quantized one,
   * whose bytes {@linkcode GgufFile.readTensor} gives.
   */
  async readNumbers(name: string): Promise<TensorNumbers> {
    const { type } = this.tensor(name);
    return await decodeNumbers(name, type, () => this.readTensor(name));
  }

  /** The bytes of one metadata entry as they are: key, type and value. */
  async readEntry(key: string): Promise<Uint8Array<ArrayBuffer>> {
    const place = this.header.locations.get(key);
    if (place === undefined) throw new InvalidArgumentError(`there is no metadata key ${show(key)}`, { value: key });
    return await this.#read(place.entryOffset, place.byteOffset + place.byteLength - place.entryOffset);
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#disposed !== undefined;
  }

  /** Closes the file. Later reads throw {@linkcode DisposedError}; a second call does nothing. */
  async dispose(): Promise<void> {
    await (this.#disposed ??= this.#source[Symbol.asyncDispose]?.() as Promise<void> | undefined ?? Promise.resolve());
  }

  /** Calls {@linkcode GgufFile.dispose}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  #part(name: string, options: GgufReadOptions | undefined): { start: number; length: number } {
    const { byteOffset: start, byteLength } = this.tensor(name);
    const given = readSpec.check(options);
    const from = checkInteger("byteOffset", given.byteOffset, { min: 0, max: byteLength });
    const length = checkInteger("byteLength", given.byteLength ?? byteLength - from, {
      min: 0,
      max: byteLength - from,
    });
    return { start: this.header.dataOffset + start + from, length };
  }

  async #read(position: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#disposed !== undefined) {
      throw new DisposedError(`${this.#source.name} was disposed; open it again`, {
        value: this.#source.name,
        expected: "an open file",
      });
    }
    const bytes = new Uint8Array(length);
    if (length > 0) await this.#source.read(bytes, position);
    return bytes;
  }

  static {
    definePicture(
      GgufFile,
      "GgufFile",
      ({ header }) => `version ${header.version}, ${header.metadata.size} keys, ${header.tensors.length} tensors`,
    );
  }
}

function checkHeaders(name: string, value: unknown): Readonly<Record<string, string>> {
  if (!isPlainObject(value)) return refuse(name, value, "an object of strings");
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, checkText(`${name}.${key}`, one)]));
}

async function openSource(
  source: unknown,
  options: GgufOpenOptions | undefined,
): Promise<ByteSource & Partial<AsyncDisposable>> {
  const given = openSpec.check(options);
  given.signal?.throwIfAborted();
  if (isInstance(source, Uint8Array)) return new MemorySource(source);
  if (isInstance(source, ArrayBuffer)) return new MemorySource(new Uint8Array(source));
  const url = isInstance(source, URL) ? source : urlOf(source);
  if (url === undefined) return await FileSource.open(checkText("the path of the file", source));
  if (url.protocol === "http:" || url.protocol === "https:") return await HttpSource.open(url, given);
  try {
    return await FileSource.open(pathOfFileUrl(url));
  } catch (error) {
    if (error instanceof TypeError) refuseSource(url.href, error);
    throw error;
  }
}

function urlOf(source: unknown): URL | undefined {
  if (typeof source !== "string") return refuseSource(source);
  if (!/^(https?|file):/i.test(source)) return undefined;
  return URL.parse(source) ?? refuseSource(source);
}

function refuseSource(value: unknown, cause?: unknown): never {
  const expected = "a path, an http:, https: or file: URL, or the bytes";
  throw new InvalidArgumentError(`${show(value)} is no GGUF file to open; give ${expected}`, {
    value,
    expected,
    cause,
  });
}
