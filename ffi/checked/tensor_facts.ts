import type { Native } from "../native.ts";
import type { Lib } from "../tables.ts";
import type { Pointer } from "../types/pointer.ts";
import type { StructView } from "../types/struct_view.ts";
import type { ggml_tensor } from "../tables/structs.ts";

/** A tensor as conditions see it: its sizes are numbers. */
export class TensorFacts {
  readonly #native: Native;
  readonly #lib: Lib;
  readonly #view: StructView<ggml_tensor>;

  constructor(native: Native, lib: Lib, readonly pointer: Pointer<"ggml_tensor">) {
    this.#native = native;
    this.#lib = lib;
    this.#view = native.structAt("ggml_tensor", pointer);
  }

  get type(): number {
    return this.#view.type;
  }

  get op(): number {
    return this.#view.op;
  }

  get flags(): number {
    return this.#view.flags;
  }

  /** The sizes. */
  get ne(): number[] {
    return Array.from(this.#view.ne, Number);
  }

  /** The strides in bytes. */
  get nb(): number[] {
    return Array.from(this.#view.nb, Number);
  }

  get data(): Pointer | null {
    return this.#view.data;
  }

  get buffer(): Pointer<"ggml_backend_buffer"> | null {
    return this.#view.buffer;
  }

  get view_src(): TensorFacts | null {
    return this.#at(this.#view.view_src);
  }

  /** The operands; `null` where there is none. */
  get src(): (TensorFacts | null)[] {
    return Array.from(this.#view.src, (address) => this.#at(address as Pointer<"ggml_tensor">));
  }

  toString(): string {
    const sizes = this.ne;
    const last = Math.max(0, sizes.findLastIndex((size) => size !== 1));
    return `a tensor of type ${this.#native.readCString(this.#lib.ggml_type_name(this.#view.type))} [${
      sizes.slice(0, last + 1).join(", ")
    }]`;
  }

  #at(address: Pointer<"ggml_tensor"> | bigint | null): TensorFacts | null {
    return address === null || address === 0n
      ? null
      : new TensorFacts(this.#native, this.#lib, address as Pointer<"ggml_tensor">);
  }
}
