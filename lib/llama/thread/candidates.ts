import type { Native } from "../../../ffi/native.ts";
import type { NativeBuffer, Pointer } from "../../../ffi/pointer.ts";
import type { StructView } from "../../../ffi/struct_view.ts";
import type { Structs } from "../../../ffi/tables/structs.ts";

/** Words of 4 bytes in a `llama_token_data`: id, logit, p. */
const words = 3;
const bytesEach = words * 4;

/** Memory for so many candidates. */
export function candidateMemory(capacity: number): ArrayBuffer {
  return new ArrayBuffer(Math.max(1, capacity) * bytesEach);
}

/** The tokens that may come next with their logits, in memory that C works on: a `llama_token_data_array`. */
export class Candidates {
  readonly #native: Native;
  readonly #array: StructView<Structs["llama_token_data_array"]>;
  readonly #address: Pointer<"llama_token_data_array">;
  readonly #start: Pointer<"llama_token_data">;
  /** The tokens: one in each three words. */
  readonly ids: Int32Array;
  /** The same memory as floats: the logit is in the second of three, the probability in the third. */
  readonly values: Float32Array;

  /** Over this memory; what two threads share is shared. */
  constructor(native: Native, memory: ArrayBufferLike) {
    this.#native = native;
    this.ids = new Int32Array(memory);
    this.values = new Float32Array(memory);
    this.#array = native.struct("llama_token_data_array");
    this.#start = native.addressOf<"llama_token_data">(this.ids as NativeBuffer);
    this.#address = native.addressOf<"llama_token_data_array">(this.#array);
  }

  /** Every token with its logit. */
  fill(logits: Float32Array): void {
    const { ids, values } = this;
    for (let token = 0, at = 0; token < logits.length; token++, at += words) {
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
    this.#array.data = this.#start;
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

  /** The token that is chosen; -1 for none. */
  get chosen(): number {
    const selected = Number(this.#array.selected);
    return selected < 0 ? -1 : this.ids[(this.#first() + selected) * words] ?? -1;
  }

  /** The logit at an index. */
  logitAt(index: number): number {
    return this.values[(this.#first() + index) * words + 1] ?? -Infinity;
  }

  /** Makes tokens impossible, right after {@linkcode Candidates.fill}. */
  forbid(tokens: Iterable<number>): void {
    for (const token of tokens) this.values[token * words + 1] = -Infinity;
  }

  /** Leaves out what is impossible, in the order that there is; how many are left. */
  drop(): number {
    const { ids, values } = this;
    const first = this.#first();
    const end = (first + this.size) * words;
    let to = 0;
    for (let at = first * words; at < end; at += words) {
      const logit = values[at + 1] as number;
      if (logit === -Infinity) continue;
      if (to !== at) {
        ids[to] = ids[at] as number;
        values[to + 1] = logit;
        values[to + 2] = values[at + 2] as number;
      }
      to += words;
    }
    this.#array.data = this.#start;
    this.#array.size = BigInt(to / words);
    return to / words;
  }

  /** A copy of the first so many, for {@linkcode Candidates.restore}; they are sorted. */
  save(into: Float32Array): number {
    const size = Math.min(this.size, into.length / words);
    into.set(this.values.subarray(0, size * words));
    return size;
  }

  /** What was saved is what there is, sorted. */
  restore(from: Float32Array, size: number): void {
    this.values.set(from.subarray(0, size * words));
    this.setSize(size);
    this.#array.sorted = true;
  }

  /** XTC leaves out the first ones by moving the pointer. */
  #first(): number {
    const moved = (this.#array.data ?? this.#start) - this.#start;
    return moved === 0n ? 0 : Number(moved) / bytesEach;
  }
}
