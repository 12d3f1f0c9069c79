/**
 * Layout of the tensors of a GGUF file, and the bytes of its header.
 *
 * @module
 */

import { InvalidArgumentError } from "../errors.ts";
import { checkOneOf, checkText, isArray, show } from "../../base/check.ts";
import { ByteBuilder } from "./values.ts";
import { type TensorType, tensorTypes } from "./tensor_types.ts";

/** A tensor in the header to be written. */
export interface TensorPlace {
  /** The name. */
  readonly name: string;
  /** Elements in each dimension, the fastest first. */
  readonly shape: readonly number[];
  /** Its type. */
  readonly type: TensorType;
  /** Bytes of its data. */
  readonly byteLength: number;
  /** Offset of its data in bytes from the start of the data. */
  readonly byteOffset: number;
}

/** Name, shape and type of a tensor; its offset isn't known yet. */
export interface TensorShape {
  /** The name: 1 to 63 bytes in UTF-8, unique in the file. */
  readonly name: string;
  /** Elements in each dimension, the fastest first: at most four. */
  readonly shape: readonly number[];
  /** The name of its type, such as `"f32"` or `"q4_K"`. */
  readonly type: string;
}

/** The largest name of a tensor, in bytes. C: `GGML_MAX_NAME` less its NUL. */
const LONGEST_NAME = 63;
const MAX_DIMENSIONS = 4;

const byName: ReadonlyMap<string, TensorType> = new Map([...tensorTypes.values()].map((type) => [type.name, type]));

const encoder = new TextEncoder();

/** The next multiple of an alignment. */
export function padded(position: number, alignment: number): number {
  return Math.ceil(position / alignment) * alignment;
}

/** An alignment that a file may have. Throws {@linkcode InvalidArgumentError}. */
export function checkAlignment(alignment: unknown): number {
  if (
    typeof alignment === "number" && alignment >= 1 && alignment <= 2 ** 30 && Number.isInteger(Math.log2(alignment))
  ) {
    return alignment;
  }
  throw new InvalidArgumentError(`alignment is ${show(alignment)}; give a power of two from 1 to ${2 ** 30}`, {
    value: alignment,
    expected: "a power of two",
  });
}

/** Places tensors one behind another. Throws {@linkcode InvalidArgumentError} for one that can't be in a file. */
export function placeTensors(tensors: readonly TensorShape[], alignment: number): TensorPlace[] {
  const names = new Set<string>();
  let byteOffset = 0;
  return tensors.map((given: TensorShape | null | undefined) => {
    if (!isObject(given)) {
      return refuse(`a tensor is ${show(given)}`, given, "{ name, type, shape, data }");
    }
    const name = checkTensorName(given.name);
    if (names.has(name)) refuse(`two tensors have the name ${show(name)}`, name, "each name once");
    names.add(name);
    const type = byName.get(checkOneOf(`the type of tensor ${name}`, given.type, [...byName.keys()])) as TensorType;
    const shape = checkShape(name, given.shape, type);
    const byteLength = shape.reduce((product, elements) => product * elements, 1) / type.blockSize * type.typeSize;
    if (!Number.isSafeInteger(byteLength + byteOffset)) {
      refuse(`tensor ${name} would take ${byteLength} bytes`, byteLength, "a size that can be addressed");
    }
    const place = { name, shape, type, byteLength, byteOffset };
    byteOffset = padded(byteOffset + byteLength, alignment);
    return place;
  });
}

/** Whether a value is an object whose properties can be read: not null, and no Proxy that was revoked. */
export function isObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  try {
    Object.getPrototypeOf(value);
    return true;
  } catch {
    return false;
  }
}

/** A name that a tensor may have. Throws {@linkcode InvalidArgumentError}. */
export function checkTensorName(name: unknown): string {
  const text = checkText("the name of a tensor", name);
  const length = encoder.encode(text).length;
  if (length >= 1 && length <= LONGEST_NAME && !text.includes("\0")) return text;
  return refuse(`the name of a tensor is ${show(text)}`, text, `1 to ${LONGEST_NAME} bytes of text without NUL`);
}

function checkShape(name: string, shape: unknown, type: TensorType): number[] {
  const whole = (one: unknown): boolean => Number.isSafeInteger(one) && (one as number) >= 0;
  if (!isArray(shape) || shape.length > MAX_DIMENSIONS || !Array.from(shape).every(whole)) {
    return refuse(`the shape of tensor ${name} is ${show(shape)}`, shape, `at most ${MAX_DIMENSIONS} whole numbers`);
  }
  const sizes = shape as readonly number[];
  const row = sizes[0] ?? 1;
  if (row % type.blockSize === 0) return [...sizes];
  return refuse(`tensor ${name} has rows of ${row}`, row, `a multiple of ${type.blockSize} for the type ${type.name}`);
}

function refuse(problem: string, value: unknown, expected: string): never {
  throw new InvalidArgumentError(`${problem}; give ${expected}`, { value, expected });
}

/** The bytes of a header, padded to where the data starts where there are tensors. */
export function encodeHeader(
  entries: readonly Uint8Array[],
  tensors: readonly TensorPlace[],
  alignment: number,
  version = 3,
): Uint8Array<ArrayBuffer> {
  const out = new ByteBuilder().bytes(encoder.encode("GGUF")).u32(version).u64(tensors.length).u64(entries.length);
  for (const entry of entries) out.bytes(entry);
  for (const { name, shape, type, byteOffset } of tensors) {
    out.text(name).u32(shape.length);
    for (const elements of shape) out.u64(elements);
    out.u32(type.id).u64(byteOffset);
  }
  if (tensors.length > 0) out.bytes(new Uint8Array(padded(out.length, alignment) - out.length));
  return out.finish();
}
