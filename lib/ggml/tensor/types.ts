/**
 * The types of a tensor's elements by name.
 *
 * @module
 */

import type { ggml_type } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../../base/errors.ts";
import { checkInteger, checkOneOf, isArray, show } from "../../../base/check.ts";
import { TensorShapeError } from "./errors.ts";
import { type TensorType, tensorTypes } from "../../gguf/tensor_types.ts";

/** The name of a tensor's type, as `ggml_type_name` gives it. C: `enum ggml_type`. */
export type TypeName =
  | "f32"
  | "f16"
  | "bf16"
  | "f64"
  | "i8"
  | "i16"
  | "i32"
  | "i64"
  | "q1_0"
  | "q2_0"
  | "q4_0"
  | "q4_1"
  | "q5_0"
  | "q5_1"
  | "q8_0"
  | "q8_1"
  | "q2_K"
  | "q3_K"
  | "q4_K"
  | "q5_K"
  | "q6_K"
  | "q8_K"
  | "iq1_s"
  | "iq1_m"
  | "iq2_xxs"
  | "iq2_xs"
  | "iq2_s"
  | "iq3_xxs"
  | "iq3_s"
  | "iq4_nl"
  | "iq4_xs"
  | "tq1_0"
  | "tq2_0"
  | "mxfp4"
  | "nvfp4";

/** A type with its number narrowed for the raw layer. */
interface KnownType extends TensorType {
  readonly id: ggml_type;
  readonly name: TypeName;
}

const known = [...tensorTypes.values()] as readonly KnownType[];
const byName: ReadonlyMap<string, KnownType> = new Map(known.map((type) => [type.name, type]));

/** The names of all types. */
export const typeNames: readonly TypeName[] = known.map(({ name }) => name);

/** A type by its name. Throws InvalidArgumentError for a name that isn't one. */
export function typeByName(what: string, name: TypeName): KnownType {
  const found = byName.get(name);
  if (found === undefined) {
    checkOneOf(what, name, typeNames);
    throw new TypeError("unreachable");
  }
  return found;
}

/** A type by its number; `undefined` for one that this release doesn't know. */
export function typeById(id: number): TensorType & { readonly name: TypeName } | undefined {
  return tensorTypes.get(id) as KnownType | undefined;
}

/** Returns whether a type packs several elements into a block. C: `ggml_is_quantized`. */
export function isQuantized(name: TypeName): boolean {
  return typeByName("the type", name).blockSize > 1;
}

/**
 * Returns the number of bytes of a row of `length` elements. C: `ggml_row_size`.
 *
 * Throws InvalidArgumentError for an unknown type and a length that isn't a multiple of the type's block.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { rowSize } from "./types.ts";
 *
 * assert.equal(rowSize("f32", 10), 40);
 * assert.equal(rowSize("q4_0", 64), 36);
 * ```
 */
export function rowSize(name: TypeName, length: number): number {
  const { blockSize, typeSize } = typeByName("the type", name);
  checkBlocks("the row", name, blockSize, length);
  return length / blockSize * typeSize;
}

/** Throws when a row isn't made of whole blocks. */
export function checkBlocks(what: string, name: TypeName, blockSize: number, length: number): void {
  checkInteger(`the length of ${what}`, length, { min: 0, max: MAX_DIMENSION });
  if (length % blockSize === 0) return;
  throw new TensorShapeError(
    `${what} has ${length} elements of type ${name}, which come in blocks of ${blockSize}; give a multiple of ${blockSize}`,
    { value: length, expected: `a multiple of ${blockSize}` },
  );
}

/** The longest dimension that is taken: many operators count in 32 bits. */
export const MAX_DIMENSION: number = 2 ** 31 - 1;

/** A tensor's four dimensions, the fastest one first. Dimensions that weren't given are 1. C: `ne`. */
export type Shape = readonly [number, number, number, number];

/** Checks 1 to 4 dimensions, fills up with 1, and sees that the bytes can be counted. Throws InvalidArgumentError or TensorShapeError. */
export function checkShape(what: string, shape: readonly number[], type: TypeName): Shape {
  if (!isArray(shape) || shape.length < 1 || shape.length > 4) {
    throw new InvalidArgumentError(`${what} is ${show(shape)}; give an array of 1 to 4 whole numbers`, {
      value: shape,
      expected: "an array of 1 to 4 whole numbers",
    });
  }
  const full = [0, 1, 2, 3].map((index) =>
    index < shape.length
      ? checkInteger(`dimension ${index} of ${what}`, shape[index], { min: 0, max: MAX_DIMENSION })
      : 1
  ) as [number, number, number, number];
  const { blockSize, typeSize } = typeByName("the type", type);
  checkBlocks(what, type, blockSize, full[0]);
  const bytes = full.reduce((product, one) => product * one, typeSize / blockSize);
  if (bytes > MAX_BYTES) {
    throw new TensorShapeError(
      `${what} [${full.join(", ")}] of type ${type} takes ${bytes} bytes; at most ${MAX_BYTES} can be`,
      {
        value: full,
        expected: `at most ${MAX_BYTES} bytes`,
      },
    );
  }
  return full;
}

const MAX_BYTES = 2 ** 47;
