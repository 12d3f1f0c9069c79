import { InvalidArgumentError } from "../../errors.ts";
import { deferred, number, oneOf, options, type RulesOf, type Settings } from "../../../base/options.ts";

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

/** The loss, as an option. */
export const lossRule = oneOf(lossTypes, { required: true });
/** The optimizer, as an option. */
export const kindRule = oneOf(optimizerKinds, { default: "adamw" });

/** Returns the number of a loss. */
export function lossNumber(loss: LossType): 0 | 1 | 2 | 3 {
  return lossTypes.indexOf(loss) as 0 | 1 | 2 | 3;
}

/** Returns the number of an optimizer. */
export function kindNumber(kind: OptimizerKind): 0 | 1 {
  return optimizerKinds.indexOf(kind) as 0 | 1;
}

const part = { min: 0, max: 1 };

/** {@linkcode OptimizerParameters}, declared. */
const parametersSpec = options(
  "parameters",
  {
    learningRate: number({ min: 0, max: 1e6, default: 1e-3 }),
    beta1: number({ ...part, default: 0.9 }),
    beta2: number({ ...part, default: 0.999 }),
    epsilon: number({ ...part, default: 1e-8 }),
    weightDecay: number({ ...part, default: 0 }),
  } satisfies RulesOf<OptimizerParameters>,
);

/** The numbers of an optimizer, as an option: checked by {@linkcode checkParameters}, which knows the optimizer. */
export const parametersRule = deferred<OptimizerParameters>("an object of numbers");

/** Checks the numbers of an optimizer, which C asserts. Throws {@linkcode InvalidArgumentError}. */
export function checkParameters(
  kind: OptimizerKind,
  given: OptimizerParameters | undefined,
): Settings<typeof parametersSpec> {
  const checked = parametersSpec.check(given);
  if (Math.fround(checked.learningRate) === 0) {
    throw new InvalidArgumentError("learningRate is 0; give a number above 0", { value: 0, expected: "above 0" });
  }
  for (const name of ["beta1", "beta2", "epsilon"] as const) {
    if (kind === "adamw" || given?.[name] === undefined) continue;
    throw new InvalidArgumentError(`${name} is a number of adamw; this optimizer is ${kind}`, {
      value: given[name],
      expected: 'kind: "adamw"',
    });
  }
  return checked;
}
