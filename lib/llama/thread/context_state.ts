import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { StructView } from "../../../ffi/types/struct_view.ts";
import type { Structs } from "../../../ffi/tables/structs.ts";
import type { Lib } from "../../../ffi/tables.ts";
import { DisposedError } from "../../errors.ts";
import { TokenBytes } from "./tokenizer.ts";

/** A context on this thread, with buffers that are reused, and the tokens in its key-value memory. */
export class ContextState {
  /** The context. */
  readonly context: Pointer<"llama_context">;
  readonly #lib: Lib;
  /** Its key-value memory; `null` for an encoder-only model. */
  readonly #memory: Pointer<"llama_memory_i"> | null;
  /** The vocabulary of its model. */
  readonly vocab: Pointer<"llama_vocab">;
  /** Its size in tokens. */
  readonly contextSize: number;
  /** Maximum number of tokens per decode. */
  readonly batchSize: number;
  /** Maximum number of compute threads. */
  readonly threads: number;
  /** Current number of compute threads. */
  currentThreads: number;
  /** The batch for each decode. */
  readonly batch: StructView<Structs["llama_batch"]>;
  /** The tokens of {@linkcode ContextState.batch}. */
  readonly batchTokens: Int32Array;
  /** The bytes of single tokens. */
  readonly bytes: TokenBytes;
  /** The tokens in the context's memory: the first {@linkcode ContextState.used} of these. */
  readonly held: Int32Array;
  /** The number of tokens in the context's memory. */
  used = 0;
  /** The owner of the tokens in the context's memory; 0 for none. */
  owner = 0;

  /** Makes the state of a new context. */
  constructor(native: Native, context: Pointer<"llama_context">, vocab: Pointer<"llama_vocab">, threads: number) {
    const { lib } = native;
    this.context = context;
    this.vocab = vocab;
    this.#lib = lib;
    this.#memory = lib.llama_get_memory(context);
    this.contextSize = lib.llama_n_ctx(context);
    this.batchSize = lib.llama_n_batch(context);
    this.threads = threads;
    this.currentThreads = threads;
    this.batchTokens = new Int32Array(this.batchSize);
    this.held = new Int32Array(this.contextSize);
    this.bytes = new TokenBytes(lib, vocab, false);
    this.batch = native.struct("llama_batch");
    native.assign(this.batch, { token: this.batchTokens });
  }

  /** Removes all but the first tokens from the context's memory. Returns false, and changes nothing, when that isn't possible. */
  keep(count: number): boolean {
    if (this.#memory === null || !this.#lib.llama_memory_seq_rm(this.#memory, 0, count, -1)) return false;
    this.used = count;
    return true;
  }

  /** Empties the context's memory. */
  forget(): void {
    if (this.#memory !== null) this.#lib.llama_memory_clear(this.#memory, false);
    this.used = 0;
    this.owner = 0;
  }
}

const states = new Map<bigint, ContextState>();

/** Remembers a context of this thread. */
export function addContext(state: ContextState): void {
  states.set(state.context, state);
}

/** Returns the state of a context of this thread. Throws DisposedError for one that was freed. */
export function contextState(context: Pointer<"llama_context">): ContextState {
  const state = states.get(context);
  if (state === undefined) {
    throw new DisposedError("this model was disposed; load it again", { expected: "a model that is loaded" });
  }
  return state;
}

/** Forgets a context. */
export function removeContext(context: Pointer<"llama_context">): void {
  states.delete(context);
}
