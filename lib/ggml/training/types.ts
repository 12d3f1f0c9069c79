import type { Backend } from "../backend/backend.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { LossType, OptimizerKind, OptimizerParameters } from "./options.ts";
import type { TrainingResult, TrainingSummary } from "./result.ts";

/** How an Optimizer is made. */
export interface OptimizerOptions {
  /** The backends that compute, the last one with a CPU. */
  readonly backends: readonly Backend[];
  /** What is made small. */
  readonly loss: LossType;
  /** Where the datapoints go, `[size, datapoints]`; without it each evaluation brings a graph of its own, see Optimizer.prepare. */
  readonly inputs?: Tensor | undefined;
  /** What the model makes of them, f32, `[size, datapoints]`. */
  readonly outputs?: Tensor | undefined;
  /** How parameters follow their gradients. Default `"adamw"`. */
  readonly kind?: OptimizerKind | undefined;
  /** Numbers of the optimiser. */
  readonly parameters?: OptimizerParameters | undefined;
  /** After how many batches a step is made: 1 to 2,147,483,647, default 1; 1 for graphs of their own. C: `opt_period`. */
  readonly period?: number | undefined;
  /** Only evaluate, never train. Default false. C: `GGML_OPT_BUILD_TYPE_FORWARD`. */
  readonly evaluateOnly?: boolean | undefined;
}

/** How far a pass over a dataset has come. Plain data. */
export interface TrainingProgress {
  /** What is done just now. */
  readonly phase: "train" | "evaluation";
  /** The epoch, from 1. */
  readonly epoch: number;
  /** How many batches of the phase are done. */
  readonly batch: number;
  /** How many batches the phase has. */
  readonly batches: number;
}

/** How a pass over a dataset is made. */
export interface EpochOptions {
  /** How many datapoints are trained with; the others are evaluated. A multiple of the batch; default all. C: `idata_split`. */
  readonly split?: number | undefined;
  /** Also gathers what training gives; default: one for this pass. */
  readonly train?: TrainingResult | undefined;
  /** Also gathers what evaluation gives; default: one for this pass. */
  readonly evaluation?: TrainingResult | undefined;
  /** Called after each batch. */
  readonly onProgress?: ((progress: TrainingProgress) => void) | undefined;
  /** Stops within a batch; parameters may have made a part of a step then. */
  readonly signal?: AbortSignal | undefined;
}

/** What a pass over a dataset gave. Plain data. */
export interface EpochSummary {
  /** The epoch, from 1. */
  readonly epoch: number;
  /** What was trained with. */
  readonly train: TrainingSummary;
  /** What was evaluated. */
  readonly evaluation: TrainingSummary;
}

/** How a model is fitted to a dataset. */
export interface FitOptions {
  /** How many passes over the dataset: 1 to 2,147,483,647. C: `nepoch`. */
  readonly epochs: number;
  /** The part of the dataset that is evaluated only: 0, the default, to less than 1. C: `val_split`. */
  readonly validation?: number | undefined;
  /** Whether the datapoints are trained with in another order in each epoch. Default true. */
  readonly shuffle?: boolean | undefined;
  /** Numbers of the optimiser for each epoch, such as a learning rate that falls. */
  readonly schedule?: ((epoch: number) => OptimizerParameters) | undefined;
  /** Called after each batch. */
  readonly onProgress?: ((progress: TrainingProgress) => void) | undefined;
  /** Called after each epoch; `false` ends the training. */
  readonly onEpoch?: ((summary: EpochSummary) => boolean | void) | undefined;
  /** Stops within a batch; parameters may have made a part of a step then. */
  readonly signal?: AbortSignal | undefined;
}
