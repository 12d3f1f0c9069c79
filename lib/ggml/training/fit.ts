import { checkInteger } from "../../../base/check.ts";
import { boolean, deferred, integer, options, type RulesOf } from "../../../base/options.ts";
import type { Backend } from "../backend/backend.ts";
import { ComputeThread } from "../backend/compute_thread.ts";
import { Scheduler } from "../scheduler/scheduler.ts";
import { brands } from "../brands.ts";
import { retainAll } from "../tensor/handle.ts";
import { checkWhole, retainBuffers } from "./check.ts";
import { checkBatch, type Dataset } from "./dataset.ts";
import { checkValidation, validationRule } from "./epochs.ts";
import { checkPair, GRAPH_SIZE, LARGEST, makeCapacity, makeModel, modelRules } from "./model.ts";
import { kindNumber, lossNumber } from "./options.ts";
import { GraphError } from "../tensor/errors.ts";
import type { OptimizerOptions } from "./types.ts";

/** Options of {@linkcode fitNative}. */
export interface NativeFitOptions extends Pick<OptimizerOptions, "backends" | "loss" | "inputs" | "outputs" | "kind"> {
  /** Number of passes over the dataset: 1 to 2,147,483,647. C: `nepoch`. */
  readonly epochs: number;
  /** Number of datapoints per optimizer step: a multiple of the inputs' batch, which divides the dataset. Default one batch. C: `nbatch_logical`. */
  readonly stepSize?: number | undefined;
  /** The part of the dataset that is evaluated only: 0, the default, to less than 1. C: `val_split`. */
  readonly validation?: number | undefined;
  /** Whether to show a progress bar on the error output. Default false. C: `!silent`. */
  readonly progressBar?: boolean | undefined;
}

/** {@linkcode NativeFitOptions}, declared. */
const fitNativeSpec = options(
  "fitNative",
  {
    ...modelRules,
    epochs: integer({ min: 1, max: LARGEST, required: true }),
    stepSize: deferred<number>("an integer"),
    validation: validationRule,
    progressBar: boolean({ default: false }),
  } satisfies RulesOf<NativeFitOptions>,
);

/**
 * Runs ggml's own training from start to finish on a native thread, with the optimizer's default parameters. It calls nothing back and can't be stopped.
 * {@linkcode Optimizer.fit} is what to use. Throws as {@linkcode Optimizer.create} does. C: `ggml_opt_fit`.
 */
export async function fitNative(dataset: Dataset, options: NativeFitOptions): Promise<void> {
  brands.dataset.check("the dataset", dataset);
  const settings = fitNativeSpec.check(options);
  const { loss, epochs, validation } = settings;
  checkPair(settings.inputs, settings.outputs);
  checkValidation(validation);
  if (settings.inputs === undefined || settings.outputs === undefined) {
    throw new GraphError("fitNative needs inputs and outputs", { expected: "inputs and outputs" });
  }
  const model = makeModel(settings.inputs, settings.outputs, settings.loss, true);
  const labelled = loss === "crossEntropy" || loss === "meanSquaredError";
  const batch = checkBatch(dataset, model.inputs, labelled ? model.outputs : undefined, true);
  const step = checkInteger("stepSize", settings.stepSize ?? batch, { min: batch, max: dataset.count });
  checkWhole("stepSize", step, batch);
  checkWhole("the dataset", dataset.count, step);
  const { native } = settings.backends[0] as Backend;
  const scheduler = new Scheduler(settings.backends, { graphSize: GRAPH_SIZE, opOffload: false });
  const capacity = makeCapacity(native);
  const thread = new ComputeThread(native);
  try {
    const releases = retainAll(
      () => brands.context.of(model.outputs.context).lock(),
      () => dataset.retain(),
      ...settings.backends.map((backend) => () => brands.backend.of(backend).borrow(scheduler)),
    );
    await thread.run([...releases, ...retainBuffers(model.reached)], (one) =>
      one.call(
        "ggml_opt_fit",
        scheduler.unsafePointer,
        capacity.unsafePointer,
        model.inputs.unsafePointer,
        model.outputs.unsafePointer,
        dataset.unsafePointer,
        lossNumber(settings.loss),
        kindNumber(settings.kind),
        native.symbol<"ggml_opt_get_optimizer_params">("ggml_opt_get_default_optimizer_params"),
        BigInt(epochs),
        BigInt(step),
        validation,
        !settings.progressBar,
      ));
  } finally {
    thread.end();
    // After an abort native code may still hold them.
    if (thread.lost === undefined) {
      capacity.dispose();
      scheduler.dispose();
    }
  }
}
