import { ggml_op, type Native, type Pointer, type StructView } from "../../../ffi/mod.ts";
import type { ggml_tensor } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../errors.ts";
import type { GraphReference } from "../tensor/references.ts";

type TensorPointer = Pointer<"ggml_tensor">;
type TensorView = StructView<ggml_tensor>;

/** Which operand of an operator holds indices, and into which dimension of which other. */
interface Indexed {
  readonly indices: number;
  readonly into: number;
  readonly dimension: number;
  /** The tensor that is indexed is the result itself. */
  readonly own?: boolean;
}

const indexed: ReadonlyMap<number, Indexed> = new Map([
  [ggml_op.GGML_OP_GET_ROWS, { indices: 1, into: 0, dimension: 1 }],
  [ggml_op.GGML_OP_GET_ROWS_BACK, { indices: 1, into: 0, dimension: 1, own: true }],
  [ggml_op.GGML_OP_SET_ROWS, { indices: 1, into: 0, dimension: 1, own: true }],
  [ggml_op.GGML_OP_MUL_MAT_ID, { indices: 2, into: 0, dimension: 2 }],
  [ggml_op.GGML_OP_ADD_ID, { indices: 2, into: 1, dimension: 1 }],
  [ggml_op.GGML_OP_SSM_SCAN, { indices: 6, into: 0, dimension: 3 }],
]);

/** Operators whose results show another tensor's numbers. */
const views: ReadonlySet<number> = new Set([
  ggml_op.GGML_OP_RESHAPE,
  ggml_op.GGML_OP_VIEW,
  ggml_op.GGML_OP_PERMUTE,
  ggml_op.GGML_OP_TRANSPOSE,
]);

/**
 * Throws InvalidArgumentError when an index that a graph is given lies outside of the tensor that it points into: ggml aborts, or writes where it mustn't.
 * Looks at indices that are inputs, and returns the tensors that hold them; those that the graph computes itself can't be known before.
 */
export function checkIndices({ native, unsafePointer }: GraphReference): bigint[] {
  const { lib } = native;
  const found: bigint[] = [];
  const count = lib.ggml_graph_n_nodes(unsafePointer);
  for (let at = 0; at < count; at++) {
    const node = native.structAt("ggml_tensor", lib.ggml_graph_node(unsafePointer, at));
    const how = indexed.get(node.op);
    if (how === undefined) continue;
    const indices = node.src[how.indices] as TensorPointer;
    if (!isInput(native, indices)) continue;
    const target = how.own === true ? node : native.structAt("ggml_tensor", node.src[how.into] as TensorPointer);
    checkValues(native, indices, Number(target.ne[how.dimension]), node);
    found.push(native.structAt("ggml_tensor", indices).view_src ?? indices);
  }
  return found;
}

function isInput(native: Native, pointer: TensorPointer): boolean {
  for (let at = native.structAt("ggml_tensor", pointer);;) {
    if (at.op === ggml_op.GGML_OP_NONE) return true;
    if (!views.has(at.op)) return false;
    at = native.structAt("ggml_tensor", at.src[0] as TensorPointer);
  }
}

function checkValues(native: Native, pointer: TensorPointer, size: number, node: TensorView): void {
  const tensor = native.structAt("ggml_tensor", pointer);
  const { data, buffer } = tensor;
  if (data === null) return;
  const { lib } = native;
  const length = Number(lib.ggml_nbytes(pointer));
  const onHost = buffer === null || lib.ggml_backend_buffer_is_host(buffer);
  const bytes = onHost ? native.view(data, length) : new Uint8Array(length);
  if (!onHost) lib.ggml_backend_tensor_get(pointer, bytes, 0n, BigInt(length));
  const values = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wide = lib.ggml_type_size(tensor.type) === 8n;
  const [n0, n1, n2, n3] = Array.from(tensor.ne, Number) as [number, number, number, number];
  const [b0, b1, b2, b3] = Array.from(tensor.nb, Number) as [number, number, number, number];
  for (let i3 = 0; i3 < n3; i3++) {
    for (let i2 = 0; i2 < n2; i2++) {
      for (let i1 = 0; i1 < n1; i1++) {
        for (let i0 = 0; i0 < n0; i0++) {
          const at = i0 * b0 + i1 * b1 + i2 * b2 + i3 * b3;
          const value = wide ? Number(values.getBigInt64(at, true)) : values.getInt32(at, true);
          if (value < 0 || value >= size) throw outside(native, pointer, value, size, node);
        }
      }
    }
  }
}

function outside(
  native: Native,
  pointer: TensorPointer,
  value: number,
  size: number,
  node: TensorView,
): InvalidArgumentError {
  const { lib } = native;
  return new InvalidArgumentError(
    `${native.readCString(lib.ggml_op_name(node.op))}: the index ${value} in "${
      native.readCString(lib.ggml_get_name(pointer))
    }" is outside of its tensor, which has ${size}`,
    { value, expected: `a whole number from 0 to ${size - 1}` },
  );
}
