import { InvalidArgumentError } from "../../errors.ts";
import { checkNumber, checkOneOf, checkOptions } from "../../../base/check.ts";

/**
 * The loss that is minimized: the mean or the sum of the outputs, the cross entropy of outputs (before softmax) and labels (probabilities of classes), or the mean
 * of the squared errors. C: `enum ggml_opt_loss_type`.
 */
export type LossType = "mean" | "sum" | "crossEntropy" | "meanSquaredError";

/** The optimizer. C: `enum ggml_opt_optimizer_type`, `ggml_opt_optimizer_name`. */
export type OptimizerKind = "adamw" | "sgd";

/** Hyperparameters of an optimizer. C: `ggml_opt_optimizer_params`, `ggml_opt_get_default_optimizer_params`. */
export interface OptimizerParameters {
  /** Learning rate: above 0, default 0.001. C: `alpha`. */
  readonly learningRate?: number | undefined;
  /** Decay rate of the mean gradient: 0 to 1, default 0.9; `"adamw"` only. C: `adamw.beta1`. */
  readonly beta1?: number | undefined;
  /** Decay rate of the mean squared gradient: 0 to 1, default 0.999; `"adamw"` only. C: `adamw.beta2`. */
  readonly beta2?: number | undefined;
  /** Keeps the division from zero: 0 upwards, default 1e-8; `"adamw"` only. C: `adamw.eps`. */
  readonly epsilon?: number | undefined;
  /** Weight decay: 0 to 1, default 0. C: `wd`. */
  readonly weightDecay?: number | undefined;
}

/** In the order of `enum ggml_opt_loss_type`. */
export const lossTypes: readonly LossType[] = ["mean", "sum", "crossEntropy", "meanSquaredError"];
/** In the order of `enum ggml_opt_optimizer_type`. */
export const optimizerKinds: readonly OptimizerKind[] = ["adamw", "sgd"];

/** The number of a loss. Throws {@linkcode InvalidArgumentError}. */
export function lossNumber(loss: unknown): 0 | 1 | 2 | 3 {
  return lossTypes.indexOf(checkOneOf("loss", loss, lossTypes)) as 0 | 1 | 2 | 3;
}

/** The number of an optimizer. Throws {@linkcode InvalidArgumentError}. */
export function kindNumber(kind: unknown): 0 | 1 {
  return optimizerKinds.indexOf(checkOneOf("kind", kind, optimizerKinds)) as 0 | 1;
}

/** Every number of an optimizer. */
export type AllParameters = Required<{ [K in keyof OptimizerParameters]: number }>;

const defaults: AllParameters = { learningRate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0 };

/** Checks the numbers of an optimizer, which C asserts. Throws {@linkcode InvalidArgumentError}. */
export function checkParameters(kind: OptimizerKind, given: OptimizerParameters | undefined): AllParameters {
  const options = checkOptions("parameters", given, ["learningRate", "beta1", "beta2", "epsilon", "weightDecay"]);
  const all = { ...defaults, ...Object.fromEntries(Object.entries(options).filter(([, one]) => one !== undefined)) };
  const checked: AllParameters = {
    learningRate: checkNumber("learningRate", all.learningRate, { min: 0, max: 1e6 }),
    beta1: checkNumber("beta1", all.beta1, { min: 0, max: 1 }),
    beta2: checkNumber("beta2", all.beta2, { min: 0, max: 1 }),
    epsilon: checkNumber("epsilon", all.epsilon, { min: 0, max: 1 }),
    weightDecay: checkNumber("weightDecay", all.weightDecay, { min: 0, max: 1 }),
  };
  if (Math.fround(checked.learningRate) === 0) {
    throw new InvalidArgumentError("learningRate is 0; give a number above 0", { value: 0, expected: "above 0" });
  }
  for (const name of ["beta1", "beta2", "epsilon"] as const) {
    if (kind === "adamw" || options[name] === undefined) continue;
    throw new InvalidArgumentError(`${name} is a number of adamw; this optimizer is ${kind}`, {
      value: options[name],
      expected: 'kind: "adamw"',
    });
  }
  return checked;
}
