import type { Native, StructView } from "../../../ffi/mod.ts";
import type { ggml_opt_optimizer_params } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { arrayOf, boolean, integer, options, type RulesOf, type Settings } from "../../../base/options.ts";
import { tensor } from "../ops/options.ts";
import { brands } from "../brands.ts";
import type { Backend } from "../backend/backend.ts";
import { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { checkModel, reachedTensors } from "./check.ts";
import {
  checkParameters,
  kindRule,
  lossRule,
  type LossType,
  type OptimizerKind,
  type OptimizerParameters,
  parametersRule,
} from "./options.ts";
import type { OptimizerOptions } from "./types.ts";

/** The largest whole number of 32 bits. */
export const LARGEST = 0x7fff_ffff;
/** Tensors that the graph, its gradients and the optimizer's steps may take. */
const CAPACITY_TENSORS = 3 * 4096;
/** Nodes and leaves of the largest graph. */
export const GRAPH_SIZE = 4 * 2048;

/** A model that is trained. */
export interface Model {
  /** The tensor that receives the datapoints. */
  readonly inputs: Tensor;
  /** The outputs. */
  readonly outputs: Tensor;
  /** Every tensor of it. */
  readonly reached: readonly Tensor[];
}

/** The options that training by ggml itself has, too. */
export const modelRules = {
  backends: arrayOf((name, one) => brands.backend.check(name, one as Backend), { min: 1, required: true }),
  loss: lossRule,
  inputs: tensor(),
  outputs: tensor(),
  kind: kindRule,
} as const;

/** {@linkcode OptimizerOptions}, declared. */
const optimizerSpec = options(
  "Optimizer",
  {
    ...modelRules,
    parameters: parametersRule,
    period: integer({ min: 1, max: LARGEST, default: 1 }),
    evaluateOnly: boolean({ default: false }),
  } satisfies RulesOf<OptimizerOptions>,
);

/** Checked options. */
export type OptimizerSettings = Settings<typeof optimizerSpec>;

/** Checks the options of an optimizer. Throws {@linkcode InvalidArgumentError}. */
export function checkSettings(given: OptimizerOptions): OptimizerSettings {
  const settings = optimizerSpec.check(given);
  const { inputs, outputs, kind, parameters, period } = settings;
  checkPair(inputs, outputs);
  if (inputs === undefined && period !== 1) {
    throw new InvalidArgumentError(
      `period is ${period}; without inputs and outputs ggml takes a step after each batch`,
      { value: period, expected: "1, or inputs and outputs" },
    );
  }
  checkParameters(kind, parameters);
  return settings;
}

/** Checks that inputs and outputs come together. Throws {@linkcode InvalidArgumentError}. */
export function checkPair(inputs: Tensor | undefined, outputs: Tensor | undefined): void {
  if ((inputs === undefined) === (outputs === undefined)) return;
  throw new InvalidArgumentError("inputs and outputs are given together or not at all", {
    value: inputs === undefined ? "no inputs" : "no outputs",
    expected: "both, or none",
  });
}

/** Checks a model. Throws what native code would abort for. */
export function makeModel(inputs: Tensor, outputs: Tensor, loss: LossType, train: boolean): Model {
  checkModel(inputs, outputs, loss, train);
  return { inputs, outputs, reached: reachedTensors(outputs) };
}

/** A context with room for the graphs, the gradients and the steps. */
export function makeCapacity(native: Native): GgmlContext {
  const graphs = 4 * Number(native.lib.ggml_graph_overhead_custom(2048n, true));
  const tensors = CAPACITY_TENSORS + Math.ceil(graphs / Number(native.lib.ggml_tensor_overhead()));
  return new GgmlContext(native, { maxTensors: tensors });
}

/** Writes the numbers of an optimizer into the struct that C reads. Throws {@linkcode InvalidArgumentError}. */
export function setNumbers(
  struct: StructView<ggml_opt_optimizer_params>,
  kind: OptimizerKind,
  parameters: OptimizerParameters | undefined,
): void {
  const { learningRate, beta1, beta2, epsilon, weightDecay } = checkParameters(kind, parameters);
  Object.assign(struct.adamw, { alpha: learningRate, beta1, beta2, eps: epsilon, wd: weightDecay });
  Object.assign(struct.sgd, { alpha: learningRate, wd: weightDecay });
}
