import { integer, options, type RulesOf } from "../../../base/options.ts";
import { brands } from "../brands.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { checkInteger, show } from "../../../base/check.ts";
import { assertWritable } from "../indices/lock.ts";
import { statusError } from "./status.ts";
import { notAllocated, tensorLabel } from "./graph_check.ts";
import { type BufferAccess, checkBufferAccess } from "../tensor/buffer_access.ts";
import { remoteBuffers } from "../tensor/remote_buffers.ts";
import { onAnotherMachine } from "../tensor/view.ts";
import type { TensorReference } from "../tensor/references.ts";

/** Rows of bytes inside a tensor and inside an array. */
export interface TensorRows {
  /** Bytes of a row. */
  readonly size: number;
  /** Number of rows. */
  readonly count: number;
  /** Bytes from one row's begin to the next one's in the tensor. */
  readonly tensorStride: number;
  /** Bytes from one row's begin to the next one's in the array; default: `size`. */
  readonly dataStride?: number | undefined;
  /** Offset of the first row in the tensor, in bytes; default 0. */
  readonly offset?: number | undefined;
}

const bytes = { min: 0, max: Number.MAX_SAFE_INTEGER } as const;

const rowsSpec = options(
  "rows",
  {
    size: integer({ ...bytes, required: true }),
    count: integer({ ...bytes, required: true }),
    tensorStride: integer({ ...bytes, required: true }),
    dataStride: integer(bytes),
    offset: integer({ ...bytes, default: 0 }),
  } satisfies RulesOf<TensorRows>,
);

/** Bytes of a tensor's data, from its first to its last. C: `ggml_nbytes`. */
export function byteLength(tensor: TensorReference): number {
  const { native, unsafePointer } = brands.tensor.check("tensor", tensor);
  return Number(native.lib.ggml_nbytes(unsafePointer));
}

/**
 * Writes bytes into a tensor, as they lie in memory. Throws NotAllocatedError, and InvalidArgumentError for a range outside of the tensor.
 * C: `ggml_backend_tensor_set`.
 */
export function setBytes(tensor: TensorReference, data: ArrayBufferView<ArrayBuffer>, offset: number = 0): void {
  checkRange(tensor, offset, data, "write");
  assertWritable(tensor);
  tensor.native.lib.ggml_backend_tensor_set(
    tensor.unsafePointer,
    data as Uint8Array,
    BigInt(offset),
    BigInt(data.byteLength),
  );
}

/** Reads bytes of a tensor into `data`, as many as it holds. Throws as {@linkcode setBytes}. C: `ggml_backend_tensor_get`. */
export function getBytes(tensor: TensorReference, data: ArrayBufferView<ArrayBuffer>, offset: number = 0): void {
  checkRange(tensor, offset, data, "read");
  tensor.native.lib.ggml_backend_tensor_get(
    tensor.unsafePointer,
    data as Uint8Array,
    BigInt(offset),
    BigInt(data.byteLength),
  );
}

/** Sets bytes of a tensor to one value; default: all of them. Throws as {@linkcode setBytes}. C: `ggml_backend_tensor_memset`. */
export function fillBytes(tensor: TensorReference, value: number, offset: number = 0, size?: number): void {
  const byte = checkInteger("value", value, { min: 0, max: 255 });
  const all = byteLength(tensor);
  checkInteger("offset", offset, { min: 0, max: all });
  const count = checkInteger("size", size ?? all - offset, { min: 0, max: all - offset });
  checkAllocated(tensor, "fill");
  assertWritable(tensor);
  tensor.native.lib.ggml_backend_tensor_memset(tensor.unsafePointer, byte, BigInt(offset), BigInt(count));
}

/** Writes rows of bytes into a tensor. Throws as {@linkcode setBytes}. C: `ggml_backend_tensor_set_2d`. */
export function setRows(tensor: TensorReference, data: ArrayBufferView<ArrayBuffer>, rows: TensorRows): void {
  const args = checkRows(tensor, data, rows, "writePart");
  assertWritable(tensor);
  tensor.native.lib.ggml_backend_tensor_set_2d(tensor.unsafePointer, data as Uint8Array, ...args);
}

/** Reads rows of bytes of a tensor into `data`. Throws as {@linkcode setBytes}. C: `ggml_backend_tensor_get_2d`. */
export function getRows(tensor: TensorReference, data: ArrayBufferView<ArrayBuffer>, rows: TensorRows): void {
  const args = checkRows(tensor, data, rows, "read");
  tensor.native.lib.ggml_backend_tensor_get_2d(tensor.unsafePointer, data as Uint8Array, ...args);
}

/**
 * Copies a tensor's data to another tensor of the same type and shape, on the same device or another. Throws NotAllocatedError, InvalidArgumentError for
 * another layout. C: `ggml_backend_tensor_copy`.
 */
export function copyTensor(from: TensorReference, to: TensorReference): void {
  checkAllocated(from, "read");
  checkAllocated(to, "write");
  checkSameLayout(from, to);
  assertWritable(to);
  from.native.lib.ggml_backend_tensor_copy(from.unsafePointer, to.unsafePointer);
}

/** Throws InvalidArgumentError unless two tensors have the same type, shape and strides. */
export function checkSameLayout(from: TensorReference, to: TensorReference): void {
  const { native } = from;
  const [a, b] = [native.structAt("ggml_tensor", from.unsafePointer), native.structAt("ggml_tensor", to.unsafePointer)];
  const same = a.type === b.type && a.ne.every((size, index) => size === b.ne[index]) &&
    a.nb.every((stride, index) => stride === b.nb[index]);
  if (same) return;
  throw new InvalidArgumentError(
    `a tensor of ${a.ne.join(" × ")} can't be copied to one of ${
      b.ne.join(" × ")
    } unless type, shape and strides are the same`,
    { value: [...b.ne].map(Number), expected: `[${a.ne.join(", ")}], the same type and strides` },
  );
}

/**
 * Throws UnsupportedOperationError for a tensor on another machine or in memory that can't do it, NotAllocatedError for one that lies in no buffer: these functions go by the
 * buffer, which a context with memory of its own hasn't.
 */
export function checkAllocated(tensor: TensorReference, access: BufferAccess): void {
  place(tensor);
  checkBufferAccess(tensor.native, tensor.unsafePointer, access);
}

function place(tensor: TensorReference): void {
  brands.tensor.check("tensor", tensor);
  const { native, unsafePointer } = tensor;
  const { data, buffer, view_src } = native.structAt("ggml_tensor", unsafePointer);
  if (buffer !== null && remoteBuffers.has(buffer)) throw onAnotherMachine(tensorLabel(native, unsafePointer));
  if (data !== null && buffer !== null) return;
  if (view_src !== null) {
    const source = native.structAt("ggml_tensor", view_src);
    // A view that was made after its tensor had memory knows the address and not the buffer.
    if (buffer === null && source.buffer !== null && source.data !== null) {
      const error = statusError(native.lib.ggml_backend_view_init(unsafePointer), "placing a view");
      if (error !== undefined) throw error;
      return;
    }
  }
  throw notAllocated(native, unsafePointer);
}

/** Throws unless the bytes of an array fit into a tensor from `offset` on. */
export function checkRange(
  tensor: TensorReference,
  offset: number,
  data: ArrayBufferView,
  access: "read" | "write",
): void {
  checkData(data);
  const all = byteLength(tensor);
  checkInteger("offset", offset, { min: 0, max: all });
  if (offset + data.byteLength > all) {
    throw new InvalidArgumentError(`${data.byteLength} bytes at offset ${offset} go beyond the tensor's ${all} bytes`, {
      value: data.byteLength,
      expected: `at most ${all - offset} bytes`,
    });
  }
  checkAllocated(tensor, access === "write" && data.byteLength < all ? "writePart" : access);
}

/** Throws unless rows fit into a tensor and into an array; gives the arguments of the C functions: offset, size, n_copies, stride_tensor, stride_data. */
export function checkRows(
  tensor: TensorReference,
  data: ArrayBufferView,
  rows: TensorRows,
  access: BufferAccess,
): [bigint, bigint, bigint, bigint, bigint] {
  checkData(data);
  const { size, count, tensorStride, offset, dataStride = size } = rowsSpec.check(rows);
  const all = byteLength(tensor);
  for (const [name, value] of Object.entries({ size, count, tensorStride, offset })) {
    checkInteger(name, value, { min: 0, max: all });
  }
  const inTensor = count === 0 ? 0 : offset + (count - 1) * tensorStride + size;
  const inData = count === 0 ? 0 : (count - 1) * dataStride + size;
  if (inTensor > all || inData > data.byteLength) {
    const [what, needed, there] = inTensor > all ? ["tensor", inTensor, all] : ["array", inData, data.byteLength];
    throw new InvalidArgumentError(
      `${count} rows of ${size} bytes end at byte ${needed}, beyond the ${what}'s ${there}`,
      {
        value: needed,
        expected: `at most ${there}`,
      },
    );
  }
  checkAllocated(tensor, access);
  return [BigInt(offset), BigInt(size), BigInt(count), BigInt(tensorStride), BigInt(dataStride)];
}

function checkData(data: unknown): void {
  if (ArrayBuffer.isView(data)) return;
  throw new InvalidArgumentError(`data is ${show(data)}; give a typed array`, {
    value: data,
    expected: "a typed array",
  });
}
