import { checkBufferAccess } from "./buffer_access.ts";
import type { Tensor } from "./tensor.ts";
import { arrayOver, bytesInPlace, dataOf, isOnHost, type TensorValues } from "./view.ts";
import { dequantizeBytes } from "./quantize.ts";
import { typeByName, type TypeName } from "./types.ts";

/** {@linkcode Tensor.readBytes}. */
export function readTensorBytes(tensor: Tensor): Uint8Array<ArrayBuffer> {
  dataOf(tensor);
  const length = tensor.byteLength;
  if (isOnHost(tensor)) return bytesInPlace(tensor).slice();
  const bytes = new Uint8Array(length);
  checkBufferAccess(tensor.native, tensor.unsafePointer, "read");
  if (length > 0) tensor.native.lib.ggml_backend_tensor_get(tensor.unsafePointer, bytes, 0n, BigInt(length));
  return bytes;
}

/** {@linkcode Tensor.read}. */
export function readTensor(tensor: Tensor): TensorValues {
  return valuesFrom(tensor, readTensorBytes(tensor));
}

/** A tensor's elements out of its bytes, from the first to the last. */
export function valuesFrom(tensor: Tensor, bytes: Uint8Array<ArrayBuffer>): TensorValues {
  return valuesOf(tensor, tensor.isContiguous ? bytes : pack(tensor, bytes));
}

const asTheyAre: readonly TypeName[] = ["f32", "f64", "i8", "i16", "i32", "i64"];

function valuesOf(tensor: Tensor, packed: Uint8Array<ArrayBuffer>): TensorValues {
  if (asTheyAre.includes(tensor.type)) return arrayOver(tensor.type, packed) as TensorValues;
  return dequantizeBytes(tensor.native, tensor.type, packed, tensor.elementCount);
}

/** The elements (or blocks) of a tensor with gaps or in another order, one after another. */
function pack({ type, shape, strides }: Tensor, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const { blockSize, typeSize } = typeByName("the type", type);
  const blocks = shape[0] / blockSize;
  const packed = new Uint8Array(blocks * typeSize * shape[1] * shape[2] * shape[3]);
  let at = 0;
  for (let i3 = 0; i3 < shape[3]; i3++) {
    for (let i2 = 0; i2 < shape[2]; i2++) {
      for (let i1 = 0; i1 < shape[1]; i1++) {
        const row = i3 * strides[3] + i2 * strides[2] + i1 * strides[1];
        for (let i0 = 0; i0 < blocks; i0++) {
          const from = row + i0 * strides[0];
          packed.set(bytes.subarray(from, from + typeSize), at);
          at += typeSize;
        }
      }
    }
  }
  return packed;
}
