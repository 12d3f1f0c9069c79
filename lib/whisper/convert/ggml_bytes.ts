/**
 * The pieces that whisper.cpp's model files are made of.
 *
 * @module
 */

import { joined } from "../../../ffi/memory/concat.ts";

/** The file's first four bytes, `GGML_FILE_MAGIC`. */
export const GGML_MAGIC = 0x67676d6c;

/** 32-bit whole numbers. */
export function int32s(...values: readonly number[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Int32Array.from(values).buffer);
}

/** A text with its length before it. */
export function sized(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(4 + bytes.length);
  both.set(int32s(bytes.length));
  both.set(bytes, 4);
  return both;
}

/** The numbers of a type in `enum ggml_type` that models are converted to. */
export const tensorTypeIds = { f32: 0, f16: 1 } as const;

/** Header of a tensor; `shape` has the slowest dimension first, the file the fastest. */
export function tensorHead(name: string, type: number, shape: readonly number[]): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(name);
  return joined(Uint8Array, [int32s(shape.length, bytes.length, type, ...shape.toReversed()), bytes]);
}

/** A tensor. */
export function tensor(
  name: string,
  type: keyof typeof tensorTypeIds,
  shape: readonly number[],
  values: Float32Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer>[] {
  const { buffer, byteOffset, byteLength } = type === "f16" ? new Float16Array(values) : values;
  return [tensorHead(name, tensorTypeIds[type], shape), new Uint8Array(buffer, byteOffset, byteLength)];
}
