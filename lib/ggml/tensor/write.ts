import { InvalidArgumentError } from "../../errors.ts";
import { isArray, isInstance, show } from "../../../base/check.ts";
import { assertWritable } from "../indices/lock.ts";
import { checkBufferAccess } from "./buffer_access.ts";
import { quantizeRows } from "./quantize.ts";
import type { Tensor } from "./tensor.ts";
import { arrayOver, assertContiguous, dataOf, isOnHost } from "./view.ts";
import type { TypeName } from "./types.ts";

/** A typed array of numbers. */
export type TensorTypedArray =
  | Float32Array
  | Float64Array
  | Float16Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array;

/** Numbers, or arrays of equally long arrays of numbers, up to four deep: the innermost are the rows. */
export type NestedNumbers =
  | readonly number[]
  | readonly (readonly number[])[]
  | readonly (readonly (readonly number[])[])[]
  | readonly (readonly (readonly (readonly number[])[])[])[];

/** Values for {@linkcode Tensor.write}: one for each element. */
export type TensorInput = NestedNumbers | readonly bigint[] | TensorTypedArray;

/** {@linkcode Tensor.writeBytes}. */
export function writeTensorBytes(tensor: Tensor, bytes: Uint8Array): void {
  if (!isInstance(bytes, Uint8Array)) refuse(tensor, bytes, "a Uint8Array");
  const data = dataOf(tensor);
  assertWritable(tensor);
  assertContiguous(tensor, "write to the tensor that it is a view of");
  const length = tensor.byteLength;
  if (bytes.byteLength !== length) {
    throw new InvalidArgumentError(`${nameOf(tensor)} takes ${length} bytes, and ${bytes.byteLength} were given`, {
      value: bytes.byteLength,
      expected: `${length} bytes`,
    });
  }
  if (length === 0) return;
  if (isOnHost(tensor)) return tensor.native.view(data, length).set(bytes);
  checkBufferAccess(tensor.native, tensor.unsafePointer, "write");
  tensor.native.lib.ggml_backend_tensor_set(tensor.unsafePointer, bytes, 0n, BigInt(length));
}

/** {@linkcode Tensor.write}. */
export function writeTensor(tensor: Tensor, values: TensorInput): void {
  writeTensorBytes(tensor, encodeValues(tensor, values));
}

/** The bytes of a tensor with these values. Throws InvalidArgumentError for a wrong number of them, and for what the type can't hold. */
export function encodeValues(tensor: Tensor, values: TensorInput): Uint8Array<ArrayBuffer> {
  const { flat, shape } = flatten(`the values of ${nameOf(tensor)}`, values);
  const wanted = tensor.shape.slice(0, Math.max(shape.length, tensor.dimensions));
  if (shape.length > 1 && !wanted.every((size, index) => size === (shape[index] ?? 1))) {
    throw new InvalidArgumentError(
      `${nameOf(tensor)} was given arrays of the shape [${
        shape.join(", ")
      }]; give one of its own, the innermost arrays being its rows`,
      { value: shape, expected: `[${wanted.join(", ")}]` },
    );
  }
  const count = tensor.elementCount;
  if (flat.length !== count) {
    throw new InvalidArgumentError(
      `${nameOf(tensor)} has ${count} elements, and ${flat.length} values were given; give one for each`,
      { value: flat.length, expected: `${count} values` },
    );
  }
  return encode(tensor, flat);
}

/** Values in order, and the shape of the arrays that they came in, the innermost first. */
export interface FlatValues {
  /** The values; in an array of JavaScript they are numbers or bigints. */
  readonly flat: TensorTypedArray | readonly (number | bigint)[];
  /** Lengths of the arrays. */
  readonly shape: readonly number[];
}

const MAX_DEPTH = 4;
const EXPECTED = "an array of numbers, equally long arrays of them, or a typed array";

/** Takes nested arrays apart. Throws InvalidArgumentError for what isn't a number, for arrays of several lengths and for holes. */
export function flatten(name: string, values: unknown): FlatValues {
  if (isTypedArray(values)) return { flat: values, shape: [values.length] };
  if (!isArray(values)) return refuseValue(name, values, EXPECTED);
  const shape: number[] = [];
  for (let at: unknown = values; isArray(at); at = at[0]) {
    if (shape.length === MAX_DEPTH) return refuseValue(name, at, `arrays at most ${MAX_DEPTH} deep`);
    shape.unshift(at.length);
  }
  const flat: (number | bigint)[] = [];
  const add = (list: unknown, depth: number): void => {
    if (!isArray(list) || list.length !== shape[depth]) {
      const given = isArray(list) ? list.length : list;
      refuseValue(`an array of ${name}`, given, `an array of ${shape[depth]}, as the first one is`);
    }
    for (let index = 0; index < (list as readonly unknown[]).length; index++) {
      const one = (list as readonly unknown[])[index];
      if (depth > 0) add(one, depth - 1);
      else if (typeof one === "number" || typeof one === "bigint") flat.push(one);
      else refuseValue(`value ${flat.length} of ${name}`, one, "a number");
    }
  };
  add(values, shape.length - 1);
  return { flat, shape };
}

const typedArrays = [
  Float32Array,
  Float64Array,
  Float16Array,
  Int8Array,
  Int16Array,
  Int32Array,
  BigInt64Array,
] as const;

function isTypedArray(values: unknown): values is TensorTypedArray {
  return typedArrays.some((type) => isInstance(values, type as unknown as abstract new () => TensorTypedArray));
}

function nameOf(tensor: Tensor): string {
  return tensor.label;
}

function refuseValue(name: string, value: unknown, expected: string): never {
  throw new InvalidArgumentError(`${name} is ${show(value)}; expected ${expected}`, { value, expected });
}

function refuse(tensor: Tensor, value: unknown, expected: string): never {
  return refuseValue(`the data of ${nameOf(tensor)}`, value, expected);
}

const direct: readonly TypeName[] = ["f32", "f64", "f16", "i8", "i16", "i32", "i64"];

function encode(tensor: Tensor, values: FlatValues["flat"]): Uint8Array<ArrayBuffer> {
  const { type, shape } = tensor;
  if (!direct.includes(type)) {
    const floats = values instanceof Float32Array ? values : Float32Array.from(values as readonly number[], Number);
    return quantizeRows(tensor.native, type, floats, shape[0], undefined);
  }
  const bytes = new Uint8Array(tensor.byteLength);
  const array = arrayOver(type, bytes);
  if (type.startsWith("i") && values.constructor !== array.constructor) checkIntegers(tensor, values);
  if (array instanceof BigInt64Array) array.set(Array.from(values as readonly number[], BigInt));
  else {array.set(
      isArray(values) || isInstance(values, BigInt64Array) ? Array.from(values, Number) : values as Int8Array,
    );}
  return bytes;
}

/** Throws InvalidArgumentError for a value that an integer type would cut. */
function checkIntegers(tensor: Tensor, values: FlatValues["flat"]): void {
  const bits = BigInt(tensor.type.slice(1));
  const [min, max] = [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number | bigint;
    if ((typeof value === "bigint" || Number.isInteger(value)) && value >= min && value <= max) continue;
    refuseValue(`value ${index} of ${nameOf(tensor)}`, value, `an integer from ${min} to ${max}`);
  }
}
