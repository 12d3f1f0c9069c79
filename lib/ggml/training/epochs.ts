/**
 * Checks of the options of passes over a dataset.
 *
 * @module
 */

import { InvalidArgumentError } from "../../errors.ts";
import {
  boolean,
  callback,
  custom,
  deferred,
  integer,
  number,
  options,
  type RulesOf,
  type Settings,
} from "../../../base/options.ts";
import { workRules } from "../backend/compute_thread.ts";
import { brands } from "../brands.ts";
import { LARGEST } from "./model.ts";
import type { TrainingResult } from "./result.ts";
import type { EpochOptions, FitOptions, TrainingProgress } from "./types.ts";

const result = custom<TrainingResult, Record<never, never>>(
  "a TrainingResult",
  (name, value) => brands.trainingResult.check(name, value as TrainingResult),
);
const passRules = {
  split: deferred<number>("an integer"),
  train: result,
  evaluation: result,
} as const;
const onProgress = callback<NonNullable<EpochOptions["onProgress"]>>();

/** {@linkcode EpochOptions}, declared. */
export const epochSpec = options("epoch", { ...passRules, ...workRules, onProgress } satisfies RulesOf<EpochOptions>);

/** The options of `Optimizer.epochNative`. */
export const epochNativeSpec = options("epochNative", { ...passRules, progressBar: boolean({ default: false }) });

/** The part of a dataset that is evaluated only, as an option. */
export const validationRule = number({ min: 0, max: 1, default: 0 });

/** {@linkcode FitOptions}, declared. */
const fitSpec = options(
  "fit",
  {
    ...workRules,
    epochs: integer({ min: 1, max: LARGEST, required: true }),
    validation: validationRule,
    shuffle: boolean({ default: true }),
    schedule: callback<NonNullable<FitOptions["schedule"]>>(),
    onProgress,
    onEpoch: callback<NonNullable<FitOptions["onEpoch"]>>(),
  } satisfies RulesOf<FitOptions>,
);

/** Checks how a model is fitted. Throws {@linkcode InvalidArgumentError}, or the reason of a signal that is aborted. */
export function checkFit(given: FitOptions): Settings<typeof fitSpec> {
  const settings = fitSpec.check(given);
  checkValidation(settings.validation);
  settings.signal?.throwIfAborted();
  return settings;
}

/** Throws {@linkcode InvalidArgumentError} when nothing is left to train with, as a C `float` has it. */
export function checkValidation(part: number): void {
  if (Math.fround(part) < 1) return;
  throw new InvalidArgumentError(`validation is ${part}; give a number below 1`, { value: part, expected: "below 1" });
}

/** Returns the number of datapoints to train with, a multiple of `step`, when a part is evaluated only. */
export function trainedPart(count: number, validation: number, step: number): number {
  return Math.floor((1 - validation) * count / step) * step;
}

/** Returns the progress of a pass with so many batches done, of which the first `trained` are trained with. */
export function progressOf(epoch: number, done: number, trained: number, batches: number): TrainingProgress {
  return done <= trained
    ? { phase: "train", epoch, batch: done, batches: trained }
    : { phase: "evaluation", epoch, batch: done - trained, batches: batches - trained };
}
