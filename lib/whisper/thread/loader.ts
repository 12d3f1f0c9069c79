import type { NativeCallback } from "../../../ffi/call/callback.ts";
import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { StructView } from "../../../ffi/types/struct_view.ts";
import type { whisper_model_loader } from "../../../ffi/tables/structs.ts";
import { ModelAccessError } from "../../errors.ts";
import type { ModelSource } from "../model_file/source.ts";

/** Reads of this size are weights: where it pays to tell of progress, and to ask whether the load was cancelled. */
const LARGE = 1 << 16;

/**
 * Gives whisper.cpp the bytes of a model, on the thread that made it. A load can't be stopped half-way without a leak: once `skip` says so, or reading
 * failed, large reads give nothing more and the load runs to its end at once; the caller then frees the model.
 */
export class Loader implements Disposable {
  /** The struct for whisper.cpp. */
  readonly struct: StructView<whisper_model_loader>;
  /** Error of reading the source, if any. */
  failure: unknown;
  readonly #callbacks: NativeCallback[] = [];
  readonly #native: Native;
  readonly #source: ModelSource;
  readonly #skip: (position: number) => boolean;
  /** The bytes before the weights, which are read in many small pieces. */
  readonly #front: Uint8Array<ArrayBuffer>;
  #position = 0;
  #skips = false;

  /** `front` is how many bytes lie before the first tensor's data; `skip` is asked before each large read. */
  constructor(native: Native, source: ModelSource, front: number, skip: (position: number) => boolean = () => false) {
    this.#native = native;
    this.#source = source;
    this.#skip = skip;
    this.#front = new Uint8Array(front);
    this.#read(this.#front, 0);
    const read = native.callback("whisper_model_loader.read", (_context, output, size) => {
      if (output !== null) this.#give(output, Number(size));
      return size;
    });
    const eof = native.callback("whisper_model_loader.eof", () => this.#position > source.size);
    const close = native.callback("whisper_model_loader.close", () => {});
    this.#callbacks.push(read, eof, close);
    this.struct = native.assign(native.struct("whisper_model_loader"), {
      read: read.pointer,
      eof: eof.pointer,
      close: close.pointer,
    });
  }

  /** Ends the callbacks. */
  [Symbol.dispose](): void {
    for (const one of this.#callbacks) one.close();
  }

  #give(output: Pointer<"void">, size: number): void {
    const from = this.#position;
    this.#position += size;
    if (size === 0) return;
    if (size >= LARGE) {
      this.#skips ||= this.#skip(from);
      if (this.#skips) return;
    }
    const into = this.#native.view(output, size);
    if (this.#position <= this.#front.length) into.set(this.#front.subarray(from, this.#position));
    else this.#read(into, from);
  }

  #read(into: Uint8Array, position: number): void {
    // At the end whisper.cpp asks for one tensor more.
    const wanted = into.subarray(0, Math.max(0, Math.min(into.length, this.#source.size - position)));
    try {
      if (this.#source.read(wanted, position) === wanted.length) return;
      throw new ModelAccessError(`${this.#source.name} became shorter while it was read; write it again`, {
        value: this.#source.name,
      });
    } catch (error) {
      this.failure ??= error;
      this.#skips = true;
    }
  }
}
