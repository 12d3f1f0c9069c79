import { DecodeError, InvalidArgumentError, SamplerError } from "../../errors.ts";
import { SamplerCandidates } from "./candidates.ts";
import type { SamplerFunction } from "./order.ts";

/** Memory that the native thread and the caller's share, so that a sampler on the caller's thread sees the candidates without a copy. */
export interface Hop {
  /** The candidates: `llama_token_data`. */
  readonly memory: SharedArrayBuffer;
  /** What goes on, and how many candidates there are. */
  readonly control: Int32Array<SharedArrayBuffer>;
}

/** What the native thread asks. */
export interface HopRequest {
  /** Which of the functions. */
  readonly sampler: number;
  /** How many candidates there are. */
  readonly size: number;
  /** The tokens that were generated since it asked last. */
  readonly tokens: readonly number[];
}

/** `control[0]`. */
const ASKED = 1;
const ANSWERED = 2;
const FAILED = 3;
/** How often the native thread looks whether it was cancelled while it waits. */
const LOOK_MS = 50;

/** On the native thread: asks, waits for the answer, and gives how many candidates are left. */
export function askHop({ control }: Hop, ask: () => void, throwIfCancelled: () => void): number {
  Atomics.store(control, 0, ASKED);
  ask();
  while (Atomics.load(control, 0) === ASKED) {
    throwIfCancelled();
    Atomics.wait(control, 0, ASKED, LOOK_MS);
  }
  if (Atomics.load(control, 0) === ANSWERED) return Atomics.load(control, 1);
  throw new SamplerError("a sampler of the caller's own failed");
}

/** On the caller's thread: answers with the functions that were given. */
export class SamplerRoundTrip {
  readonly #functions: readonly SamplerFunction[];
  readonly #ids: Int32Array;
  readonly #values: Float32Array;
  readonly #generated: number[] = [];
  /** What the native thread is given. */
  readonly hop: Hop;
  /** What a function threw. */
  failure: { readonly error: unknown } | undefined;

  /** For a model with so many tokens. */
  constructor(functions: readonly SamplerFunction[], vocabularySize: number) {
    const memory = new SharedArrayBuffer(vocabularySize * 12);
    this.#functions = functions;
    this.#ids = new Int32Array(memory);
    this.#values = new Float32Array(memory);
    this.hop = { memory, control: new Int32Array(new SharedArrayBuffer(8)) };
  }

  /** Calls the function that is asked for. */
  answer({ sampler, size, tokens }: HopRequest): void {
    const { control } = this.hop;
    this.#generated.push(...tokens);
    const view = new SamplerCandidates(this.#ids, this.#values, size, this.#generated);
    try {
      const fn = this.#functions[sampler];
      if (fn === undefined) throw new DecodeError(`there is no sampler ${sampler}`);
      const result: unknown = fn(view);
      if (result instanceof Promise) {
        result.catch(() => {});
        throw new InvalidArgumentError(
          "a sampler gave a Promise; it must be done when it returns, so don't make it async",
          {
            value: result,
            expected: "a function that isn't async",
          },
        );
      }
      Atomics.store(control, 1, view.size);
      Atomics.store(control, 0, ANSWERED);
    } catch (error) {
      this.failure = { error };
      Atomics.store(control, 0, FAILED);
    } finally {
      view.end();
    }
    Atomics.notify(control, 0);
  }
}
