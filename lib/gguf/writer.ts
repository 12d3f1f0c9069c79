/**
 * Writes GGUF files.
 *
 * @module
 */

import { messageOf } from "../../base/error.ts";
import { rethrowDenied } from "../../base/permission.ts";
import { boolean, callback, custom, integer, options, type RulesOf, signal } from "../../base/options.ts";
import type { FileHandle } from "node:fs/promises";
import { GgufWriteError, InvalidArgumentError } from "../errors.ts";
import { checkText, isArray, isInstance, refuse } from "../../base/check.ts";
import { fileSystem, pathOfFileUrl, replaceablePath } from "./file_system.ts";
import {
  checkAlignment,
  encodeHeader,
  isObject,
  padded,
  placeTensors,
  type TensorPlace,
  type TensorShape,
} from "./layout.ts";
import { encodeEntry, fillerEntry, type GgufInput } from "./values.ts";

/** Data of a tensor piece by piece; the pieces together must be as long as its shape and type say. */
export type GgufChunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** A tensor to be written. */
export interface GgufTensorInput extends TensorShape {
  /** Its bytes; or a function that gives them piece by piece when it is their turn, so that a large file needs little memory. */
  readonly data: ArrayBufferView | (() => GgufChunks);
}

/** Content of a GGUF file. */
export interface GgufContent {
  /** The metadata, in the order in which it is written. */
  readonly metadata?: Readonly<Record<string, GgufInput>> | Iterable<readonly [string, GgufInput]> | undefined;
  /** The tensors, in the order in which they are written. */
  readonly tensors?: readonly GgufTensorInput[] | undefined;
  /** Alignment of each tensor's data in bytes: a power of two, default 32. Written as `general.alignment` when it is another. */
  readonly alignment?: number | undefined;
  /** Room kept in the header for later edits by {@linkcode editGguf}, in bytes: default 0. It is a string of that length under the key `ggml_ffi.pad`. */
  readonly reserve?: number | undefined;
}

/** Options of writing a file. */
export interface GgufWriteOptions {
  /** Replace a file that is there. Default true. */
  readonly overwrite?: boolean | undefined;
  /** Called with a number from 0 to 1 as the data is written. */
  readonly onProgress?: ((part: number) => void) | undefined;
  /** Stops; it then rejects with the signal's reason, and no file is left. */
  readonly signal?: AbortSignal | undefined;
}

/** A header, and what follows it. */
export interface PreparedFile {
  /** The bytes of the header, padded. */
  readonly header: Uint8Array<ArrayBuffer>;
  /** The tensors with their places. */
  readonly places: readonly TensorPlace[];
  /** The data of each tensor. */
  readonly data: readonly GgufTensorInput["data"][];
  /** Alignment of the data in bytes. */
  readonly alignment: number;
  /** Called before the file gets its name. */
  readonly ready?: () => Promise<void>;
}

/** Most bytes that are written at once. */
const CHUNK_SIZE = 1 << 20;
/** The most room that can be kept in a header. */
export const MAX_RESERVED = 1 << 24;

/** {@linkcode GgufContent}, declared. */
const contentSpec = options(
  "a GGUF file",
  {
    metadata: custom("an object or pairs of key and value", (_, value) => pairsOf(value), { default: () => new Map() }),
    tensors: custom("an array of { name, type, shape, data }", checkTensors, { default: [] }),
    alignment: custom<number, Record<never, never>>("a power of two", (_, value) => checkAlignment(value)),
    reserve: integer({ min: 0, max: MAX_RESERVED, default: 0 }),
  } satisfies RulesOf<GgufContent>,
);

/** A file that was checked, laid out and encoded, except for the tensors' data. */
export function prepareGguf(content: GgufContent): PreparedFile {
  const { metadata: pairs, tensors, alignment: wanted, reserve } = contentSpec.check(content);
  const alignment = checkAlignment(wanted ?? givenAlignment(pairs) ?? 32);
  if (alignment === 32) pairs.delete("general.alignment");
  else pairs.set("general.alignment", { type: "uint32", value: alignment });
  const entries = [...pairs].map(([key, value]) => encodeEntry(key, value));
  if (reserve > 0) entries.push(fillerEntry(reserve));
  const places = placeTensors(tensors, alignment);
  tensors.forEach(({ data }, index) => checkData(places[index] as TensorPlace, data));
  return { header: encodeHeader(entries, places, alignment), places, data: tensors.map(({ data }) => data), alignment };
}

function checkTensors(name: string, value: unknown): readonly GgufTensorInput[] {
  return isArray(value)
    ? value as readonly GgufTensorInput[]
    : refuse(name, value, "an array of { name, type, shape, data }");
}

function pairsOf(metadata: unknown): Map<string, GgufInput> {
  const expected = "an object or pairs of key and value";
  if (!isObject(metadata)) return refuse("metadata", metadata, expected);
  const pairs = Symbol.iterator in metadata
    ? listOf(metadata as Iterable<readonly [string, GgufInput]>, expected)
    : Object.entries(metadata as Record<string, GgufInput>);
  const map = new Map<string, GgufInput>();
  for (const pair of pairs) {
    if (!isArray(pair) || typeof pair[0] !== "string") return refuse("a pair of metadata", pair, "[key, value]");
    const [key, value] = pair;
    if (value === undefined) continue;
    if (map.has(key)) refuse(`the metadata key ${key}`, "given twice", "each key once");
    map.set(key, value);
  }
  return map;
}

function listOf<T>(values: Iterable<T>, expected: string): T[] {
  try {
    return [...values];
  } catch (cause) {
    throw new InvalidArgumentError("metadata can't be iterated", { value: values, expected, cause });
  }
}

function givenAlignment(pairs: ReadonlyMap<string, GgufInput>): unknown {
  const given = pairs.get("general.alignment");
  return isObject(given) && "value" in given ? given.value : given;
}

function checkData({ name, byteLength }: TensorPlace, data: unknown): void {
  if (typeof data === "function") return;
  if (!ArrayBuffer.isView(data)) {
    refuse(`the data of tensor ${name}`, data, "a typed array, or a function that gives chunks of bytes");
  }
  if (data.byteLength !== byteLength) refuse(`the data of tensor ${name}`, data.byteLength, `${byteLength} bytes`);
}

/**
 * Returns the bytes of a GGUF file, made in memory; for a large one use {@linkcode writeGguf}. Data given as a function must give its chunks without waiting.
 *
 * Throws InvalidArgumentError for what can't be in a file.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { encodeGguf } from "./writer.ts";
 * import { GgufFile } from "./file.ts";
 *
 * const bytes = encodeGguf({
 *   metadata: { "general.name": "two numbers", "a.count": { type: "uint32", value: 2 } },
 *   tensors: [{ name: "numbers", type: "f32", shape: [2], data: Float32Array.of(1, 2) }],
 * });
 * await using file = await GgufFile.open(bytes);
 * assert.deepEqual(await file.readNumbers("numbers"), Float32Array.of(1, 2));
 * ```
 */
export function encodeGguf(content: GgufContent): Uint8Array<ArrayBuffer> {
  const { header, places, data, alignment } = prepareGguf(content);
  const last = places.at(-1);
  const end = last === undefined ? 0 : padded(last.byteOffset + last.byteLength, alignment);
  const file = new Uint8Array(header.length + end);
  file.set(header);
  for (const [index, place] of places.entries()) {
    let at = header.length + place.byteOffset;
    const count = new Counter(place);
    for (const chunk of syncChunks(data[index], place)) {
      count.add(chunk);
      file.set(chunk, at);
      at += chunk.length;
    }
    count.finish();
  }
  return file;
}

function syncChunks(data: GgufTensorInput["data"] | undefined, { name }: TensorPlace): Iterable<Uint8Array> {
  const given = chunksOf(data, name);
  if (Symbol.iterator in given) return given;
  return refuse(`the data of tensor ${name}`, "asynchronous", "chunks without waiting, or use writeGguf");
}

function chunksOf(data: GgufTensorInput["data"] | undefined, name: string): GgufChunks {
  if (typeof data !== "function") return [bytesOf(data as ArrayBufferView)];
  const given: unknown = data();
  if (typeof given === "object" && given !== null && (Symbol.iterator in given || Symbol.asyncIterator in given)) {
    return given as GgufChunks;
  }
  return refuse(`what the data of tensor ${name} gave`, given, "chunks of bytes, such as a generator");
}

function bytesOf(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** Counts the bytes of a tensor as they come. */
class Counter {
  #done = 0;
  constructor(readonly place: TensorPlace) {}

  add(chunk: unknown): void {
    if (!isInstance(chunk, Uint8Array)) refuse(`a chunk of tensor ${this.place.name}`, chunk, "a Uint8Array");
    this.#done += chunk.length;
    if (this.#done > this.place.byteLength) this.#refuse("more than");
  }

  finish(): void {
    if (this.#done < this.place.byteLength) this.#refuse("only");
  }

  #refuse(how: string): never {
    const { name, byteLength } = this.place;
    refuse(
      `the length of the data of tensor ${name}`,
      `${how} ${Math.min(this.#done, byteLength)} bytes`,
      `${byteLength} bytes`,
    );
  }
}

/**
 * Writes a GGUF file. It is written under a name of its own in the same folder and renamed when it is whole, so that there is never half a file.
 *
 * Throws InvalidArgumentError for what can't be in a file, {@linkcode GgufWriteError} when the system refuses, what the data's functions
 * throw, and the signal's reason.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { readGgufHeader } from "./header.ts";
 * import { writeGguf } from "./writer.ts";
 *
 * const path = `${tmpdir()}/${crypto.randomUUID()}.gguf`;
 * await writeGguf(path, {
 *   metadata: { "general.architecture": "test", "test.words": ["one", "two"] },
 *   tensors: [{ name: "zeros", type: "f16", shape: [4, 1000], data: function* () {
 *     for (let row = 0; row < 1000; row++) yield new Uint8Array(8);
 *   } }],
 * });
 * assert.equal((await readGgufHeader(path)).tensors[0]?.byteLength, 8000);
 * await rm(path);
 * ```
 */
export async function writeGguf(path: string | URL, content: GgufContent, options?: GgufWriteOptions): Promise<void> {
  const settings = checkWrite(options);
  await writePrepared(filePath(path), prepareGguf(content), settings);
}

/** Checked options of a write. */
export function checkWrite(options: GgufWriteOptions | undefined): Required<GgufWriteOptions> {
  return writeSpec.check(options);
}

/** The options of a write. */
export const writeRules = {
  overwrite: boolean({ default: true }),
  onProgress: callback<NonNullable<GgufWriteOptions["onProgress"]>>(),
  signal: signal(),
} satisfies RulesOf<GgufWriteOptions>;

const writeSpec = options("writeGguf", writeRules);

/** The path that a path or a file URL stands for. */
export function filePath(path: string | URL): string {
  if (isInstance(path, URL)) {
    if (path.protocol === "file:") return pathOfFileUrl(path);
    return refuse("the file to write", path.href, "a path, or a file: URL");
  }
  const text = checkText("the path of the file", path);
  if (text !== "" && !text.includes("\0")) return text;
  return refuse("the path of the file", text, "a path");
}

/** Writes what was prepared. */
export async function writePrepared(
  path: string,
  file: PreparedFile,
  { overwrite, onProgress, signal }: Required<GgufWriteOptions>,
): Promise<void> {
  signal?.throwIfAborted();
  const { open, rename, rm } = fileSystem();
  const target = await replaceablePath(path).catch((cause: unknown) => refuseWrite(path, cause));
  const temporary = `${target}.${crypto.randomUUID().slice(0, 8)}.part`;
  const claimed = overwrite ? undefined : await claim(path);
  let done = false;
  try {
    const handle = await open(temporary, "wx").catch((cause: unknown) => refuseWrite(path, cause));
    try {
      await writeAll(new FileWriter(handle, path), file, onProgress, signal);
      await handle.datasync().catch((cause: unknown) => refuseWrite(path, cause));
    } finally {
      await handle.close();
    }
    signal?.throwIfAborted();
    await file.ready?.();
    await rename(temporary, target).catch((cause: unknown) => refuseWrite(path, cause));
    done = true;
  } finally {
    if (!done) {
      await rm(temporary, { force: true }).catch(() => {});
      if (claimed !== undefined) await rm(claimed, { force: true }).catch(() => {});
    }
  }
}

/** Takes a name that nobody has, by an empty file that the whole one replaces. */
async function claim(path: string): Promise<string> {
  const handle = await fileSystem().open(path, "wx").catch((cause: unknown) => {
    if ((cause as { code?: unknown }).code !== "EEXIST") return refuseWrite(path, cause);
    throw new GgufWriteError(`there is a file ${path} already; give another path, or overwrite: true`, {
      value: path,
      expected: "the path of no file",
      cause,
    });
  });
  await handle.close();
  return path;
}

/** The system's refusal to write, as an error of ours. */
export function refuseWrite(path: string, cause: unknown): never {
  rethrowDenied(cause, `writing ${path}`, `--allow-read --allow-write=${path.replace(/[^\\/]*$/, "") || "."}`);
  const words = messageOf(cause);
  throw new GgufWriteError(
    `${path} can't be written (${words}); check that its folder exists and may be written to and the space on the disk`,
    { value: path, expected: "a file that may be written", cause },
  );
}

/** Writes small pieces together. */
class FileWriter {
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #buffer = new Uint8Array(CHUNK_SIZE);
  #filled = 0;

  constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#filled + bytes.length > this.#buffer.length) await this.flush();
    if (bytes.length >= this.#buffer.length) return await this.#out(bytes);
    this.#buffer.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }

  async zeros(count: number): Promise<void> {
    for (let left = count; left > 0; left -= CHUNK_SIZE) await this.write(new Uint8Array(Math.min(left, CHUNK_SIZE)));
  }

  async flush(): Promise<void> {
    const filled = this.#filled;
    this.#filled = 0;
    await this.#out(this.#buffer.subarray(0, filled));
  }

  async #out(bytes: Uint8Array): Promise<void> {
    let done = 0;
    while (done < bytes.length) {
      const { bytesWritten } = await this.#handle.write(bytes, done, Math.min(bytes.length - done, 64 * CHUNK_SIZE))
        .catch((cause: unknown) => refuseWrite(this.#path, cause));
      done += bytesWritten;
    }
  }
}

async function writeAll(
  out: FileWriter,
  { header, places, data, alignment }: PreparedFile,
  onProgress: GgufWriteOptions["onProgress"],
  signal: AbortSignal | undefined,
): Promise<void> {
  await out.write(header);
  const total = places.reduce((sum, { byteLength }) => sum + byteLength, 0);
  let written = 0;
  for (const [index, place] of places.entries()) {
    const count = new Counter(place);
    for await (const chunk of chunksOf(data[index], place.name)) {
      signal?.throwIfAborted();
      count.add(chunk);
      await out.write(chunk);
      written += chunk.length;
      onProgress?.(total === 0 ? 1 : written / total);
    }
    count.finish();
    await out.zeros(padded(place.byteLength, alignment) - place.byteLength);
  }
  await out.flush();
}
