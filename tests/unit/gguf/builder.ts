/** Builds small GGUF files for tests. */

import { joined } from "../../../ffi/memory/concat.ts";

const encoder = new TextEncoder();

/** A metadata value: its type's number and its bytes. */
export interface BuiltValue {
  /** `enum gguf_type`. */
  type: number;
  /** The bytes of the value, in little-endian order. */
  bytes: Uint8Array;
}

/** A tensor: its name, shape, type's number and data. */
export interface BuiltTensor {
  /** The name. */
  name: string;
  /** Elements in each dimension. */
  shape: readonly (number | bigint)[];
  /** `enum ggml_type`. */
  type: number;
  /** The data. */
  data: Uint8Array;
  /** Where the header says the data starts; default is where it does. */
  offset?: bigint;
}

/** What can be wrong or different in a built file. */
export interface BuildOptions {
  /** The first four bytes. */
  magic?: string;
  /** The version. */
  version?: number;
  /** How many keys are announced. */
  pairCount?: bigint;
  /** How many tensors are announced. */
  tensorCount?: bigint;
  /** What the data is aligned to. */
  alignment?: number;
}

/** Several runs of bytes as one. */
export function join(...parts: readonly Uint8Array[]): Uint8Array {
  return joined(Uint8Array, parts);
}

function fixed(size: number, write: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(size);
  write(new DataView(bytes.buffer));
  return bytes;
}

/** A number of 32 bits. */
export const u32 = (value: number): Uint8Array => fixed(4, (view) => view.setUint32(0, value, true));
/** A number of 64 bits. */
export const u64 = (value: number | bigint): Uint8Array =>
  fixed(8, (view) => view.setBigUint64(0, BigInt(value), true));
/** A string with its length before it. */
export const text = (value: string): Uint8Array => join(u64(encoder.encode(value).length), encoder.encode(value));

/** A string value. */
export const stringValue = (value: string): BuiltValue => ({ type: 8, bytes: text(value) });
/** A value of 32 bits. */
export const u32Value = (value: number): BuiltValue => ({ type: 4, bytes: u32(value) });
/** A value of 64 bits. */
export const u64Value = (value: bigint): BuiltValue => ({ type: 10, bytes: u64(value) });
/** A number with a fraction. */
export const f32Value = (value: number): BuiltValue => ({
  type: 6,
  bytes: fixed(4, (view) => view.setFloat32(0, value, true)),
});
/** True or false. */
export const boolValue = (value: boolean): BuiltValue => ({ type: 7, bytes: Uint8Array.of(value ? 1 : 0) });
/** An array of strings. */
export const stringsValue = (values: readonly string[]): BuiltValue => ({
  type: 9,
  bytes: join(u32(8), u64(values.length), ...values.map(text)),
});
/** An array of whole numbers. */
export const u32sValue = (values: readonly number[]): BuiltValue => ({
  type: 9,
  bytes: join(u32(4), u64(values.length), ...values.map(u32)),
});

/** A whole file. */
export function buildGguf(
  metadata: Readonly<Record<string, BuiltValue>> | readonly (readonly [string, BuiltValue])[],
  tensors: readonly BuiltTensor[],
  options: BuildOptions = {},
): Uint8Array {
  const { magic = "GGUF", version = 3, alignment = 32 } = options;
  const pairs = Array.isArray(metadata)
    ? metadata as readonly (readonly [string, BuiltValue])[]
    : Object.entries(metadata);
  const padded = (bytes: Uint8Array) => join(bytes, new Uint8Array((alignment - bytes.length % alignment) % alignment));
  let offset = 0n;
  const infos = tensors.map((tensor) => {
    const info = join(
      text(tensor.name),
      u32(tensor.shape.length),
      ...tensor.shape.map(u64),
      u32(tensor.type),
      u64(tensor.offset ?? offset),
    );
    offset += BigInt(padded(tensor.data).length);
    return info;
  });
  const header = join(
    encoder.encode(magic),
    u32(version),
    u64(options.tensorCount ?? tensors.length),
    u64(options.pairCount ?? pairs.length),
    ...pairs.map(([key, value]) => join(text(key), u32(value.type), value.bytes)),
    ...infos,
  );
  if (tensors.length === 0) return header;
  const data = tensors.map((tensor, index) => index < tensors.length - 1 ? padded(tensor.data) : tensor.data);
  return join(padded(header), ...data);
}
