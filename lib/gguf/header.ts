/**
 * The header of a GGUF file, read and checked in TypeScript before native code sees the file.
 *
 * @module
 */

import { GgufByteOrderError, GgufTruncatedError, GgufVersionError, NotGgufError } from "../errors.ts";
import { checkText } from "../../base/check.ts";
import { type ByteSource, FileSource } from "./byte_source.ts";
import { GgufCursor } from "./cursor.ts";
import { decodeScalar, type GgufScalarType, ggufValueSizes, type GgufValueType, ggufValueTypes } from "./types.ts";
import { fileKind, KIND_BYTES } from "./file_kind.ts";
import { type TensorType, tensorTypes } from "./tensor_types.ts";

/** A value that stays in the file: an array, or a string longer than a mebibyte. */
export interface GgufLazyValue {
  /** The type of each element; `"string"` for a long string. */
  readonly elementType: GgufValueType;
  /** Number of elements of an array, or 1. */
  readonly length: number;
  /** Offset of the value in bytes from the start of the file. */
  readonly byteOffset: number;
  /** Size in bytes. */
  readonly byteLength: number;
}

/** A metadata value. Integers of 64 bits are `bigint` when they are beyond what a `number` holds exactly. */
export type GgufValue = string | number | bigint | boolean | GgufLazyValue;

/** The type of a metadata value and its location in the file. */
export interface GgufValueLocation {
  /** Its type. */
  readonly type: GgufValueType;
  /** The type of each element of an array. */
  readonly elementType?: GgufValueType;
  /** Number of elements of an array. */
  readonly length?: number;
  /** Offset of the value, behind its type, in bytes from the start of the file. */
  readonly byteOffset: number;
  /** Bytes of the value. */
  readonly byteLength: number;
  /** Offset of its key in bytes from the start of the file. */
  readonly entryOffset: number;
}

/** A tensor's entry in the header. */
export interface GgufTensorInfo {
  /** The name, unique in the file. */
  readonly name: string;
  /** Elements in each dimension, the fastest first. */
  readonly shape: readonly number[];
  /** The name of its type, such as `"q4_K"`. */
  readonly type: string;
  /** Offset of its data in bytes from {@linkcode GgufHeader.dataOffset}. */
  readonly byteOffset: number;
  /** Bytes of its data. */
  readonly byteLength: number;
}

/** The header of a GGUF file. */
export interface GgufHeader {
  /** The version of the format: 2 or 3. */
  readonly version: number;
  /** The size of the whole file, in bytes. */
  readonly fileSize: number;
  /** Alignment of each tensor's data in bytes. */
  readonly alignment: number;
  /** Offset of the tensors' data in bytes from the start of the file. */
  readonly dataOffset: number;
  /** The metadata, in the file's order. */
  readonly metadata: ReadonlyMap<string, GgufValue>;
  /** The type and location of each metadata value. */
  readonly locations: ReadonlyMap<string, GgufValueLocation>;
  /** The tensors, in the file's order. */
  readonly tensors: readonly GgufTensorInfo[];
}

/** The fewest bytes that a key with its value, and a tensor's entry, can take. */
const SMALLEST_PAIR = 14;
const SMALLEST_TENSOR = 24;
/** More than any model has: beyond it the count is wrong, below it the file is cut off. */
const PLAUSIBLE_COUNT = 1n << 20n;
/** ggml compares each key and each tensor's name with all before it: with a million of them it would take an hour. */
const MAX_ENTRIES = 16_384;
const LONGEST_TENSOR_NAME = 63;
const MAX_DIMENSIONS = 4;
/** Deepest nesting of arrays. */
const DEEPEST_NESTING = 8;

/** Types that are read in addition to those that llama.cpp reads. */
export interface GgufParseOptions {
  /** Arrays of arrays, which the format describes and llama.cpp refuses. Default false. */
  readonly nestedArrays?: boolean;
}

/**
 * Reads the header of a GGUF file and checks it against the file's size. Arrays, such as the vocabulary, are measured and not decoded, so that
 * even a file of many gigabytes takes a few milliseconds.
 *
 * Throws {@linkcode NotGgufError}, {@linkcode GgufVersionError}, {@linkcode GgufByteOrderError}, {@linkcode GgufTruncatedError} or
 * {@linkcode GgufFormatError} for what is wrong with it, and what {@linkcode FileSource.open} throws.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { rm, writeFile } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { readGgufHeader } from "./header.ts";
 *
 * const path = `${tmpdir()}/empty-${crypto.randomUUID()}.gguf`;
 * await writeFile(path, new Uint8Array([0x47, 0x47, 0x55, 0x46, 3, 0, 0, 0, ...new Uint8Array(16)]));
 * const header = await readGgufHeader(path);
 * assert.equal(header.version, 3);
 * assert.equal(header.tensors.length, 0);
 * await rm(path);
 * ```
 */
export async function readGgufHeader(path: string): Promise<GgufHeader> {
  await using source = await FileSource.open(checkText("the path of the file", path));
  return await parseGgufHeader(source);
}

/** {@linkcode readGgufHeader} for bytes that come from anywhere. */
export async function parseGgufHeader(source: ByteSource, options: GgufParseOptions = {}): Promise<GgufHeader> {
  const cursor = new GgufCursor(source);
  const version = await readVersion(cursor, source);
  await cursor.need(16, "the counts of tensors and keys");
  const tensorCount = checkCount(cursor, cursor.u64(), "tensors", SMALLEST_TENSOR);
  const pairCount = checkCount(cursor, cursor.u64(), "metadata keys", SMALLEST_PAIR);
  const nesting = options.nestedArrays === true ? DEEPEST_NESTING : 1;
  const { metadata, locations } = await readMetadata(cursor, pairCount, nesting);
  const alignment = checkAlignment(cursor, metadata, locations);
  const tensors = await readTensors(cursor, tensorCount, alignment);
  const dataOffset = pad(cursor.position, alignment);
  checkData(source, tensors, dataOffset);
  return { version, fileSize: source.size, alignment, dataOffset, metadata, locations, tensors };
}

async function readVersion(cursor: GgufCursor, source: ByteSource): Promise<number> {
  if (source.size === 0) {
    throw new NotGgufError(`${source.name} is empty; get the file again`, {
      value: "an empty file",
      expected: "a GGUF file",
    });
  }
  const length = Math.min(4, source.size);
  await cursor.need(length, "the magic");
  const magic = cursor.bytes(length).slice();
  if (String.fromCharCode(...magic) !== "GGUF".slice(0, length)) {
    const start = new Uint8Array(Math.min(KIND_BYTES, source.size));
    await source.read(start, 0);
    const kind = fileKind(start);
    if (kind !== undefined) {
      throw new NotGgufError(`${source.name} is not a GGUF file but ${kind.what}; ${kind.cure}`, {
        value: kind.what,
        expected: "a GGUF file",
      });
    }
    throw new NotGgufError(
      `${source.name} is not a GGUF file: it starts with ${
        showBytes(magic)
      }, not with "GGUF"; give a model that was converted to GGUF`,
      { value: showBytes(magic), expected: '"GGUF"' },
    );
  }
  if (length < 4) cursor.refuseBeyondEnd(4 - length, "the magic");
  await cursor.need(4, "the version");
  return checkVersion(cursor.u32(), source.name);
}

function checkVersion(version: number, name: string): number {
  if (version === 2 || version === 3) return version;
  if (version !== 0 && (version & 0xffff) === 0) {
    throw new GgufByteOrderError(
      `${name} is a big-endian GGUF file, which this little-endian machine can't use; get or convert a little-endian one`,
      {
        value: "big-endian",
        expected: "little-endian",
      },
    );
  }
  const hint = version > 3 ? "update this library" : "convert the model again";
  throw new GgufVersionError(`${name} is GGUF version ${version}; versions 2 and 3 can be read; ${hint}`, {
    value: version,
    expected: "2 or 3",
  });
}

function showBytes(bytes: Uint8Array): string {
  const text = String.fromCharCode(...bytes);
  if (/^[ -~]*$/.test(text)) return JSON.stringify(text);
  return `the bytes ${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ")}`;
}

function checkCount(cursor: GgufCursor, count: bigint, what: string, smallest: number): number {
  if (count < PLAUSIBLE_COUNT) {
    cursor.refuseBeyondEnd(Number(count) * smallest, `a list of ${count} ${what}`);
    if (count > BigInt(MAX_ENTRIES)) cursor.refuse(`it has ${count} ${what}`, count, `at most ${MAX_ENTRIES}`);
    return Number(count);
  }
  const most = Math.min(MAX_ENTRIES, Math.floor(cursor.left / smallest));
  return cursor.refuse(`it announces ${count} ${what}`, count, `at most ${most}`);
}

async function readMetadata(
  cursor: GgufCursor,
  count: number,
  nesting: number,
): Promise<{ metadata: Map<string, GgufValue>; locations: Map<string, GgufValueLocation> }> {
  const metadata = new Map<string, GgufValue>();
  const locations = new Map<string, GgufValueLocation>();
  for (let index = 0; index < count; index++) {
    const entryOffset = cursor.position;
    const key = await cursor.string(`metadata key ${index}`);
    if (key === undefined || key === "") {
      cursor.refuse(`metadata key ${index} is ${key === "" ? "empty" : "too long"}`, key, "a name");
    }
    if (metadata.has(key)) cursor.refuse(`the metadata key ${JSON.stringify(key)} comes twice`, key, "each key once");
    const type = await readType(cursor, key);
    const start = cursor.position;
    const value = type === "array" ? await skipArray(cursor, key, nesting) : await readValue(cursor, key, type);
    metadata.set(key, value);
    locations.set(key, placeOf(type, value, entryOffset, start, cursor.position));
  }
  return { metadata, locations };
}

function placeOf(
  type: GgufValueType,
  value: GgufValue,
  entryOffset: number,
  start: number,
  end: number,
): GgufValueLocation {
  if (type !== "array") return { type, byteOffset: start, byteLength: end - start, entryOffset };
  const { elementType, length, byteOffset, byteLength } = value as GgufLazyValue;
  return { type, elementType, length, byteOffset, byteLength, entryOffset };
}

async function readType(cursor: GgufCursor, key: string): Promise<GgufValueType> {
  await cursor.need(4, `the type of ${key}`);
  const id = cursor.u32();
  return ggufValueTypes[id] ??
    cursor.refuse(`the value of ${key} has type ${id}`, id, `a type from 0 to ${ggufValueTypes.length - 1}`);
}

async function readValue(cursor: GgufCursor, key: string, type: GgufScalarType): Promise<GgufValue> {
  if (type === "string") {
    const byteOffset = cursor.position;
    const text = await cursor.string(key);
    return text ?? { elementType: "string", length: 1, byteOffset, byteLength: cursor.position - byteOffset };
  }
  const size = ggufValueSizes[type];
  await cursor.need(size, key);
  const [view, at] = cursor.take(size);
  return decodeScalar(view, at, type);
}

async function skipArray(cursor: GgufCursor, key: string, nesting: number): Promise<GgufLazyValue> {
  const elementType = await readType(cursor, key);
  if (elementType === "array" && nesting <= 1) {
    cursor.refuse(`${key} is an array of arrays`, "array", "an array of scalars or strings");
  }
  const length = await cursor.length(key, ggufValueSizes[elementType]);
  const byteOffset = cursor.position;
  if (elementType === "string") await cursor.skipStrings(length, key);
  else if (elementType === "array") {
    for (let index = 0; index < length; index++) await skipArray(cursor, key, nesting - 1);
  } else cursor.skip(length * ggufValueSizes[elementType]);
  return { elementType, length, byteOffset, byteLength: cursor.position - byteOffset };
}

function checkAlignment(
  cursor: GgufCursor,
  metadata: ReadonlyMap<string, GgufValue>,
  locations: ReadonlyMap<string, GgufValueLocation>,
): number {
  const type = locations.get("general.alignment")?.type ?? "uint32";
  if (type !== "uint32") cursor.refuse(`general.alignment has the type ${type}`, type, "uint32");
  const alignment = metadata.get("general.alignment") ?? 32;
  if (typeof alignment === "number" && Number.isInteger(Math.log2(alignment))) return alignment;
  return cursor.refuse(`general.alignment is ${alignment}`, alignment, "a power of two");
}

async function readTensors(cursor: GgufCursor, count: number, alignment: number): Promise<GgufTensorInfo[]> {
  const tensors: GgufTensorInfo[] = [];
  const names = new Set<string>();
  let byteOffset = 0;
  for (let index = 0; index < count; index++) {
    const name = await readTensorName(cursor, index);
    if (names.has(name)) cursor.refuse(`the tensor ${JSON.stringify(name)} comes twice`, name, "each name once");
    names.add(name);
    const shape = await readShape(cursor, name);
    await cursor.need(12, `the tensor ${name}`);
    const type = checkType(cursor, cursor.u32(), name, shape);
    const said = cursor.u64();
    if (said !== BigInt(byteOffset)) {
      cursor.refuse(`the data of tensor ${name} is said to start at ${said}`, said, String(byteOffset));
    }
    const byteLength = measure(cursor, name, shape, type);
    tensors.push({ name, shape, type: type.name, byteOffset, byteLength });
    byteOffset = pad(byteOffset + byteLength, alignment);
  }
  return tensors;
}

async function readTensorName(cursor: GgufCursor, index: number): Promise<string> {
  const name = await cursor.string(`the name of tensor ${index}`);
  if (name !== undefined && new TextEncoder().encode(name).length <= LONGEST_TENSOR_NAME) return name;
  return cursor.refuse(
    `the name of tensor ${index} is too long`,
    name?.slice(0, 80),
    `at most ${LONGEST_TENSOR_NAME} bytes`,
  );
}

async function readShape(cursor: GgufCursor, name: string): Promise<number[]> {
  await cursor.need(4, `the tensor ${name}`);
  const dimensions = cursor.u32();
  if (dimensions > MAX_DIMENSIONS) {
    cursor.refuse(`the tensor ${name} has ${dimensions} dimensions`, dimensions, `at most ${MAX_DIMENSIONS}`);
  }
  await cursor.need(dimensions * 8, `the tensor ${name}`);
  return Array.from({ length: dimensions }, () => {
    const elements = cursor.u64();
    if (elements > BigInt(Number.MAX_SAFE_INTEGER)) {
      cursor.refuse(`a dimension of tensor ${name} is ${elements}`, elements, "a sane number");
    }
    return Number(elements);
  });
}

function checkType(cursor: GgufCursor, id: number, name: string, shape: readonly number[]): TensorType {
  const type = tensorTypes.get(id);
  if (type === undefined) {
    return cursor.refuse(`the tensor ${name} has type ${id}, which is unknown or was removed`, id, "a known type");
  }
  const row = shape[0] ?? 1;
  if (row % type.blockSize === 0) return type;
  return cursor.refuse(
    `the tensor ${name} of type ${type.name} has rows of ${row}`,
    row,
    `a multiple of ${type.blockSize}`,
  );
}

function measure(cursor: GgufCursor, name: string, shape: readonly number[], type: TensorType): number {
  const bytes = shape.reduce((product, elements) => product * elements, 1) / type.blockSize * type.typeSize;
  if (Number.isSafeInteger(bytes)) return bytes;
  return cursor.refuse(`the tensor ${name} would take ${bytes} bytes`, bytes, "a size that can be addressed");
}

function checkData(source: ByteSource, tensors: readonly GgufTensorInfo[], dataOffset: number): void {
  for (const { name, byteOffset, byteLength } of tensors) {
    const end = dataOffset + byteOffset + byteLength;
    if (end <= source.size) continue;
    throw new GgufTruncatedError(
      `${source.name} is cut off: the data of tensor ${name} ends at byte ${end}, but the file has ${source.size} bytes; get the file again`,
      { value: source.size, expected: `at least ${end} bytes` },
    );
  }
}

function pad(position: number, alignment: number): number {
  return Math.ceil(position / alignment) * alignment;
}
