import type { Native } from "../../../../ffi/native.ts";
import type { NativeBuffer, Pointer } from "../../../../ffi/types/pointer.ts";
import type { StructView } from "../../../../ffi/types/struct_view.ts";
import type { Structs } from "../../../../ffi/tables/structs.ts";

/** Words of 4 bytes in a `llama_token_data`: id, logit, p. */
const WORDS = 3;
const bytesEach = WORDS * 4;

/** Allocates memory for this number of candidates. */
export function candidateMemory(capacity: number): ArrayBuffer {
  return new ArrayBuffer(Math.max(1, capacity) * bytesEach);
}

/** The candidate tokens with their logits, in memory that C works on: a `llama_token_data_array`. */
export class Candidates {
  readonly #native: Native;
  readonly #array: StructView<Structs["llama_token_data_array"]>;
  readonly #address: Pointer<"llama_token_data_array">;
  readonly #start: Pointer<"llama_token_data">;
  /** The tokens: the first of each three words. */
  readonly ids: Int32Array;
  /** The same memory as floats: the logit is the second word of three, the probability the third. */
  readonly values: Float32Array;

  /** Makes candidates over this memory, which two threads may share. */
  constructor(native: Native, memory: ArrayBufferLike) {
    this.#native = native;
    this.ids = new Int32Array(memory);
    this.values = new Float32Array(memory);
    this.#array = native.struct("llama_token_data_array");
    this.#start = native.addressOf<"llama_token_data">(this.ids as NativeBuffer);
    this.#address = native.addressOf<"llama_token_data_array">(this.#array);
  }

  /** Fills in every token with its logit. */
  fill(logits: Float32Array): void {
    const { ids, values } = this;
    for (let token = 0, at = 0; token < logits.length; token++, at += WORDS) {
      ids[at] = token;
      values[at + 1] = logits[token] as number;
      values[at + 2] = 0;
    }
    this.setSize(logits.length);
  }

  /** Fills in some tokens with equal logits. */
  fillTokens(tokens: readonly number[]): void {
    const { ids, values } = this;
    for (let index = 0; index < tokens.length; index++) {
      ids[index * WORDS] = tokens[index] as number;
      values[index * WORDS + 1] = 1;
      values[index * WORDS + 2] = 0;
    }
    this.setSize(tokens.length);
  }

  /** Sets the number of candidates, in no order, none chosen. */
  setSize(size: number): void {
    this.#array.data = this.#start;
    this.#array.size = BigInt(size);
    this.#array.selected = -1n;
    this.#array.sorted = false;
  }

  /** The number of candidates. */
  get size(): number {
    return Number(this.#array.size);
  }

  /** Applies a sampler. There must be at least one candidate. */
  apply(sampler: Pointer<"llama_sampler">): void {
    this.#native.lib.llama_sampler_apply(sampler, this.#address);
  }

  /** The chosen token; -1 for none. */
  get chosen(): number {
    const selected = Number(this.#array.selected);
    return selected < 0 ? -1 : this.ids[(this.#first() + selected) * WORDS] ?? -1;
  }

  /** The logit of the chosen token. */
  get chosenLogit(): number {
    return this.logitAt(Number(this.#array.selected));
  }

  /** Returns the logit at an index. */
  logitAt(index: number): number {
    return this.values[(this.#first() + index) * WORDS + 1] ?? -Infinity;
  }

  /** Makes tokens impossible, right after {@linkcode Candidates.fill}. */
  forbid(tokens: Iterable<number>): void {
    for (const token of tokens) this.values[token * WORDS + 1] = -Infinity;
  }

  /** Removes impossible tokens, and keeps the order. Returns the number that is left. */
  drop(): number {
    const { ids, values } = this;
    const first = this.#first();
    const end = (first + this.size) * WORDS;
    let to = 0;
    for (let at = first * WORDS; at < end; at += WORDS) {
      const logit = values[at + 1] as number;
      if (logit === -Infinity) continue;
      if (to !== at) {
        ids[to] = ids[at] as number;
        values[to + 1] = logit;
        values[to + 2] = values[at + 2] as number;
      }
      to += WORDS;
    }
    this.#array.data = this.#start;
    this.#array.size = BigInt(to / WORDS);
    return to / WORDS;
  }

  /** Removes tokens whose first byte isn't allowed; end tokens stay. Right after {@linkcode Candidates.fill}. */
  keepFirst(next: Uint8Array, firstBytes: Int16Array): void {
    const { ids, values } = this;
    const end = this.size * WORDS;
    let to = 0;
    for (let at = 0; at < end; at += WORDS) {
      const id = ids[at] as number;
      const first = firstBytes[id] as number;
      if (first < 0 ? first !== -2 : next[first] === 0) continue;
      ids[to] = id;
      values[to + 1] = values[at + 1] as number;
      to += WORDS;
    }
    this.setSize(to / WORDS);
  }

  /** XTC removes the first ones by moving the pointer. */
  #first(): number {
    const moved = (this.#array.data ?? this.#start) - this.#start;
    return moved === 0n ? 0 : Number(moved) / bytesEach;
  }
}
