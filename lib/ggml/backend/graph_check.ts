import type { Native, Pointer, StructView } from "../../../ffi/mod.ts";
import { ggml_op, type ggml_tensor } from "../../../ffi/mod.ts";
import { NotAllocatedError, UnsupportedOperationError } from "../../errors.ts";
import { bufferAt, type BufferHandle } from "./buffers_in_use.ts";
import { assertNonNull } from "./non_null.ts";
import type { GraphReference } from "../tensor/references.ts";

/** Device that a computation is checked against. */
export interface GraphCheck {
  /** The device; `undefined` where several share the work and allocate for themselves. */
  readonly device: Pointer<"ggml_backend_device">;
  /** The device's name, for messages. */
  readonly name: string;
}

/** Operators that compute nothing: their tensors are views of others. */
const VIEWS: ReadonlySet<number> = new Set([
  ggml_op.GGML_OP_NONE,
  ggml_op.GGML_OP_RESHAPE,
  ggml_op.GGML_OP_VIEW,
  ggml_op.GGML_OP_PERMUTE,
  ggml_op.GGML_OP_TRANSPOSE,
]);

/** Operators that call a function of the program's own. */
const CUSTOM: ReadonlySet<number> = new Set([
  ggml_op.GGML_OP_MAP_CUSTOM1,
  ggml_op.GGML_OP_MAP_CUSTOM2,
  ggml_op.GGML_OP_MAP_CUSTOM3,
  ggml_op.GGML_OP_CUSTOM,
]);

/** A tensor's name for messages: its own, else its operator. */
export function tensorLabel(native: Native, tensor: Pointer<"ggml_tensor">): string {
  const name = native.readCString(native.lib.ggml_get_name(tensor));
  const op = native.readCString(native.lib.ggml_op_desc(tensor));
  return name === "" ? `a tensor without a name (${op})` : `the tensor "${name}" (${op})`;
}

/**
 * Throws unless each node of a graph has memory that the device can use, and is of an operator that it has: NotAllocatedError,
 * UnsupportedOperationError. Native code would abort. Returns the owners of the buffers that the tensors lie in.
 */
export function checkGraph(
  native: Native,
  graph: GraphReference,
  { device, name }: GraphCheck,
): BufferHandle[] {
  const { lib } = native;
  const buffers = new Set<bigint>();
  const usable = (tensor: Pointer<"ggml_tensor">, view: StructView<ggml_tensor>): void => {
    if (view.data === null && (view.buffer === null || !lib.ggml_is_empty(tensor))) throw notAllocated(native, tensor);
    const buffer = view.buffer;
    if (buffer === null || buffers.has(buffer)) return;
    const type = assertNonNull(lib.ggml_backend_buffer_get_type(buffer), "a buffer type");
    if (!lib.ggml_backend_dev_supports_buft(device, type)) {
      throw new UnsupportedOperationError(
        `${name} can't use ${tensorLabel(native, tensor)}: it lies in memory of ${
          native.readCString(lib.ggml_backend_buft_name(type))
        }; allocate it for this device, or compute through a scheduler`,
        { value: native.readCString(lib.ggml_backend_buft_name(type)), expected: `memory that ${name} can use` },
      );
    }
    buffers.add(buffer);
  };
  const { unsafePointer } = graph;
  const count = lib.ggml_graph_n_nodes(unsafePointer);
  for (let index = 0; index < count; index++) {
    const node = lib.ggml_graph_node(unsafePointer, index);
    const view = native.structAt("ggml_tensor", node);
    usable(node, view);
    if (VIEWS.has(view.op)) continue;
    if (isCustom(view.op)) throw custom(native, node);
    for (const source of view.src) {
      if (source === 0n) continue;
      const tensor = source as Pointer<"ggml_tensor">;
      usable(tensor, native.structAt("ggml_tensor", tensor));
    }
    if (!lib.ggml_backend_dev_supports_op(device, node)) throw unsupported(native, name, node);
  }
  return [...buffers].map(bufferAt).filter((buffer) => buffer !== undefined);
}

/** Whether an operator is a function of the program's own. */
export function isCustom(op: number): boolean {
  return CUSTOM.has(op);
}

/** The error for a function of the program's own where another thread may call it, which ends the process. */
export function custom(native: Native, node: Pointer<"ggml_tensor">): UnsupportedOperationError {
  return new UnsupportedOperationError(
    `${
      tensorLabel(native, node)
    } is a function of your own, which only the thread that made it can call; use computeSync(graph)`,
    { value: native.readCString(native.lib.ggml_op_desc(node)), expected: "operators of ggml's own" },
  );
}

/** The error for a tensor without memory. */
export function notAllocated(native: Native, tensor: Pointer<"ggml_tensor">): NotAllocatedError {
  return new NotAllocatedError(
    `${
      tensorLabel(native, tensor)
    } has no memory; allocate its context or graph first, and keep the buffer until the work is done`,
    { value: native.readCString(native.lib.ggml_get_name(tensor)), expected: "a tensor that lies in a buffer" },
  );
}

function unsupported(native: Native, device: string, node: Pointer<"ggml_tensor">): UnsupportedOperationError {
  return new UnsupportedOperationError(
    `${device} doesn't compute ${
      tensorLabel(native, node)
    } with these types and shapes; take another device, or a scheduler with one`,
    { value: native.readCString(native.lib.ggml_op_desc(node)), expected: `an operation that ${device} supports` },
  );
}
