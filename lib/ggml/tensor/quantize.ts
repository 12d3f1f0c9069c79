/**
 * Conversion between floats and the types that tensors are stored in.
 *
 * @module
 */

import { ggml_type, type Native, open, type Pointer } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { checkInteger, isInstance, show } from "../../../base/check.ts";
import { deferred, options, type RulesOf } from "../../../base/options.ts";
import { TensorTypeError } from "./errors.ts";
import { checkBlocks, MAX_DIMENSION, typeByName, type TypeName, typeNames } from "./types.ts";

/** Options of {@linkcode quantize}. */
export interface QuantizeOptions {
  /**
   * Importance of each column, one positive number for each of a row's elements. The types `"iq1_s"`, `"iq2_xxs"` and `"iq2_xs"` need it.
   * C: `imatrix`.
   */
  importance?: Float32Array | undefined;
}

/** {@linkcode QuantizeOptions}, declared; the type and the length of a row decide what importance is right. */
const quantizeSpec = options(
  "quantize",
  { importance: deferred<Float32Array>("a Float32Array") } satisfies RulesOf<QuantizeOptions>,
);

/** Types that nothing is quantized to: the results of arithmetic, and the form of activations inside a matrix multiplication. */
const notTargets: readonly TypeName[] = ["f64", "i8", "i16", "i32", "i64", "q8_1", "q8_K"];

/** The types that {@linkcode quantize} makes. */
export const quantizeTypes: readonly TypeName[] = typeNames.filter((name) => !notTargets.includes(name));

/**
 * Converts rows of floats to a type, such as `"q4_0"`; the bytes are those that a tensor of that type holds.
 *
 * On the caller's thread: some milliseconds for each million values, a hundred times that for the `iq` types.
 *
 * Throws InvalidArgumentError for values that aren't finite, a length that isn't whole rows, or `importance` that is missing or wrong, TensorTypeError
 * for a type that isn't one of {@linkcode quantizeTypes}, TensorShapeError when a row isn't whole blocks. C: `ggml_quantize_chunk`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { dequantize, quantize } from "./quantize.ts";
 *
 * const values = Float32Array.from({ length: 64 }, (_, i) => Math.sin(i));
 * const bytes = await quantize("q8_0", values, 64);
 * assert.equal(bytes.length, 2 * 34);
 * const back = await dequantize("q8_0", bytes);
 * assert.ok(back.every((value, i) => Math.abs(value - values[i]!) < 0.005));
 * ```
 */
export async function quantize(
  type: TypeName,
  values: Float32Array,
  rowLength: number,
  options?: QuantizeOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const { importance } = quantizeSpec.check(options);
  return quantizeRows(await open(), type, values, rowLength, importance);
}

/**
 * Converts the bytes of a tensor's rows to floats.
 *
 * Throws TensorTypeError for the types of whole numbers and those that have no such conversion (`"q8_1"`, `"q8_K"`, `"f64"`), InvalidArgumentError for
 * bytes that aren't whole blocks. C: `ggml_type_traits.to_float`.
 */
export async function dequantize(type: TypeName, bytes: Uint8Array): Promise<Float32Array<ArrayBuffer>> {
  const { blockSize, typeSize } = typeByName("the type", type);
  checkBytes(bytes, type, typeSize);
  return dequantizeBytes(await open(), type, bytes, bytes.length / typeSize * blockSize);
}

/**
 * Returns whether every value in the bytes of a tensor is finite and each block is valid. Throws as {@linkcode dequantize} does. C: `ggml_validate_row_data`.
 */
export async function validateRows(type: TypeName, bytes: Uint8Array): Promise<boolean> {
  const { id, typeSize } = typeByName("the type", type);
  checkBytes(bytes, type, typeSize);
  const { lib } = await open();
  return lib.ggml_validate_row_data(id, bytes, BigInt(bytes.length));
}

/**
 * Frees the tables made for quantizing to the `iq` types; they are made again on the next use. No such conversion may be under way on another
 * thread. C: `ggml_quantize_free`.
 */
export async function freeQuantizeTables(): Promise<void> {
  (await open()).lib.ggml_quantize_free();
}

function checkBytes(bytes: Uint8Array, type: TypeName, typeSize: number): void {
  if (isInstance(bytes, Uint8Array) && bytes.length % typeSize === 0) return;
  throw new InvalidArgumentError(
    `the bytes are ${
      isInstance(bytes, Uint8Array) ? bytes.length : show(bytes)
    }; ${type} comes in blocks of ${typeSize} bytes`,
    {
      value: isInstance(bytes, Uint8Array) ? bytes.length : bytes,
      expected: `a Uint8Array, a multiple of ${typeSize} long`,
    },
  );
}

/** {@linkcode quantize} with libraries that are open. */
export function quantizeRows(
  native: Native,
  type: TypeName,
  values: Float32Array,
  rowLength: number,
  importance: Float32Array | undefined,
): Uint8Array<ArrayBuffer> {
  const { id, blockSize, typeSize } = typeByName("the type", type);
  if (notTargets.includes(type)) {
    throw new TensorTypeError(`nothing is quantized to ${type}; choose one of ${quantizeTypes.join(", ")}`, {
      value: type,
      expected: quantizeTypes.join(", "),
    });
  }
  const rows = checkRows(type, blockSize, values, rowLength);
  checkImportance(type, rowLength, importance, native.lib.ggml_quantize_requires_imatrix(id));
  const bytes = new Uint8Array(values.length / blockSize * typeSize);
  if (bytes.length === 0) return bytes;
  native.lib.ggml_quantize_chunk(id, values, bytes, 0n, BigInt(rows), BigInt(rowLength), importance ?? null);
  return bytes;
}

function checkRows(type: TypeName, blockSize: number, values: Float32Array, rowLength: number): number {
  if (!isInstance(values, Float32Array)) {
    throw new InvalidArgumentError(`the values are ${show(values)}; give a Float32Array`, {
      value: values,
      expected: "a Float32Array",
    });
  }
  checkInteger("rowLength", rowLength, { min: 1, max: MAX_DIMENSION });
  checkBlocks("a row", type, blockSize, rowLength);
  if (values.length % rowLength !== 0) {
    throw new InvalidArgumentError(`${values.length} values aren't whole rows of ${rowLength}`, {
      value: values.length,
      expected: `a multiple of ${rowLength}`,
    });
  }
  // The searches of some types abort when they meet one.
  const at = blockSize > 1 ? values.findIndex((value) => !Number.isFinite(value)) : -1;
  if (at >= 0) {
    throw new InvalidArgumentError(`value ${at} is ${values[at]}; only finite numbers can be quantized`, {
      value: values[at],
      expected: "finite numbers",
    });
  }
  return values.length / rowLength;
}

function checkImportance(
  type: TypeName,
  rowLength: number,
  importance: Float32Array | undefined,
  needed: boolean,
): void {
  if (importance === undefined) {
    if (!needed) return;
    throw new InvalidArgumentError(`${type} needs importance: one number for each of the ${rowLength} columns`, {
      value: importance,
      expected: `a Float32Array of ${rowLength}`,
    });
  }
  const fine = isInstance(importance, Float32Array) && importance.length === rowLength &&
    importance.every((value) => Number.isFinite(value) && value > 0);
  if (fine) return;
  throw new InvalidArgumentError(`importance must be a Float32Array of ${rowLength} positive numbers`, {
    value: isInstance(importance, Float32Array) ? importance.length : importance,
    expected: `${rowLength} positive numbers`,
  });
}

/** {@linkcode dequantize} with libraries that are open. */
export function dequantizeBytes(
  native: Native,
  type: TypeName,
  bytes: Uint8Array,
  count: number,
): Float32Array<ArrayBuffer> {
  const { id } = typeByName("the type", type);
  const values = new Float32Array(count);
  if (id === ggml_type.GGML_TYPE_F32) {
    new Uint8Array(values.buffer).set(bytes);
    return values;
  }
  const traits = native.structAt("ggml_type_traits", native.lib.ggml_get_type_traits(id));
  if (traits.to_float === null) {
    throw new TensorTypeError(`ggml has no conversion from ${type} to floats`, {
      value: type,
      expected: "a type of floats or of blocks",
    });
  }
  if (count > 0) toFloat(native, traits.to_float)(bytes, values, BigInt(count));
  return values;
}

type ToFloat = (bytes: Uint8Array, values: Float32Array, count: bigint) => void;

const conversions = new Map<Pointer, ToFloat>();

function toFloat(native: Native, pointer: Pointer): ToFloat {
  let found = conversions.get(pointer);
  if (found === undefined) {
    found = native.functionAt(pointer, { parameters: ["pointer", "pointer", "i64"], result: "void" }) as ToFloat;
    conversions.set(pointer, found);
  }
  return found;
}
