import { definePicture } from "../../../base/inspect.ts";
import { type Native, open, type Pointer } from "../../../ffi/mod.ts";
import { BackendError } from "../../errors.ts";
import { brands } from "../brands.ts";
import { checkNative } from "../tensor/address.ts";
import { Handle, type NativeObject } from "../tensor/handle.ts";

/** A mean with its uncertainty. Plain data. */
export interface Estimate {
  /** The mean; NaN when there is none. */
  readonly value: number;
  /** Its standard error; NaN when there are too few values. */
  readonly uncertainty: number;
}

/** Result of a part of a dataset. Plain data. */
export interface TrainingSummary {
  /** Number of datapoints that were evaluated. */
  readonly count: number;
  /** The loss. */
  readonly loss: Estimate;
  /** The part of predictions that were right, 0 to 1; NaN for losses without predictions. */
  readonly accuracy: Estimate;
}

/**
 * Gathers loss, accuracy and predictions over evaluations. C: `ggml_opt_result_t`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { TrainingResult } from "./result.ts";
 *
 * using result = await TrainingResult.create();
 * assert.equal(result.count, 0);
 * assert.equal(result.loss.value, 0);
 * ```
 */
export class TrainingResult implements NativeObject<"ggml_opt_result">, Disposable {
  /** The libraries that it came from. */
  readonly native: Native;
  readonly #handle: Handle<"ggml_opt_result">;

  /** Creates an empty result with libraries that are open. C: `ggml_opt_result_init`. */
  constructor(native: Native) {
    this.native = checkNative(native);
    brands.trainingResult.add(this);
    const pointer = native.lib.ggml_opt_result_init() as Pointer<"ggml_opt_result">;
    const free = (one: Pointer<"ggml_opt_result">): void => native.lib.ggml_opt_result_free(one);
    this.#handle = new Handle({ what: "the result of training", pointer, free });
  }

  /** Opens the libraries and creates an empty result. */
  static async create(): Promise<TrainingResult> {
    return new TrainingResult(await open());
  }

  /** The address, for the raw layer. Throws DisposedError. */
  get unsafePointer(): Pointer<"ggml_opt_result"> {
    return this.#handle.pointer;
  }

  /** Number of datapoints that were evaluated. C: `ggml_opt_result_ndata`. */
  get count(): number {
    const count = new BigInt64Array(1);
    this.native.lib.ggml_opt_result_ndata(this.#idle(), count);
    return Number(count[0]);
  }

  /** The loss: the mean over the batches; for the loss `"sum"` the sum. C: `ggml_opt_result_loss`. */
  get loss(): Estimate {
    return this.#estimate((value, uncertainty) =>
      this.native.lib.ggml_opt_result_loss(this.#idle(), value, uncertainty)
    );
  }

  /** The part of predictions that were right, for the loss `"crossEntropy"`; else NaN. C: `ggml_opt_result_accuracy`. */
  get accuracy(): Estimate {
    return this.#estimate((value, uncertainty) =>
      this.native.lib.ggml_opt_result_accuracy(this.#idle(), value, uncertainty)
    );
  }

  /** The address, once no other thread adds to it. */
  #idle(): Pointer<"ggml_opt_result"> {
    const { pointer } = this.#handle;
    if (!this.#handle.busy) return pointer;
    throw new BackendError("the result is in use by the training; await that before you read or reset it", {
      value: "training",
      expected: "a result that nothing adds to",
    });
  }

  #estimate(read: (value: Float64Array, uncertainty: Float64Array) => void): Estimate {
    const value = new Float64Array(1);
    const uncertainty = new Float64Array(1);
    read(value, uncertainty);
    return { value: value[0] ?? NaN, uncertainty: uncertainty[0] ?? NaN };
  }

  /** The predicted class of each datapoint, in the order of evaluation, for the loss `"crossEntropy"`; else zeros. C: `ggml_opt_result_pred`. */
  get predictions(): Int32Array<ArrayBuffer> {
    const found = new Int32Array(Math.max(1, this.count));
    this.native.lib.ggml_opt_result_pred(this.#idle(), found);
    return found.subarray(0, this.count);
  }

  /** All of it as plain data. */
  summary(): TrainingSummary {
    const { count, loss, accuracy } = this;
    return { count, loss, accuracy: count === 0 ? { value: NaN, uncertainty: NaN } : accuracy };
  }

  /** Empties it. Throws BackendError while training adds to it. C: `ggml_opt_result_reset`. */
  reset(): void {
    this.native.lib.ggml_opt_result_reset(this.#idle());
  }

  /** Retains its memory until the returned function is called. */
  retain(): () => void {
    return this.#handle.retain();
  }

  /** Whether it was disposed. */
  get disposed(): boolean {
    return this.#handle.disposed;
  }

  /** Frees it; a second call does nothing. C: `ggml_opt_result_free`. */
  dispose(): void {
    this.#handle.dispose();
  }

  /** {@linkcode TrainingResult.dispose}, for `using`. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  static {
    definePicture(TrainingResult, "TrainingResult", (result) => `of ${result.count}, loss ${result.loss.value}`);
  }
}
