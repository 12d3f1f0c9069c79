import type { Native, Pointer } from "../../../ffi/mod.ts";
import { BackendError } from "../../errors.ts";
import { addUnsettled, dropUnsettled } from "../indices/guard.ts";
import { Handle } from "../tensor/handle.ts";
import type { BackendPlace } from "../thread/compute.ts";
import { ComputeThread } from "./compute_thread.ts";

/** The functions of a backend's own, where it has them. */
export interface BackendFunctions {
  /** Sets the number of threads. C: `ggml_backend_set_n_threads_t`. */
  readonly setThreads: Pointer | undefined;
  /** Takes what stops a computation. C: `ggml_backend_set_abort_callback_t`. */
  readonly setAbort: Pointer | undefined;
}

/** Resources of asynchronous work: arrays, and functions that release what it retains. */
type InFlight = (ArrayBufferView | (() => void))[];

/** Internals of a {@linkcode Backend}: its thread, and who computes with it. */
export class BackendCore {
  /** The native backend. */
  readonly handle: Handle<"ggml_backend">;
  /** The thread that computes. */
  readonly thread: ComputeThread;
  /** Its own functions. */
  readonly functions: BackendFunctions;
  /** Number of threads that it computes with. */
  threads = 1;
  readonly #name: string;
  readonly #inFlight: InFlight;
  #borrower: object | undefined;
  #borrowed = 0;
  readonly #settle: () => void;

  /** Takes over a native backend. */
  constructor(native: Native, pointer: Pointer<"ggml_backend">, name: string, functions: BackendFunctions) {
    const thread = new ComputeThread(native);
    const inFlight: InFlight = [];
    this.#name = name;
    this.#settle = () => native.lib.ggml_backend_synchronize(pointer);
    const settle = this.#settle;
    this.#inFlight = inFlight;
    this.thread = thread;
    this.functions = functions;
    this.handle = new Handle({
      what: `the backend ${name}`,
      pointer,
      free: (one) => {
        thread.end();
        dropUnsettled(settle);
        if (inFlight.length > 0) native.lib.ggml_backend_synchronize(one);
        native.lib.ggml_backend_free(one);
        release(inFlight);
      },
    });
  }

  /** Throws the error that ended it, once native code has aborted in it. */
  assertKept(): void {
    this.thread.assertKept();
  }

  /** Returns what a task on a native thread needs to compute with it. Plain data. */
  place(): BackendPlace {
    this.assertKept();
    return { backend: this.handle.pointer, threads: this.threads, ...this.functions };
  }

  /** Adds what asynchronous work uses. */
  addInFlight(...used: InFlight): void {
    this.#inFlight.push(...used);
  }

  /** Adds what an asynchronous write uses: indices aren't read before it is done. */
  addWriteInFlight(...used: InFlight): void {
    this.addInFlight(...used);
    addUnsettled(this.#settle);
  }

  /** Releases what asynchronous work has used, once it is done. */
  completeInFlight(): void {
    dropUnsettled(this.#settle);
    release(this.#inFlight);
  }

  /**
   * Lets another object compute with it until the returned function is called: only that object may use it meanwhile. Throws BackendError when it works
   * for another one.
   */
  borrow(borrower: object): () => void {
    const isOther = this.#borrower !== undefined && this.#borrower !== borrower;
    if (this.thread.working || isOther) throw this.#busy("compute with it elsewhere");
    const release = this.handle.retain();
    this.#borrower = borrower;
    this.#borrowed++;
    return () => {
      if (--this.#borrowed === 0) this.#borrower = undefined;
      release();
    };
  }

  /** Throws BackendError while anything computes with it, DisposedError, and the error that ended it. */
  assertIdle(doing: string): void {
    this.handle.assertAlive();
    this.assertKept();
    if (this.thread.working || this.#borrowed > 0) throw this.#busy(doing);
  }

  /** Throws BackendError while another object computes with it. */
  assertNotBorrowed(): void {
    if (this.#borrowed > 0) throw this.#busy("compute");
  }

  #busy(doing: string): BackendError {
    return new BackendError(`${this.#name} is in use by a computation; await that before you ${doing}`, {
      value: this.#name,
      expected: "a backend that computes nothing",
    });
  }
}

function release(inFlight: InFlight): void {
  for (const one of inFlight.splice(0)) if (typeof one === "function") one();
}
