/**
 * Numbers out of the bytes of tensors that aren't quantized.
 *
 * @module
 */

import { InvalidArgumentError } from "../errors.ts";

/** The elements of a tensor as a typed array. */
export type TensorNumbers = Float32Array | Float64Array | Int8Array | Int16Array | Int32Array | BigInt64Array;

type Decode = (bytes: Uint8Array<ArrayBuffer>) => TensorNumbers;

const decoders: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ["f32", ({ buffer }) => new Float32Array(buffer)],
  ["f64", ({ buffer }) => new Float64Array(buffer)],
  ["i8", ({ buffer }) => new Int8Array(buffer)],
  ["i16", ({ buffer }) => new Int16Array(buffer)],
  ["i32", ({ buffer }) => new Int32Array(buffer)],
  ["i64", ({ buffer }) => new BigInt64Array(buffer)],
  ["f16", ({ buffer }) => Float32Array.from(new Uint16Array(buffer), half)],
  ["bf16", ({ buffer }) => new Float32Array(Uint32Array.from(new Uint16Array(buffer), (bits) => bits << 16).buffer)],
]);

/** A number of 16 bits, IEEE 754 binary16. */
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The numbers of a tensor of that type, whose bytes are a buffer of their own. Throws {@linkcode InvalidArgumentError} for a quantized type. */
export async function decodeNumbers(
  name: string,
  type: string,
  read: () => Promise<Uint8Array<ArrayBuffer>>,
): Promise<TensorNumbers> {
  const decode = decoders.get(type);
  if (decode !== undefined) return decode(await read());
  throw new InvalidArgumentError(`tensor ${name} is quantized (${type}); read its bytes and dequantize them`, {
    value: type,
    expected: `one of ${[...decoders.keys()].join(", ")}`,
  });
}
