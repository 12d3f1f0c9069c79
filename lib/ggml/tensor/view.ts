import { brands } from "../brands.ts";
import type { Pointer } from "../../../ffi/mod.ts";
import { NotAllocatedError, UnsupportedOperationError } from "../../errors.ts";
import { remoteBuffers } from "./remote_buffers.ts";
import type { Tensor } from "./tensor.ts";
import { TensorLayoutError } from "./errors.ts";
import type { TypeName } from "./types.ts";

/** A view of a tensor's memory, by the tensor's type. */
export type TensorArray =
  | Float32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>
  | Float16Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Int8Array<ArrayBuffer>
  | Int16Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | BigInt64Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>;

/** A copy of a tensor's values: Float32Array for floats of 32 bits and less and for types in blocks. */
export type TensorValues =
  | Float32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>
  | Int8Array<ArrayBuffer>
  | Int16Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | BigInt64Array<ArrayBuffer>;

type ArrayClass = new (buffer: ArrayBuffer, byteOffset: number, length: number) => TensorArray;

const classes: Partial<Record<TypeName, ArrayClass & { readonly BYTES_PER_ELEMENT: number }>> = {
  f32: Float32Array,
  f64: Float64Array,
  f16: Float16Array,
  bf16: Uint16Array,
  i8: Int8Array,
  i16: Int16Array,
  i32: Int32Array,
  i64: BigInt64Array,
};

/** A typed array of a tensor's type over bytes. */
export function arrayOver(type: TypeName, bytes: Uint8Array<ArrayBuffer>): TensorArray {
  const made = classes[type];
  if (made === undefined) return bytes;
  return new made(bytes.buffer, bytes.byteOffset, bytes.byteLength / made.BYTES_PER_ELEMENT);
}

/** Returns the address of a tensor's data. Throws NotAllocatedError when it has none, UnsupportedOperationError when it is on another machine. */
export function dataOf(tensor: Tensor): Pointer<"void"> {
  const { data, buffer } = tensor.struct;
  if (buffer !== null && remoteBuffers.has(buffer)) {
    throw onAnotherMachine(tensor.label);
  }
  if (data !== null) return data;
  // One without elements lies in a buffer at no address.
  if (buffer !== null && tensor.byteLength === 0) return 0n as Pointer<"void">;
  throw new NotAllocatedError(
    `${tensor.label} has no memory; allocate its context or graph, or make it in a context with the option memory`,
    { value: tensor.name, expected: "a tensor with memory" },
  );
}

/** The error for a tensor whose memory only a RemoteBackend reaches. */
export function onAnotherMachine(label: string): UnsupportedOperationError {
  return new UnsupportedOperationError(
    `${label} lies on another machine; use the read and write of its RemoteBackend`,
    { value: label, expected: "a tensor on this machine" },
  );
}

/** Whether a tensor's data can be read by this program's own code. */
export function isOnHost(tensor: Tensor): boolean {
  const { buffer } = tensor.struct;
  return buffer === null || tensor.native.lib.ggml_backend_buffer_is_host(buffer);
}

/** A tensor's bytes, not copied. Throws UnsupportedOperationError when they aren't the processor's memory. */
export function bytesInPlace(tensor: Tensor): Uint8Array<ArrayBuffer> {
  const data = dataOf(tensor);
  if (!isOnHost(tensor)) {
    throw new UnsupportedOperationError(`the memory of ${tensor.label} isn't the processor's; use read() for a copy`, {
      value: tensor.name,
      expected: "a tensor in host memory",
    });
  }
  return tensor.native.view(data, tensor.byteLength);
}

/** Throws TensorLayoutError when a tensor's elements don't lie one after another. */
export function assertContiguous(tensor: Tensor, why: string): void {
  if (tensor.isContiguous) return;
  throw new TensorLayoutError(`${tensor.label} isn't contiguous (strides ${tensor.strides.join(", ")}); ${why}`, {
    value: tensor.strides,
    expected: "a contiguous tensor",
  });
}

/** {@linkcode Tensor.view}. */
export function viewTensor(tensor: Tensor): TensorArray {
  assertContiguous(tensor, "use read() for a copy, or cont() in the graph");
  const bytes = bytesInPlace(tensor);
  brands.context.of(tensor.context).handOut(bytes.buffer, tensor.struct.view_src);
  return arrayOver(tensor.type, bytes);
}
