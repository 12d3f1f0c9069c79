import type { Native, Pointer } from "../../../ffi/mod.ts";
import { UnsupportedOperationError } from "../../errors.ts";

/** What is to be done with the values of a tensor: read some, write some, write all of them, set some to one byte. */
export type BufferAccess = "read" | "writePart" | "write" | "fill";

/**
 * Throws UnsupportedOperationError where a buffer can't do it. Buffers in which weights are rearranged take whole weights and give nothing back: native code
 * would call a function that isn't there.
 */
export function checkBufferAccess(native: Native, tensor: Pointer<"ggml_tensor">, access: BufferAccess): void {
  const { buffer, extra, view_src } = native.structAt("ggml_tensor", tensor);
  if (buffer === null) return;
  const { get_tensor, set_tensor, memset_tensor } = native.structAt("ggml_backend_buffer", buffer).iface;
  if (get_tensor !== null && set_tensor !== null && (access !== "fill" || memset_tensor !== null)) return;
  const isRearranged = get_tensor === null && set_tensor !== null && extra !== null && view_src === null;
  if (access === "write" && isRearranged) return;
  const type = native.lib.ggml_backend_buffer_get_type(buffer);
  const name = type === null ? "its buffer" : native.readCString(native.lib.ggml_backend_buft_name(type));
  throw new UnsupportedOperationError(
    `memory of ${name} can't do that: it takes whole weights of a type that it rearranges, and gives nothing back; put the tensor into other memory`,
    { value: name, expected: "memory that can be read" },
  );
}
