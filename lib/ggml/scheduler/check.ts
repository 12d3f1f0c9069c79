import { isArray } from "../../../base/check.ts";
import { brands } from "../brands.ts";
import { ggml_op, ggml_tensor_flag, type Native, type Pointer } from "../../../ffi/mod.ts";
import { AllocationError, InvalidArgumentError, NotAllocatedError, UnsupportedOperationError } from "../../errors.ts";
import type { BufferType } from "../backend/buffer_type.ts";
import type { Backend } from "../backend/backend.ts";
import { custom, isCustom, tensorLabel } from "../backend/graph_check.ts";
import type { Graph } from "../graph/graph.ts";
import { unusedLeaves } from "../graph/walk.ts";
import { GraphError } from "../tensor/errors.ts";

/** C: `GGML_SCHED_MAX_BACKENDS`. */
const MAX_BACKENDS = 16;

/** Throws InvalidArgumentError unless a scheduler can be made of these backends. */
export function checkBackends(backends: readonly Backend[]): void {
  const refuse = (message: string, value: unknown, expected: string): never => {
    throw new InvalidArgumentError(message, { value, expected });
  };
  if (!isArray(backends) || backends.length === 0 || backends.length > MAX_BACKENDS) {
    return refuse(
      `a scheduler takes from 1 to ${MAX_BACKENDS} backends, best first`,
      isArray(backends) ? backends.length : backends,
      `an array of 1 to ${MAX_BACKENDS} backends`,
    );
  }
  for (const [index, backend] of backends.entries()) brands.backend.check(`backends[${index}]`, backend);
  if (new Set(backends.map(({ unsafePointer }) => unsafePointer)).size !== backends.length) {
    refuse("a scheduler takes each backend once", backends.map(({ name }) => name), "different backends");
  }
  const last = backends.at(-1);
  if (last?.device.kind !== "cpu") {
    refuse(
      `the last backend of a scheduler is ${last?.name}; put one with a CPU there, which takes what the others can't`,
      last?.name,
      "a CPU backend as the last one",
    );
  }
}

/**
 * Throws unless a scheduler of these backends can compute every node: UnsupportedOperationError, NotAllocatedError, GraphError for a graph larger than it
 * takes. Native code would abort.
 */
export function checkSchedulable(
  native: Native,
  tensors: ReadonlySet<Pointer<"ggml_tensor">>,
  backends: readonly Backend[],
  graphSize: number,
): void {
  if (tensors.size > graphSize) {
    throw new GraphError(
      `the graph has ${tensors.size} tensors, and the scheduler takes ${graphSize}; make it with a larger graphSize`,
      { value: tensors.size, expected: `graphSize: ${tensors.size}` },
    );
  }
  const usable = new Map<bigint, readonly Backend[]>();
  const usersOf = (buffer: Pointer<"ggml_backend_buffer">): readonly Backend[] => {
    let users = usable.get(buffer);
    if (users === undefined) {
      const type = native.lib.ggml_backend_buffer_get_type(buffer);
      users = type === null
        ? []
        : backends.filter(({ device }) => native.lib.ggml_backend_dev_supports_buft(device.unsafePointer, type));
      usable.set(buffer, users);
    }
    return users;
  };
  for (const tensor of tensors) {
    const { op, data, buffer, view_src, flags } = native.structAt("ggml_tensor", tensor);
    if (isCustom(op)) throw custom(native, tensor);
    const place = view_src === null ? buffer : native.structAt("ggml_tensor", view_src).buffer;
    if (data !== null && place === null) throw outside(native, tensor);
    const able = place === null ? backends : usersOf(place);
    const isLeaf = op === ggml_op.GGML_OP_NONE;
    if (isLeaf && (place === null || (flags & ggml_tensor_flag.GGML_TENSOR_FLAG_PARAM) === 0)) continue;
    if (able.some(({ device }) => native.lib.ggml_backend_dev_supports_op(device.unsafePointer, tensor))) continue;
    throw unsupported(native, tensor, able, place !== null);
  }
}

/**
 * Marks the leaves that no node uses as inputs until the returned function is called: native code knows no backend for them otherwise, and aborts. Inputs
 * lie with the last backend.
 */
export function markUnusedLeaves(graph: Graph): () => void {
  const input = ggml_tensor_flag.GGML_TENSOR_FLAG_INPUT;
  const marked = unusedLeaves(graph).map(({ unsafePointer }) => graph.native.structAt("ggml_tensor", unsafePointer))
    .filter(({ flags }) => (flags & input) === 0);
  for (const struct of marked) struct.flags |= input;
  return () => {
    for (const struct of marked) struct.flags &= ~input;
  };
}

function outside(native: Native, tensor: Pointer<"ggml_tensor">): NotAllocatedError {
  return new NotAllocatedError(
    `${
      tensorLabel(native, tensor)
    } lies in its context's own memory, which a scheduler can't move; make the context without memory and allocate it in a buffer`,
    {
      value: native.readCString(native.lib.ggml_get_name(tensor)),
      expected: "a tensor in a buffer, or without memory",
    },
  );
}

function unsupported(
  native: Native,
  tensor: Pointer<"ggml_tensor">,
  able: readonly Backend[],
  placed: boolean,
): UnsupportedOperationError {
  const names = able.map(({ name }) => name).join(", ") || "none of the backends";
  const why = placed ? `where it lies it could be computed by ${names} only` : `the backends are ${names}`;
  return new UnsupportedOperationError(
    `no backend computes ${
      tensorLabel(native, tensor)
    } with these types and shapes: ${why}; add one that does, or put its memory elsewhere`,
    { value: native.readCString(native.lib.ggml_op_desc(tensor)), expected: "a backend that supports it" },
  );
}

/** The addresses of the types that backends compute in; `null` when none are given. Throws for one that its backend can't use. */
export function checkTypes(
  backends: readonly Backend[],
  types: readonly BufferType[] | undefined,
): BigUint64Array<ArrayBuffer> | null {
  if (types === undefined) return null;
  if (types.length !== backends.length) {
    throw new InvalidArgumentError(
      `${types.length} buffer types are given for ${backends.length} backends; give one for each`,
      {
        value: types.length,
        expected: `${backends.length} buffer types`,
      },
    );
  }
  for (const [index, type] of types.entries()) {
    const backend = backends[index] as Backend;
    if (backend.supportsBufferType(type)) continue;
    throw new UnsupportedOperationError(`${backend.name} can't compute in memory of ${type.name}`, {
      value: type.name,
      expected: `a type that ${backend.name} supports`,
    });
  }
  return BigUint64Array.from(types, ({ unsafePointer }) => unsafePointer);
}

/** The error when a backend has no memory for a graph. */
export function noMemory(backends: readonly Backend[]): AllocationError {
  return new AllocationError("a backend gave no memory for the graph; free buffers, or take a smaller graph", {
    value: backends.map(({ name }) => name),
    expected: "as much memory as reserveSizes() returns",
  });
}
