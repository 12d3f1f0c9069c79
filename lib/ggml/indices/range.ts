import type { Native, Pointer } from "../../../ffi/mod.ts";

/** Bytes of memory, from `start` to before `end`. */
export interface MemoryRange {
  /** 0 is the processor's memory; else the address of the buffer, which counts by itself. */
  readonly space: bigint;
  /** The first byte. */
  readonly start: bigint;
  /** Behind the last byte. */
  readonly end: bigint;
}

/** The address range of a tensor's values; `undefined` for one without memory. */
export function rangeOf(native: Native, tensor: Pointer<"ggml_tensor">): MemoryRange | undefined {
  const { data, buffer } = native.structAt("ggml_tensor", tensor);
  if (data === null) return undefined;
  return { space: spaceOf(native, buffer), start: data, end: data + native.lib.ggml_nbytes(tensor) };
}

/** The address range of a buffer; `undefined` for one without memory. */
export function rangeOfBuffer(native: Native, buffer: Pointer<"ggml_backend_buffer">): MemoryRange | undefined {
  const start = native.lib.ggml_backend_buffer_get_base(buffer);
  if (start === null) return undefined;
  return { space: spaceOf(native, buffer), start, end: start + native.lib.ggml_backend_buffer_get_size(buffer) };
}

/** The memory that a buffer counts to: {@linkcode MemoryRange.space}. */
export function spaceOf(native: Native, buffer: Pointer<"ggml_backend_buffer"> | null): bigint {
  return buffer === null || native.lib.ggml_backend_buffer_is_host(buffer) ? 0n : buffer;
}

/** Whether two ranges share a byte. */
export function overlaps(a: MemoryRange, b: MemoryRange): boolean {
  return a.space === b.space && a.start < b.end && b.start < a.end;
}
