import type { Native, Pointer } from "../../../ffi/mod.ts";
import { forgetBuffers } from "../allocator/release_memory.ts";
import { brands } from "../brands.ts";
import type { GgmlContext } from "../tensor/context.ts";
import { HandedOut } from "../tensor/handed_out.ts";
import { Handle } from "../tensor/handle.ts";
import { addBuffer, removeBuffer } from "./buffers_in_use.ts";

/** Internals of a {@linkcode BackendBuffer}: its memory, and the tensors that lie there. */
export class BufferCore {
  /** The native buffer. */
  readonly handle: Handle<"ggml_backend_buffer">;
  /** Views of the memory that were handed out. */
  readonly views: HandedOut;
  /** The buffers that its tensors lie in: itself, or its parts. */
  readonly #parts: Set<bigint>;

  /** Takes over a native buffer; `bytes` is what it lies in, when that is an array of JavaScript. */
  constructor(native: Native, pointer: Pointer<"ggml_backend_buffer">, bytes: Uint8Array<ArrayBuffer> | undefined) {
    const kept = { bytes };
    const parts = new Set<bigint>();
    const views = new HandedOut();
    this.views = views;
    this.#parts = parts;
    this.handle = new Handle({
      what: `the buffer of ${native.readCString(native.lib.ggml_backend_buffer_name(pointer))}`,
      pointer,
      free: (one) => {
        removeBuffer(one);
        views.detach();
        forgetBuffers(parts);
        native.lib.ggml_backend_buffer_free(one);
        kept.bytes = undefined;
      },
    });
    addBuffer(pointer, this.handle);
  }

  /** Notes that tensors of a context lie in it, or in parts of it: it lives as long as they can be reached, and they have no memory after it. */
  own(context: GgmlContext, parts: Iterable<bigint>): void {
    this.handle.assertAlive();
    for (const part of parts) this.#parts.add(part);
    brands.context.of(context).keepMemory(this.handle);
  }
}
