/**
 * Metadata values of a GGUF file: what may be given for one, and its bytes.
 *
 * @module
 */

import { InvalidArgumentError } from "../errors.ts";
import { checkBoolean, checkOneOf, checkText, isArray, isPlainObject, show } from "../../base/check.ts";
import { decodeScalar, type GgufScalarType, ggufValueSizes, type GgufValueType, ggufValueTypes } from "./types.ts";

/** A typed array of numbers. */
export type GgufNumbers =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | BigUint64Array
  | BigInt64Array
  | Float64Array;

/** A scalar metadata value with its type. */
export type GgufTypedScalar =
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "uint64" | "int64"; readonly value: number | bigint }
  | { readonly type: Exclude<GgufScalarType, "string" | "bool" | "uint64" | "int64">; readonly value: number };

/** A metadata value that is an array, with the type of its elements. llama.cpp doesn't read arrays of arrays. */
export interface GgufTypedArray {
  /** It is an array. */
  readonly type: "array";
  /** The type of each element. */
  readonly elementType: GgufValueType;
  /** The elements: a typed array for numbers, an array for strings, booleans and arrays. */
  readonly value: GgufNumbers | readonly string[] | readonly boolean[] | readonly GgufTypedArray[];
}

/** A metadata value with its type. */
export type GgufTypedValue = GgufTypedScalar | GgufTypedArray;

/**
 * A metadata value to write: one with its type; or a string, a boolean, an array of strings, or a typed array, whose types are evident. A
 * number alone is refused, since it doesn't say which of the ten types it has: give `{ type: "uint32", value: 5 }`.
 */
export type GgufInput = GgufTypedValue | string | boolean | readonly string[] | GgufNumbers;

type NumberArrayClass = new (buffer: ArrayBuffer) => GgufNumbers;

const numberArrays: ReadonlyMap<GgufValueType, NumberArrayClass> = new Map<GgufValueType, NumberArrayClass>([
  ["uint8", Uint8Array],
  ["int8", Int8Array],
  ["uint16", Uint16Array],
  ["int16", Int16Array],
  ["uint32", Uint32Array],
  ["int32", Int32Array],
  ["float32", Float32Array],
  ["uint64", BigUint64Array],
  ["int64", BigInt64Array],
  ["float64", Float64Array],
]);

const limits: ReadonlyMap<GgufValueType, readonly [min: bigint, max: bigint]> = new Map(
  ([8, 16, 32, 64] as const).flatMap((bits) => [
    [`uint${bits}`, [0n, (1n << BigInt(bits)) - 1n]] as const,
    [`int${bits}`, [-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n]] as const,
  ]),
);

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Pieces of bytes, put together at the end. */
export class ByteBuilder {
  readonly #parts: Uint8Array[] = [];
  /** Length in bytes. */
  length = 0;

  /** Adds bytes as they are. */
  bytes(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    this.length += bytes.length;
    return this;
  }

  /** Adds a number of 32 bits. */
  u32(value: number): this {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, value, true);
    return this.bytes(bytes);
  }

  /** Adds a number of 64 bits. */
  u64(value: number | bigint): this {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
    return this.bytes(bytes);
  }

  /** Adds a string with its length before it. */
  text(value: string): this {
    const bytes = encoder.encode(value);
    return this.u64(bytes.length).bytes(bytes);
  }

  /** All of it. */
  finish(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.length);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}

/** The bytes of one entry: key, type and value. Throws {@linkcode InvalidArgumentError} for a key or a value that can't be written. */
export function encodeEntry(key: string, input: unknown): Uint8Array<ArrayBuffer> {
  const name = checkKey(key);
  const value = typedValue(name, input);
  if (name === "general.alignment" && value.type !== "uint32") {
    refuse(name, value.type, "a value of type uint32; it is set by the option alignment");
  }
  const out = new ByteBuilder().text(name).u32(typeNumber(value.type));
  if (value.type === "array") encodeArray(out, name, value, 1);
  else encodeScalar(out, name, value.type, value.value);
  return out.finish();
}

/** The key of the entry that fills room in the header. */
export const FILLER_KEY = "ggml_ffi.pad";
/** Bytes of a filler besides its text. */
export const fillerOverhead: number = 8 + FILLER_KEY.length + 4 + 8;

/** An entry whose text is so many spaces. */
export function fillerEntry(spaces: number): Uint8Array<ArrayBuffer> {
  return encodeEntry(FILLER_KEY, " ".repeat(spaces));
}

/** A key of the metadata. */
export function checkKey(key: unknown): string {
  const name = checkText("a metadata key", key);
  if (name !== "" && !name.includes("\0")) return name;
  throw new InvalidArgumentError(
    `a metadata key is ${name === "" ? "empty" : "not free of NUL characters"}; give a name such as general.name`,
    { value: name, expected: "a name" },
  );
}

function typedValue(key: string, input: unknown): GgufTypedValue {
  if (typeof input === "string") return { type: "string", value: input };
  if (typeof input === "boolean") return { type: "bool", value: input };
  if (isArray(input)) return { type: "array", elementType: "string", value: input as readonly string[] };
  if (ArrayBuffer.isView(input)) {
    for (const [elementType, kind] of numberArrays) {
      if (input instanceof kind) return { type: "array", elementType, value: input };
    }
    return refuse(key, input, "a typed array of numbers that isn't clamped");
  }
  if (isPlainObject(input) && "type" in input && "value" in input) {
    checkOneOf(`the type of ${key}`, input.type, ggufValueTypes);
    if (input.type === "array") {
      checkOneOf(`the elementType of ${key}`, (input as { elementType?: unknown }).elementType, ggufValueTypes);
    }
    return input as unknown as GgufTypedValue;
  }
  if (typeof input === "number" || typeof input === "bigint") {
    return refuse(key, input, `its type too, such as { type: "uint32", value: ${input} }`);
  }
  return refuse(key, input, "a string, a boolean, an array of strings, a typed array, or { type, value }");
}

function refuse(key: string, value: unknown, expected: string): never {
  throw new InvalidArgumentError(`the metadata value of ${key} is ${show(value)}; give ${expected}`, {
    value,
    expected,
  });
}

function typeNumber(type: GgufValueType): number {
  return ggufValueTypes.indexOf(type);
}

function encodeScalar(out: ByteBuilder, key: string, type: GgufScalarType, value: unknown): void {
  if (type === "string") out.text(checkText(`the metadata value of ${key}`, value));
  else if (type === "bool") out.bytes(Uint8Array.of(checkBoolean(`the metadata value of ${key}`, value) ? 1 : 0));
  else out.bytes(numberBytes(key, type, value));
}

function numberBytes(key: string, type: GgufScalarType, value: unknown): Uint8Array {
  const limit = limits.get(type);
  if (limit === undefined) {
    if (typeof value !== "number") return refuse(key, value, `a number for the type ${type}`);
    return new Uint8Array((type === "float32" ? Float32Array.of(value) : Float64Array.of(value)).buffer);
  }
  const whole = typeof value === "bigint" || Number.isSafeInteger(value) ? BigInt(value as number | bigint) : undefined;
  if (whole === undefined || whole < limit[0] || whole > limit[1]) {
    return refuse(key, value, `a whole number from ${limit[0]} to ${limit[1]} for the type ${type}`);
  }
  return new Uint8Array(BigInt64Array.of(BigInt.asIntN(64, whole)).buffer, 0, ggufValueSizes[type]);
}

const DEEPEST_NESTING = 8;

function encodeArray(out: ByteBuilder, key: string, { elementType, value }: GgufTypedArray, depth: number): void {
  if (depth > DEEPEST_NESTING) refuse(key, value, `arrays at most ${DEEPEST_NESTING} deep`);
  const kind = numberArrays.get(elementType);
  if (kind !== undefined && value instanceof kind) {
    out.u32(typeNumber(elementType)).u64(value.length);
    return void out.bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  }
  if (!isArray(value)) {
    return refuse(
      key,
      value,
      `an array${kind === undefined ? "" : ` or a ${kind.name}`} for elements of ${elementType}`,
    );
  }
  out.u32(typeNumber(elementType)).u64(value.length);
  for (const [index, element] of (value as readonly unknown[]).entries()) {
    if (elementType !== "array") encodeScalar(out, `${key}[${index}]`, elementType, element);
    else encodeArray(out, `${key}[${index}]`, nestedArray(`${key}[${index}]`, element), depth + 1);
  }
}

function nestedArray(key: string, element: unknown): GgufTypedArray {
  const typed = typedValue(key, element);
  return typed.type === "array" ? typed : refuse(key, element, "an array");
}

/** The value whose bytes these are; the header was checked before. */
export function decodeValue(
  bytes: Uint8Array<ArrayBuffer>,
  { type, elementType, length }: { type: GgufValueType; elementType?: GgufValueType; length?: number },
): GgufTypedValue {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (type === "array" && elementType !== undefined && length !== undefined) {
    return decodeArray(new Decoder(bytes, view), elementType, length);
  }
  if (type === "string") return { type, value: decoder.decode(bytes.subarray(8)) };
  return { type, value: decodeScalar(view, 0, type as GgufScalarType) } as GgufTypedScalar;
}

class Decoder {
  #at = 0;
  constructor(readonly data: Uint8Array<ArrayBuffer>, readonly view: DataView) {}

  u32(): number {
    this.#at += 4;
    return this.view.getUint32(this.#at - 4, true);
  }

  u64(): number {
    this.#at += 8;
    return Number(this.view.getBigUint64(this.#at - 8, true));
  }

  take(length: number): Uint8Array<ArrayBuffer> {
    this.#at += length;
    return this.data.subarray(this.#at - length, this.#at);
  }
}

function decodeArray(from: Decoder, elementType: GgufValueType, length: number): GgufTypedArray {
  const make = <T>(one: () => T): T[] => Array.from({ length }, one);
  if (elementType === "string") {
    return { type: "array", elementType, value: make(() => decoder.decode(from.take(from.u64()))) };
  }
  if (elementType === "bool") return { type: "array", elementType, value: make(() => from.take(1)[0] !== 0) };
  if (elementType === "array") {
    return {
      type: "array",
      elementType,
      value: make(() => decodeArray(from, ggufValueTypes[from.u32()] ?? "uint8", from.u64())),
    };
  }
  const kind = numberArrays.get(elementType) as NumberArrayClass;
  // A copy of its own: the place in the file is seldom aligned.
  return {
    type: "array",
    elementType,
    value: new kind(from.take(length * ggufValueSizes[elementType]).slice().buffer),
  };
}
