import { InvalidArgumentError } from "../../errors.ts";
import { show } from "../../support/check.ts";
import { quantizeRows } from "./quantize.ts";
import type { Tensor } from "./tensor.ts";
import { arrayOver, assertContiguous, dataOf, isOnHost } from "./view.ts";
import type { TypeName } from "./types.ts";

/** What {@linkcode Tensor.write} takes: one value for each element. */
export type TensorInput =
  | readonly number[]
  | readonly bigint[]
  | Float32Array
  | Float64Array
  | Float16Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array;

/** {@linkcode Tensor.writeBytes}. */
export function writeTensorBytes(tensor: Tensor, bytes: Uint8Array): void {
  if (!(bytes instanceof Uint8Array)) refuse(tensor, bytes, "a Uint8Array");
  const data = dataOf(tensor);
  assertContiguous(tensor, "write to the tensor that it is a view of");
  const length = tensor.byteLength;
  if (bytes.byteLength !== length) {
    throw new InvalidArgumentError(`${tensor} takes ${length} bytes, and ${bytes.byteLength} were given`, {
      value: bytes.byteLength,
      expected: `${length} bytes`,
    });
  }
  if (length === 0) return;
  if (isOnHost(tensor)) tensor.native.view(data, length).set(bytes);
  else tensor.native.lib.ggml_backend_tensor_set(tensor.unsafePointer, bytes, 0n, BigInt(length));
}

/** {@linkcode Tensor.write}. */
export function writeTensor(tensor: Tensor, values: TensorInput): void {
  writeTensorBytes(tensor, encodeValues(tensor, values));
}

/** The bytes of a tensor with these values. Throws InvalidArgumentError for a wrong number of them. */
export function encodeValues(tensor: Tensor, values: TensorInput): Uint8Array<ArrayBuffer> {
  if (!Array.isArray(values) && (!ArrayBuffer.isView(values) || values instanceof DataView)) {
    refuse(tensor, values, "an array of numbers or a typed array");
  }
  const count = tensor.elementCount;
  if (values.length !== count) {
    throw new InvalidArgumentError(
      `${tensor} has ${count} elements, and ${values.length} values were given; give one for each`,
      { value: values.length, expected: `${count} values` },
    );
  }
  return encode(tensor, values);
}

function refuse(tensor: Tensor, value: unknown, expected: string): never {
  throw new InvalidArgumentError(`the values of ${tensor} are ${show(value)}; give ${expected}`, { value, expected });
}

const direct: readonly TypeName[] = ["f32", "f64", "f16", "i8", "i16", "i32", "i64"];

function encode(tensor: Tensor, values: TensorInput): Uint8Array<ArrayBuffer> {
  const { type, shape } = tensor;
  if (!direct.includes(type)) {
    const floats = values instanceof Float32Array ? values : Float32Array.from(values as readonly number[], number);
    return quantizeRows(tensor.native, type, floats, shape[0], undefined);
  }
  const bytes = new Uint8Array(tensor.byteLength);
  const array = arrayOver(type, bytes);
  if (array instanceof BigInt64Array) array.set(Array.from(values as readonly number[], (one) => integer(tensor, one)));
  else {array.set(
      typeof values[0] === "bigint" ? Array.from(values as readonly bigint[], Number) : values as readonly number[],
    );}
  return bytes;
}

function number(value: number | bigint): number {
  return Number(value);
}

function integer(tensor: Tensor, value: number | bigint): bigint {
  if (typeof value === "number" && !Number.isInteger(value)) refuse(tensor, value, "whole numbers");
  return BigInt(value);
}
