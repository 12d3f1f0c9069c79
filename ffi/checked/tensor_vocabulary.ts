import type { ggml_type } from "../tables/enums.ts";
import type { Pointer } from "../types/pointer.ts";
import type { TensorFacts } from "./tensor_facts.ts";
import type { Facts } from "./vocabulary.ts";

type Context = Pointer<"ggml_context">;

/** Conditions on tensors and on the room of their contexts. */
export function tensorWords({ native, lib }: Facts): Readonly<Record<string, unknown>> {
  const typeSize = (type: number): number => Number(lib.ggml_type_size(type as ggml_type));
  const blockSize = (type: number): number => Number(lib.ggml_blck_size(type as ggml_type));
  const rowSize = (type: number, length: number): number => length / blockSize(type) * typeSize(type);
  const elements = (tensor: TensorFacts): number => Number(lib.ggml_nelements(tensor.pointer));
  const bytes = (tensor: TensorFacts): number => Number(lib.ggml_nbytes(tensor.pointer));
  const divides = (small: TensorFacts, large: TensorFacts, from: number): boolean =>
    small.ne.every((size, at) => at < from || size > 0 && (large.ne[at] ?? 0) % size === 0);
  const room = (ctx: Context, tensors: number, more = 0): boolean => {
    const free = Number(lib.ggml_get_mem_size(ctx) - lib.ggml_used_mem(ctx));
    return free >= tensors * Number(lib.ggml_tensor_overhead()) + (more === 0 ? 0 : Math.ceil(more / 16) * 16 + 32);
  };
  const dataSize = (type: number, sizes: readonly number[]): number =>
    rowSize(type, sizes[0] ?? 0) * sizes.slice(1).reduce((product, size) => product * size, 1);
  return {
    typeSize,
    blockSize,
    rowSize,
    elements,
    bytes,
    room,
    quantized: (type: number): boolean => lib.ggml_is_quantized(type as ggml_type),
    /** Whether a type can be made from floats. */
    quantizes: (type: number): boolean =>
      lib.ggml_is_quantized(type as ggml_type) || type === 0 || type === 1 || type === 30,
    scalar: (tensor: TensorFacts): boolean => lib.ggml_is_scalar(tensor.pointer),
    vector: (tensor: TensorFacts): boolean => lib.ggml_is_vector(tensor.pointer),
    matrix: (tensor: TensorFacts): boolean => lib.ggml_is_matrix(tensor.pointer),
    is3d: (tensor: TensorFacts): boolean => lib.ggml_is_3d(tensor.pointer),
    contiguous: (tensor: TensorFacts): boolean => lib.ggml_is_contiguous(tensor.pointer),
    contiguous1: (tensor: TensorFacts): boolean => lib.ggml_is_contiguous_1(tensor.pointer),
    contiguousRows: (tensor: TensorFacts): boolean => lib.ggml_is_contiguous_rows(tensor.pointer),
    transposed: (tensor: TensorFacts): boolean => lib.ggml_is_transposed(tensor.pointer),
    sameShape: (a: TensorFacts, b: TensorFacts): boolean => lib.ggml_are_same_shape(a.pointer, b.pointer),
    sameLayout: (a: TensorFacts, b: TensorFacts): boolean =>
      a.type === b.type && lib.ggml_are_same_shape(a.pointer, b.pointer) &&
      lib.ggml_are_same_stride(a.pointer, b.pointer),
    canRepeat: (small: TensorFacts, large: TensorFacts): boolean => lib.ggml_can_repeat(small.pointer, large.pointer),
    canRepeatRows: (small: TensorFacts, large: TensorFacts): boolean =>
      small.ne[0] === large.ne[0] && divides(small, large, 0),
    canMulMat: (a: TensorFacts, b: TensorFacts): boolean => a.ne[0] === b.ne[0] && divides(a, b, 2),
    /** Rows without gaps inside and between planes. */
    paddedRow: ({ ne, nb, type }: TensorFacts): boolean =>
      nb[0] === typeSize(type) && nb[2] === (nb[1] ?? 0) * (ne[1] ?? 0) && nb[3] === (nb[2] ?? 0) * (ne[2] ?? 0),
    packedRows: ({ ne, nb, type }: TensorFacts): boolean =>
      nb[0] === typeSize(type) && nb[1] === (ne[0] ?? 0) * (nb[0] ?? 0),
    /** Whether a view of these sizes and strides ends inside of its tensor. */
    viewInside: (tensor: TensorFacts, sizes: readonly number[], strides: readonly number[], offset: number): boolean =>
      sizes.includes(0) || offset + viewBytes(tensor.type, sizes, strides, rowSize) <= bytes(tensor),
    /** Whether one tensor lies inside of a larger one, at these strides. */
    windowInside: (
      large: TensorFacts,
      small: TensorFacts,
      nb1: number,
      nb2: number,
      nb3: number,
      offset: number,
    ): boolean => offset + viewBytes(large.type, small.ne, [nb1, nb2, nb3], rowSize) <= bytes(large),
    /** Whether a context has room for a new tensor of these sizes. */
    newTensorFits: (ctx: Context, type: number, sizes: readonly number[]): boolean => {
      if (!sizes.every((size) => size >= 0 && size < 2 ** 53) || (sizes[0] ?? 0) % blockSize(type) !== 0) return false;
      const data = dataSize(type, sizes);
      const padded = lib.ggml_get_no_alloc(ctx) ? 0 : Math.ceil(data / 16) * 16;
      return data < 2 ** 53 && Number(lib.ggml_get_mem_size(ctx) - lib.ggml_used_mem(ctx)) >=
          Number(lib.ggml_tensor_overhead()) + padded;
    },
    /** Sizes that a caller gave as memory. */
    dimensions: (memory: unknown, count: number): number[] => {
      if (typeof memory === "bigint") {
        const view = native.view(memory as Pointer, count * 8);
        return Array.from(new BigInt64Array(view.buffer, view.byteOffset, count), Number);
      }
      return memory instanceof BigInt64Array ? Array.from(memory.subarray(0, count), Number) : [];
    },
    /** Whether a tensor's data can be read and written here. */
    inMemory: ({ buffer }: TensorFacts): boolean => buffer === null || lib.ggml_backend_buffer_is_host(buffer),
    hasBuffer: ({ buffer, view_src }: TensorFacts): boolean => (view_src === null ? buffer : view_src.buffer) !== null,
  };
}

/** Bytes from the first to the last element of a view. */
function viewBytes(
  type: number,
  sizes: readonly number[],
  strides: readonly number[],
  rowSize: (type: number, length: number) => number,
): number {
  return sizes.slice(1).reduce((sum, size, at) => sum + (size - 1) * (strides[at] ?? 0), rowSize(type, sizes[0] ?? 0));
}
