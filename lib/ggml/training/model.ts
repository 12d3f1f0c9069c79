import type { Native, StructView } from "../../../ffi/mod.ts";
import type { ggml_opt_optimizer_params } from "../../../ffi/mod.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { checkArray, checkBoolean, checkInteger, checkOptions, show } from "../../../base/check.ts";
import { brands } from "../brands.ts";
import type { Backend } from "../backend/backend.ts";
import { GgmlContext } from "../tensor/context.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { checkModel, reachedTensors } from "./check.ts";
import {
  checkParameters,
  kindNumber,
  lossNumber,
  type LossType,
  type OptimizerKind,
  type OptimizerParameters,
} from "./options.ts";
import type { OptimizerOptions } from "./types.ts";

const names = ["backends", "loss", "inputs", "outputs", "kind", "parameters", "period", "evaluateOnly"] as const;
/** The largest whole number of 32 bits. */
export const LARGEST = 0x7fff_ffff;
/** Tensors that the graph, its gradients and the optimizer's steps may take. */
const CAPACITY_TENSORS = 3 * 4096;
/** Nodes and leaves of the largest graph. */
export const GRAPH_SIZE = 4 * 2048;

/** A model that is trained. */
export interface Model {
  /** Where the datapoints go. */
  readonly inputs: Tensor;
  /** The outputs. */
  readonly outputs: Tensor;
  /** Every tensor of it. */
  readonly reached: readonly Tensor[];
}

/** Checked options. */
export interface Settings {
  /** See {@linkcode OptimizerOptions.backends}. */
  readonly backends: readonly Backend[];
  /** See {@linkcode OptimizerOptions.loss}. */
  readonly loss: LossType;
  /** See {@linkcode OptimizerOptions.inputs}. */
  readonly inputs: Tensor | undefined;
  /** See {@linkcode OptimizerOptions.outputs}. */
  readonly outputs: Tensor | undefined;
  /** See {@linkcode OptimizerOptions.kind}. */
  readonly kind: OptimizerKind;
  /** See {@linkcode OptimizerOptions.parameters}. */
  readonly parameters: OptimizerParameters | undefined;
  /** See {@linkcode OptimizerOptions.period}. */
  readonly period: number;
  /** See {@linkcode OptimizerOptions.evaluateOnly}. */
  readonly evaluateOnly: boolean;
}

/** Checks the options of an optimizer. Throws {@linkcode InvalidArgumentError}. */
export function checkSettings(options: OptimizerOptions): Settings {
  const given = checkOptions("Optimizer", options, names);
  const { backends, loss, inputs, outputs, kind = "adamw", parameters, period = 1, evaluateOnly = false } = given;
  const computing = checkArray("backends", backends, (name, one) => brands.backend.check(name, one as Backend), {
    min: 1,
    max: Infinity,
  });
  if ((inputs === undefined) !== (outputs === undefined)) {
    throw new InvalidArgumentError("inputs and outputs are given together or not at all", {
      value: inputs === undefined ? "no inputs" : "no outputs",
      expected: "both, or none",
    });
  }
  if (inputs === undefined && period !== 1) {
    throw new InvalidArgumentError(
      `period is ${show(period)}; without inputs and outputs ggml takes a step after each batch`,
      {
        value: period,
        expected: "1, or inputs and outputs",
      },
    );
  }
  for (const [name, tensor] of Object.entries({ inputs, outputs })) {
    if (tensor !== undefined && !brands.tensor.has(tensor)) {
      throw new InvalidArgumentError(`${name} is not a Tensor`, { value: tensor, expected: "a Tensor" });
    }
  }
  kindNumber(kind);
  lossNumber(loss);
  checkParameters(kind, parameters);
  return {
    backends: computing,
    loss: loss as LossType,
    inputs,
    outputs,
    kind,
    parameters,
    period: checkInteger("period", period, { min: 1, max: LARGEST }),
    evaluateOnly: checkBoolean("evaluateOnly", evaluateOnly),
  };
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
