/**
 * Conversion between floats of 32 and of 16 bits, as ggml does it.
 *
 * @module
 */

import { open } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { checkOneOf, isInstance, show } from "../../../base/check.ts";

/** A format of 16-bit floats: IEEE's, and the upper half of a 32-bit one. */
export type HalfType = "f16" | "bf16";

/**
 * Converts floats to 16-bit ones, as bits. Throws InvalidArgumentError. C: `ggml_fp32_to_fp16_row`, `ggml_fp32_to_bf16_row`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { fromHalf, toHalf } from "./half.ts";
 *
 * const bits = await toHalf("bf16", new Float32Array([1, -2.5]));
 * assert.deepEqual([...bits], [0x3f80, 0xc020]);
 * assert.deepEqual([...await fromHalf("bf16", bits)], [1, -2.5]);
 * ```
 */
export async function toHalf(type: HalfType, values: Float32Array): Promise<Uint16Array<ArrayBuffer>> {
  checkOneOf("type", type, ["f16", "bf16"]);
  if (!isInstance(values, Float32Array)) throw wrong(values, "a Float32Array");
  const bits = new Uint16Array(values.length);
  const { lib } = await open();
  if (values.length === 0) return bits;
  if (type === "f16") lib.ggml_fp32_to_fp16_row(values, bits, BigInt(values.length));
  else lib.ggml_fp32_to_bf16_row(values, new Uint8Array(bits.buffer), BigInt(values.length));
  return bits;
}

/** Converts 16-bit floats, given as bits, to 32-bit ones. Throws InvalidArgumentError. C: `ggml_fp16_to_fp32_row`, `ggml_bf16_to_fp32_row`. */
export async function fromHalf(type: HalfType, bits: Uint16Array): Promise<Float32Array<ArrayBuffer>> {
  checkOneOf("type", type, ["f16", "bf16"]);
  if (!isInstance(bits, Uint16Array)) throw wrong(bits, "a Uint16Array");
  const values = new Float32Array(bits.length);
  const { lib } = await open();
  if (bits.length === 0) return values;
  if (type === "f16") lib.ggml_fp16_to_fp32_row(bits, values, BigInt(bits.length));
  else {lib.ggml_bf16_to_fp32_row(
      new Uint8Array(bits.buffer, bits.byteOffset, bits.byteLength),
      values,
      BigInt(bits.length),
    );}
  return values;
}

function wrong(values: unknown, expected: string): InvalidArgumentError {
  return new InvalidArgumentError(`the values are ${show(values)}; give ${expected}`, { value: values, expected });
}
