import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import type { ggml_opt_params, StructView } from "../../../ffi/mod.ts";
import { type BackendPlace, withBackends } from "./compute.ts";

type OptContext = Pointer<"ggml_opt_context">;

/** Creates an optimizer from the bytes of its parameters. C: `ggml_opt_init`. */
export function initTraining(params: Uint8Array, { native, lib }: TaskContext): OptContext {
  const view: StructView<ggml_opt_params> = native.structFrom("ggml_opt_params", params);
  return lib.ggml_opt_init(view) as OptContext;
}

/** Input of one evaluation. */
export interface EvaluateInput {
  /** The optimizer. */
  readonly context: OptContext;
  /** Its backends. */
  readonly places: readonly BackendPlace[];
  /** The result that gathers the loss. */
  readonly result: Pointer<"ggml_opt_result"> | null;
}

/** Evaluates what was allocated. C: `ggml_opt_eval`. */
export function evaluateTraining({ context, places, result }: EvaluateInput, task: TaskContext): void {
  withBackends(places, task, () => {
    task.lib.ggml_opt_eval(context, result);
    return 0;
  });
  task.throwIfCancelled();
}

/** Input of a pass over a dataset. */
export interface EpochInput {
  /** The optimizer. */
  readonly context: OptContext;
  /** Its backends. */
  readonly places: readonly BackendPlace[];
  /** The dataset. */
  readonly dataset: Pointer<"ggml_opt_dataset">;
  /** The tensor that receives the batches. */
  readonly inputs: Pointer<"ggml_tensor">;
  /** The tensor that receives the labels. */
  readonly labels: Pointer<"ggml_tensor"> | null;
  /** Number of batches to train with. */
  readonly split: number;
  /** Number of batches. */
  readonly batches: number;
  /** The result that gathers the losses of training. */
  readonly train: Pointer<"ggml_opt_result"> | null;
  /** The result that gathers the losses of evaluation. */
  readonly evaluation: Pointer<"ggml_opt_result"> | null;
}

/** Trains with the first batches of a dataset and evaluates the rest; posts the number of batches that are done. */
export function trainEpoch(input: EpochInput, task: TaskContext<number>): void {
  const { context, places, dataset, inputs, labels, split, batches, train, evaluation } = input;
  const { lib } = task;
  for (let batch = 0; batch < batches; batch++) {
    task.throwIfCancelled();
    withBackends(places, task, () => {
      lib.ggml_opt_alloc(context, batch < split);
      lib.ggml_opt_dataset_get_batch(dataset, inputs, labels, BigInt(batch));
      lib.ggml_opt_eval(context, batch < split ? train : evaluation);
      return 0;
    });
    task.throwIfCancelled();
    task.post(batch + 1);
  }
}
