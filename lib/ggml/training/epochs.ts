/**
 * Checks of the options of passes over a dataset.
 *
 * @module
 */

import { InvalidArgumentError } from "../../errors.ts";
import {
  checkBoolean,
  checkFunction,
  checkInteger,
  checkNumber,
  checkOptions,
  checkSignal,
} from "../../../base/check.ts";
import { LARGEST } from "./model.ts";
import type { EpochOptions, FitOptions, TrainingProgress } from "./types.ts";

const epochNames = ["split", "train", "evaluation", "onProgress", "signal"] as const;
const fitNames = ["epochs", "validation", "shuffle", "schedule", "onProgress", "onEpoch", "signal"] as const;

/** Checks how a pass is made; `split` is left to the caller. Throws {@linkcode InvalidArgumentError}, or the reason of a signal that is aborted. */
export function checkEpoch(options: EpochOptions | undefined): EpochOptions {
  const given: EpochOptions = checkOptions("epoch", options, epochNames);
  const { onProgress, signal } = given;
  if (signal !== undefined) checkSignal("signal", signal).throwIfAborted();
  if (onProgress !== undefined) checkFunction("onProgress", onProgress);
  return given;
}

/** Checks how a model is fitted; what each pass checks is left to it. Throws {@linkcode InvalidArgumentError}. */
export function checkFit(options: FitOptions): FitOptions & { readonly shuffle: boolean } {
  const given = checkOptions("fit", options, fitNames) as FitOptions;
  const epochs = checkInteger("epochs", given.epochs, { min: 1, max: LARGEST });
  const { schedule, onEpoch } = given;
  if (onEpoch !== undefined) checkFunction("onEpoch", onEpoch);
  if (schedule !== undefined) checkFunction("schedule", schedule);
  return { ...given, epochs, shuffle: checkBoolean("shuffle", given.shuffle ?? true) };
}

/** Returns the number of datapoints to train with, a multiple of `step`, when a part is evaluated only. Throws {@linkcode InvalidArgumentError}. */
export function trainedPart(count: number, validation: number | undefined, step: number): number {
  const part = checkNumber("validation", validation ?? 0, { min: 0, max: 1 });
  if (part === 1) {
    throw new InvalidArgumentError("validation is 1; give a number below 1", { value: 1, expected: "below 1" });
  }
  return Math.floor((1 - part) * count / step) * step;
}

/** Returns the progress of a pass with so many batches done, of which the first `trained` are trained with. */
export function progressOf(epoch: number, done: number, trained: number, batches: number): TrainingProgress {
  return done <= trained
    ? { phase: "train", epoch, batch: done, batches: trained }
    : { phase: "evaluation", epoch, batch: done - trained, batches: batches - trained };
}
