import type { Native, Pointer } from "../../../ffi/mod.ts";
import type { TensorMaker } from "./context_core.ts";

interface Scratch {
  readonly pointer: Pointer<"ggml_context">;
  /** Kept as long as the context. */
  readonly pool: Uint8Array;
}

const scratches = new WeakMap<Native, Scratch>();

/** The most tensors that one function of ggml makes. */
const CAPACITY = 64;

/**
 * The bytes that a function of ggml takes of a context, found by letting it make its tensors in another one first: ggml aborts when there is no capacity.
 * With `data` the tensors' own data is counted too.
 */
export function measure(native: Native, make: TensorMaker, data: boolean): number {
  const { lib } = native;
  const { pointer } = scratchOf(native);
  try {
    make(pointer);
    let bytes = Number(lib.ggml_used_mem(pointer));
    for (let at = lib.ggml_get_first_tensor(pointer); at !== null; at = lib.ggml_get_next_tensor(pointer, at)) {
      if (data && native.structAt("ggml_tensor", at).view_src === null) bytes += Number(lib.ggml_nbytes_pad(at));
    }
    return bytes;
  } finally {
    lib.ggml_reset(pointer);
  }
}

function scratchOf(native: Native): Scratch {
  let scratch = scratches.get(native);
  if (scratch === undefined) {
    const { lib } = native;
    const size = CAPACITY * Number(lib.ggml_tensor_overhead());
    const pool = native.allocate(size, 64);
    const params = native.assign(native.struct("ggml_init_params"), {
      mem_size: BigInt(size),
      mem_buffer: pool,
      no_alloc: true,
    });
    scratch = { pointer: lib.ggml_init(params), pool };
    scratches.set(native, scratch);
  }
  return scratch;
}
