import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/pointer.ts";
import type { StructView } from "../../../ffi/struct.ts";
import { DisposedError } from "../../errors.ts";
import { TokenBytes } from "./tokenizer.ts";

/** A context on this thread, with the memory that its loops use again and again, and what its own memory holds. */
export class ContextState {
  /** The context. */
  readonly context: Pointer<"llama_context">;
  /** Its key-value memory. */
  readonly memory: Pointer<"llama_memory_i"> | null;
  /** The vocabulary of its model. */
  readonly vocab: Pointer<"llama_vocab">;
  /** Tokens that it holds at most. */
  readonly contextSize: number;
  /** Tokens for one decode at most. */
  readonly batchSize: number;
  /** Compute threads at most. */
  readonly threads: number;
  /** Compute threads that it is set to now. */
  currentThreads: number;
  /** The batch that is given to each decode, and the tokens in it. */
  readonly batch: StructView<"llama_batch">;
  /** The tokens of {@linkcode ContextState.batch}. */
  readonly batchTokens: Int32Array;
  /** The bytes of single tokens. */
  readonly bytes: TokenBytes;
  /** The tokens in the context's memory: the first {@linkcode ContextState.used} of these. */
  readonly held: Int32Array;
  /** How many tokens are in the context's memory. */
  used = 0;
  /** Who asked for the tokens in the context's memory; 0 is nobody. */
  owner = 0;

  /** Takes note of a new context. */
  constructor(native: Native, context: Pointer<"llama_context">, vocab: Pointer<"llama_vocab">, threads: number) {
    const { lib } = native;
    this.context = context;
    this.vocab = vocab;
    this.memory = lib.llama_get_memory(context);
    this.contextSize = lib.llama_n_ctx(context);
    this.batchSize = lib.llama_n_batch(context);
    this.threads = threads;
    this.currentThreads = threads;
    this.batchTokens = new Int32Array(this.batchSize);
    this.held = new Int32Array(this.contextSize);
    this.bytes = new TokenBytes(lib, vocab);
    this.batch = native.struct("llama_batch");
    this.batch.token = native.addressOf(this.batchTokens);
  }
}

const states = new Map<bigint, ContextState>();

/** Remembers a context of this thread. */
export function addContext(state: ContextState): void {
  states.set(state.context, state);
}

/** The state of a context of this thread. */
export function contextState(context: Pointer<"llama_context">): ContextState {
  const state = states.get(context);
  if (state === undefined) throw new DisposedError("this model was disposed; load it again", { expected: "a model that is loaded" });
  return state;
}

/** Forgets a context. */
export function removeContext(context: Pointer<"llama_context">): void {
  states.delete(context);
}
