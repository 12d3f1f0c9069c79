import { isInstance } from "../../../base/check.ts";
import { DecodeError, InvalidArgumentError, SamplerError } from "../../errors.ts";
import { lendCandidates } from "./candidates.ts";
import type { SamplerFunction } from "./order.ts";

/** Memory that the native thread and the caller's share, so that a sampler on the caller's thread gets the candidates without a copy. */
export interface SamplerExchange {
  /** The candidates: `llama_token_data`. */
  readonly memory: SharedArrayBuffer;
  /** The state of the question, and the number of candidates. */
  readonly control: Int32Array<SharedArrayBuffer>;
}

/** A question of the native thread to a sampler on the caller's thread. */
export interface SamplerRequest {
  /** The index of the function. */
  readonly sampler: number;
  /** The number of candidates. */
  readonly size: number;
  /** The tokens generated since the last question. */
  readonly tokens: readonly number[];
}

/** `control[0]`. */
const ASKED = 1;
const ANSWERED = 2;
const FAILED = 3;
/** How often the native thread checks for cancellation while it waits. */
const POLL_MS = 50;

/** Asks the caller's thread, on the native thread, waits for the answer, and returns the number of candidates that are left. */
export function askCaller({ control }: SamplerExchange, ask: () => void, throwIfCancelled: () => void): number {
  Atomics.store(control, 0, ASKED);
  ask();
  while (Atomics.load(control, 0) === ASKED) {
    throwIfCancelled();
    Atomics.wait(control, 0, ASKED, POLL_MS);
  }
  if (Atomics.load(control, 0) === ANSWERED) return Atomics.load(control, 1);
  throw new SamplerError("a custom sampler failed on the caller's thread");
}

/** The samplers of one generation that run on the caller's thread: one round trip per token. */
export class CallerSamplers {
  readonly #functions: readonly SamplerFunction[];
  readonly #ids: Int32Array;
  readonly #values: Float32Array;
  readonly #generated: number[] = [];
  /** The memory that the native thread is given. */
  readonly exchange: SamplerExchange;
  /** The error that a function threw. */
  failure: { readonly error: unknown } | undefined;

  /** Makes room for the candidates of a vocabulary of this size. */
  constructor(functions: readonly SamplerFunction[], vocabularySize: number) {
    const memory = new SharedArrayBuffer(vocabularySize * 12);
    this.#functions = functions;
    this.#ids = new Int32Array(memory);
    this.#values = new Float32Array(memory);
    this.exchange = { memory, control: new Int32Array(new SharedArrayBuffer(8)) };
  }

  /** Calls the function that a request asks for. */
  answer({ sampler, size, tokens }: SamplerRequest): void {
    const { control } = this.exchange;
    this.#generated.push(...tokens);
    try {
      const call = this.#functions[sampler];
      if (call === undefined) throw new DecodeError(`there is no sampler ${sampler}`);
      const left = lendCandidates(this.#ids, this.#values, size, this.#generated, (candidates) => {
        refusePromise(call(candidates));
      });
      Atomics.store(control, 1, left);
      Atomics.store(control, 0, ANSWERED);
    } catch (error) {
      this.failure = { error };
      Atomics.store(control, 0, FAILED);
    }
    Atomics.notify(control, 0);
  }
}

/** Refuses a sampler that is async: its changes would come too late. */
function refusePromise(result: unknown): void {
  if (!isInstance(result, Promise)) return;
  result.catch(() => {});
  throw new InvalidArgumentError("a custom sampler returned a Promise; expected a function that isn't async", {
    value: result,
    expected: "a function that isn't async",
  });
}
