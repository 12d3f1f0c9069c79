/**
 * Creates the native objects of an {@linkcode Optimizer}.
 *
 * @module
 */

import { brands } from "../brands.ts";
import type { ggml_opt_optimizer_params, Native, Pointer, StructView } from "../../../ffi/mod.ts";
import type { Backend } from "../backend/backend.ts";
import { ComputeThread } from "../backend/compute_thread.ts";
import { GgmlContext } from "../tensor/context.ts";
import { Scheduler } from "../scheduler/scheduler.ts";
import { retainBuffers } from "./check.ts";
import {
  checkSettings,
  GRAPH_SIZE,
  makeCapacity,
  makeModel,
  type Model,
  type OptimizerSettings,
  setNumbers,
} from "./model.ts";
import { kindNumber, lossNumber } from "./options.ts";
import type { OptimizerOptions } from "./types.ts";

/** C: `enum ggml_opt_build_type`. */
const buildTypes = { forward: 10, optimize: 30 } as const;

/** A native optimizer with what it needs. */
export interface StartedTraining {
  /** The libraries that it came from. */
  readonly native: Native;
  /** The native optimizer, which the caller owns. */
  readonly pointer: Pointer<"ggml_opt_context">;
  /** The thread that computes. */
  readonly thread: ComputeThread;
  /** The checked options. */
  readonly settings: OptimizerSettings;
  /** The model, when it is always the same. */
  readonly model: Model | undefined;
  /** The numbers of the optimizer, which C reads before each step. */
  readonly numbers: StructView<ggml_opt_optimizer_params>;
  /** By which its own tensors are handed out. */
  readonly own: GgmlContext;
  /** Releases what it depends on; called once it is freed. */
  release(this: void): void;
}

/** Creates a native optimizer on a native thread. Throws as `Optimizer.create` does. C: `ggml_opt_init`, `ggml_opt_default_params`. */
export async function startTraining(options: OptimizerOptions): Promise<StartedTraining> {
  const settings = checkSettings(options);
  const { native } = settings.backends[0] as Backend;
  const model = modelOf(settings);
  const numbers = native.struct("ggml_opt_optimizer_params");
  setNumbers(numbers, settings.kind, settings.parameters);
  const scheduler = new Scheduler(settings.backends, { graphSize: GRAPH_SIZE, opOffload: false });
  const capacity = model === undefined ? undefined : makeCapacity(native);
  if (model !== undefined && capacity !== undefined) brands.context.of(capacity).use(model.outputs.context);
  const params = native.assign(native.defaults("ggml_opt_params"), {
    backend_sched: scheduler.unsafePointer,
    loss_type: lossNumber(settings.loss),
    build_type: settings.evaluateOnly ? buildTypes.forward : buildTypes.optimize,
    opt_period: settings.period,
    get_opt_pars: native.symbol("ggml_opt_get_constant_optimizer_params"),
    get_opt_pars_ud: numbers,
    optimizer: kindNumber(settings.kind),
    ctx_compute: capacity?.unsafePointer ?? null,
    inputs: model?.inputs.unsafePointer ?? null,
    outputs: model?.outputs.unsafePointer ?? null,
  });
  const thread = new ComputeThread(native);
  const releases = retainModel(model);
  try {
    const bytes = native.bytesOf(params).slice();
    const pointer = await thread.run(releases, (one) => one.run("initTraining", bytes));
    const own = new GgmlContext(native, { maxTensors: 1 });
    const retained = retainModel(model);
    const release = (): void => {
      // C reads them before each step.
      void numbers;
      scheduler.dispose();
      capacity?.dispose();
      for (const one of retained) one();
    };
    return { native, pointer, thread, settings, model, numbers, own, release };
  } catch (error) {
    thread.end();
    // After an abort native code may still hold it.
    if (thread.lost === undefined) {
      scheduler.dispose();
      capacity?.dispose();
    }
    throw error;
  }
}

/** The model, when it is always the same. Throws for one that can't be trained. */
function modelOf({ inputs, outputs, loss, evaluateOnly }: OptimizerSettings): Model | undefined {
  if (inputs === undefined || outputs === undefined) return undefined;
  const model = makeModel(inputs, outputs, loss, !evaluateOnly);
  retainBuffers(model.reached).forEach((release) => release());
  return model;
}

/** Retains the memory of a model; its context can't be reset until the returned functions are called. */
function retainModel(model: Model | undefined): (() => void)[] {
  return model === undefined ? [] : [brands.context.of(model.outputs.context).lock(), ...retainBuffers(model.reached)];
}
