import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/pointer.ts";
import type { StructView } from "../../../ffi/struct_view.ts";
import type { Structs } from "../../../ffi/tables/structs.ts";

/** Words of 4 bytes in a `llama_token_data`: id, logit, p. */
export const candidateWords = 3;

/** The tokens that may come next with their logits, in memory that C works on: a `llama_token_data_array`. */
export class Candidates {
  readonly #native: Native;
  readonly #array: StructView<Structs["llama_token_data_array"]>;
  readonly #address: Pointer<"llama_token_data_array">;
  /** The tokens: one in each {@linkcode candidateWords} words. */
  readonly ids: Int32Array<ArrayBuffer>;
  /** The same memory as floats: the logit is in the second of three, the probability in the third. */
  readonly values: Float32Array<ArrayBuffer>;
  /** The same memory as bytes. */
  readonly bytes: Uint8Array<ArrayBuffer>;

  /** Room for so many. */
  constructor(native: Native, capacity: number) {
    this.#native = native;
    const memory = new ArrayBuffer(Math.max(1, capacity) * candidateWords * 4);
    this.ids = new Int32Array(memory);
    this.values = new Float32Array(memory);
    this.bytes = new Uint8Array(memory);
    this.#array = native.struct("llama_token_data_array");
    native.assign(this.#array, { data: this.bytes });
    this.#address = native.addressOf<"llama_token_data_array">(this.#array);
  }

  /** Every token with its logit. */
  fill(logits: Float32Array): void {
    const { ids, values } = this;
    for (let token = 0, at = 0; token < logits.length; token++, at += candidateWords) {
      ids[at] = token;
      values[at + 1] = logits[token] as number;
      values[at + 2] = 0;
    }
    this.setSize(logits.length);
  }

  /** One token. */
  fillOne(token: number): void {
    this.ids[0] = token;
    this.values[1] = 1;
    this.values[2] = 0;
    this.setSize(1);
  }

  /** The first so many are what there is, in no order, none chosen. */
  setSize(size: number): void {
    this.#array.size = BigInt(size);
    this.#array.selected = -1n;
    this.#array.sorted = false;
  }

  /** How many there are. */
  get size(): number {
    return Number(this.#array.size);
  }

  /** Applies a sampler to them. There must be at least one. */
  apply(sampler: Pointer<"llama_sampler">): void {
    this.#native.lib.llama_sampler_apply(sampler, this.#address);
  }

  /** Which is chosen; -1 for none. */
  get selected(): number {
    return Number(this.#array.selected);
  }

  /** The token at an index. */
  idAt(index: number): number {
    return this.ids[index * candidateWords] ?? -1;
  }

  /** The logit at an index. */
  logitAt(index: number): number {
    return this.values[index * candidateWords + 1] ?? -Infinity;
  }

  /** How many aren't impossible. */
  possible(): number {
    const end = this.size * candidateWords;
    let count = 0;
    for (let at = 1; at < end; at += candidateWords) if (this.values[at] !== -Infinity) count++;
    return count;
  }

  /** Makes tokens impossible. */
  forbid(tokens: ReadonlySet<number>): void {
    const end = this.size * candidateWords;
    for (let at = 0; at < end; at += candidateWords) {
      if (tokens.has(this.ids[at] as number)) this.values[at + 1] = -Infinity;
    }
  }
}
