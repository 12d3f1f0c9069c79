import type { Backend } from "../backend/backend.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { LossType, OptimizerKind, OptimizerParameters } from "./options.ts";
import type { TrainingResult, TrainingSummary } from "./result.ts";

/** Options of an Optimizer. */
export interface OptimizerOptions {
  /** The backends that compute, the last one with a CPU. */
  readonly backends: readonly Backend[];
  /** The loss that is minimized. */
  readonly loss: LossType;
  /** The tensor that receives the datapoints, `[size, datapoints]`; without it each evaluation brings a graph of its own, see Optimizer.prepare. */
  readonly inputs?: Tensor | undefined;
  /** The model's outputs, f32, `[size, datapoints]`. */
  readonly outputs?: Tensor | undefined;
  /** The optimizer. Default `"adamw"`. */
  readonly kind?: OptimizerKind | undefined;
  /** Numbers of the optimizer. */
  readonly parameters?: OptimizerParameters | undefined;
  /** Number of batches per optimizer step: 1 to 2,147,483,647, default 1; 1 for graphs of their own. C: `opt_period`. */
  readonly period?: number | undefined;
  /** Only evaluate, never train. Default false. C: `GGML_OPT_BUILD_TYPE_FORWARD`. */
  readonly evaluateOnly?: boolean | undefined;
}

/** Progress of a pass over a dataset. Plain data. */
export interface TrainingProgress {
  /** The current phase. */
  readonly phase: "train" | "evaluation";
  /** The epoch, from 1. */
  readonly epoch: number;
  /** Number of batches of the phase that are done. */
  readonly batch: number;
  /** Number of batches of the phase. */
  readonly batches: number;
}

/** Options of a pass over a dataset. */
export interface EpochOptions {
  /** Number of datapoints to train with; the others are evaluated. A multiple of the batch; default all. C: `idata_split`. */
  readonly split?: number | undefined;
  /** Also gathers the results of training. Default one for this pass. */
  readonly train?: TrainingResult | undefined;
  /** Also gathers the results of evaluation. Default one for this pass. */
  readonly evaluation?: TrainingResult | undefined;
  /** Called after each batch. */
  readonly onProgress?: ((progress: TrainingProgress) => void) | undefined;
  /** Stops within a batch; parameters may have made a part of a step then. */
  readonly signal?: AbortSignal | undefined;
}

/** Result of a pass over a dataset. Plain data. */
export interface EpochSummary {
  /** The epoch, from 1. */
  readonly epoch: number;
  /** Result of the part that was trained with. */
  readonly train: TrainingSummary;
  /** Result of the part that was evaluated. */
  readonly evaluation: TrainingSummary;
}

/** Options of fitting a model to a dataset. */
export interface FitOptions {
  /** Number of passes over the dataset: 1 to 2,147,483,647. C: `nepoch`. */
  readonly epochs: number;
  /** The part of the dataset that is evaluated only: 0, the default, to less than 1. C: `val_split`. */
  readonly validation?: number | undefined;
  /** Whether the datapoints are trained with in another order in each epoch. Default true. */
  readonly shuffle?: boolean | undefined;
  /** Numbers of the optimizer for each epoch, such as a learning rate that falls. */
  readonly schedule?: ((epoch: number) => OptimizerParameters) | undefined;
  /** Called after each batch. */
  readonly onProgress?: ((progress: TrainingProgress) => void) | undefined;
  /** Called after each epoch; `false` ends the training. */
  readonly onEpoch?: ((summary: EpochSummary) => boolean | void) | undefined;
  /** Stops within a batch; parameters may have made a part of a step then. */
  readonly signal?: AbortSignal | undefined;
}
