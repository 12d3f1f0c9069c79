/**
 * Options of an optimizer's methods, models for one evaluation, and checks of a pass over a dataset.
 *
 * @module
 */

import { checkInteger } from "../../../base/check.ts";
import { boolean, options } from "../../../base/options.ts";
import { workRules } from "../backend/compute_thread.ts";
import { brands } from "../brands.ts";
import type { Graph } from "../graph/graph.ts";
import type { GgmlContext } from "../tensor/context.ts";
import { GraphError } from "../tensor/errors.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { checkWhole } from "./check.ts";
import { checkBatch, type Dataset } from "./dataset.ts";
import type { Model } from "./model.ts";

/** The options of `Optimizer.reset`. */
export const resetSpec = options("reset", { optimizer: boolean({ default: false }) });

/** The options of `Optimizer.allocate`. */
export const allocateSpec = options("allocate", { backward: boolean({ default: true }) });

/** The options of `Optimizer.evaluate`. */
export const evaluateSpec = options("evaluate", workRules);

/** A model for one evaluation. */
export interface DynamicModel {
  /** The model. */
  readonly model: Model;
  /** The context of the tensors that ggml adds. */
  readonly capacity: GgmlContext;
  /** The graph that computes it. */
  readonly graph: Graph;
  /** Lets the graph be changed again. */
  release(this: void): void;
}

/** State that a pass over a dataset is checked against. */
export interface PassState {
  /** The static model, when there is one. */
  readonly model: Model | undefined;
  /** Whether an evaluation is allocated. */
  readonly allocated: boolean;
  /** The tensor that receives the labels. */
  readonly labels: Tensor | undefined;
}

/** Returns the model and how many datapoints a batch has. Throws unless a dataset can be passed over. */
export function checkPass(dataset: Dataset, split: number, state: PassState): { model: Model; batch: number } {
  brands.dataset.check("the dataset", dataset);
  const { model, allocated, labels } = state;
  if (model === undefined || allocated) {
    throw new GraphError(
      model === undefined
        ? "a pass over a dataset needs a static model; give inputs and outputs to create"
        : "an evaluation is allocated; evaluate it first",
      { expected: "a static model at rest" },
    );
  }
  const batch = checkBatch(dataset, model.inputs, labels);
  checkInteger("split", split, { min: 0, max: dataset.count });
  checkWhole("the dataset", dataset.count, batch);
  checkWhole("split", split, batch);
  return { model, batch };
}
