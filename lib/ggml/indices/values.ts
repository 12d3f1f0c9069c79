import { checkBufferAccess } from "../tensor/buffer_access.ts";
import type { Native, Pointer } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../errors.ts";

type TensorPointer = Pointer<"ggml_tensor">;

/** A use of indices: an operand of a node. Plain data. */
export interface IndexUse {
  /** The node. */
  readonly node: TensorPointer;
  /** The place among its operands. */
  readonly slot: number;
  /** The tensor that holds the indices. */
  readonly operand: TensorPointer;
  /** They must be less. */
  readonly size: number;
}

/** The bytes of a tensor, not copied where they are the processor's. */
export function bytesOf(native: Native, tensor: TensorPointer): Uint8Array<ArrayBuffer> {
  const { lib } = native;
  const { data, buffer } = native.structAt("ggml_tensor", tensor);
  const length = Number(lib.ggml_nbytes(tensor));
  if (data !== null && (buffer === null || lib.ggml_backend_buffer_is_host(buffer))) return native.view(data, length);
  const bytes = new Uint8Array(length);
  checkBufferAccess(native, tensor, "read");
  if (length > 0) lib.ggml_backend_tensor_get(tensor, bytes, 0n, BigInt(length));
  return bytes;
}

/** Throws InvalidArgumentError for an index outside of the tensor that it points into; `bytes` are those of the operand. */
export function checkIndexValues(native: Native, use: IndexUse, bytes: Uint8Array<ArrayBuffer>): void {
  const tensor = native.structAt("ggml_tensor", use.operand);
  const values = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isWide = native.lib.ggml_type_size(tensor.type) === 8n;
  const [n0, n1, n2, n3] = Array.from(tensor.ne, Number) as [number, number, number, number];
  const [b0, b1, b2, b3] = Array.from(tensor.nb, Number) as [number, number, number, number];
  for (let i3 = 0; i3 < n3; i3++) {
    for (let i2 = 0; i2 < n2; i2++) {
      for (let i1 = 0; i1 < n1; i1++) {
        for (let i0 = 0; i0 < n0; i0++) {
          const at = i0 * b0 + i1 * b1 + i2 * b2 + i3 * b3;
          const value = isWide ? Number(values.getBigInt64(at, true)) : values.getInt32(at, true);
          if (value < 0 || value >= use.size) throw outside(native, use, value);
        }
      }
    }
  }
}

function outside(native: Native, { node, operand, size }: IndexUse, value: number): InvalidArgumentError {
  const { lib } = native;
  const op = native.readCString(lib.ggml_op_name(native.structAt("ggml_tensor", node).op));
  const name = native.readCString(lib.ggml_get_name(operand));
  return new InvalidArgumentError(
    `${op}: the index ${value} in "${name}" is outside of its tensor, which has ${size}`,
    { value, expected: `a whole number from 0 to ${size - 1}` },
  );
}
