import type { Model, ModelOptions } from "../mod.ts";
import { UsageError } from "./errors.ts";
import type { Flag, Given } from "./flags.ts";
import { ProgressBar, say, styled } from "./terminal.ts";

/** The flag that names the model file. */
export const MODEL_FLAG: Flag = {
  name: "model",
  short: "m",
  takes: "text",
  placeholder: "FILE",
  help: "the model, a GGUF file (default: the one that `npm run setup` brings)",
};

/** The flags that decide how a model is loaded. */
export const MODEL_FLAGS: readonly Flag[] = [
  MODEL_FLAG,
  {
    name: "ctx-size",
    short: "c",
    takes: "integer",
    min: 1,
    max: 2 ** 31 - 1,
    help: "tokens that the context holds, prompt and answer together (default: 4096, or what the model allows if less)",
  },
  {
    name: "threads",
    short: "t",
    takes: "integer",
    min: 1,
    max: 4096,
    help: "threads to compute with (default: one a core)",
  },
  {
    name: "gpu-layers",
    also: ["-ngl", "--n-gpu-layers"],
    takes: "integer",
    min: 0,
    max: 2 ** 31 - 1,
    help: "layers to put on a GPU (default: all, if there is a GPU)",
  },
];

/**
 * Loads the model that the flags ask for, with a progress bar on a terminal.
 *
 * @param argument a model that was given without a flag.
 */
export async function loadGivenModel(given: Given, signal: AbortSignal, argument?: string): Promise<Model> {
  const flag = given.text("model");
  if (flag !== undefined && argument !== undefined) {
    throw new UsageError(`the model was given twice: "${flag}" by -m, and "${argument}"`);
  }
  // Only now: help and wrong usage don't wait for it.
  const { defaultModelPath, loadModel } = await import("../mod.ts");
  const path = flag ?? argument ?? await defaultModelPath();
  const contextSize = given.number("ctx-size");
  const threads = given.number("threads");
  const gpuLayers = given.number("gpu-layers");
  const verbose = given.has("verbose");
  using bar = new ProgressBar("loading the model");
  const options: ModelOptions = {
    signal,
    ...(verbose ? { onLog: ({ text }) => say(styled("dim", text)) } : { onProgress: (share) => bar.draw(share) }),
    ...(contextSize === undefined ? {} : { contextSize }),
    ...(threads === undefined ? {} : { threads }),
    ...(gpuLayers === undefined ? {} : { gpuLayers }),
  };
  const started = performance.now();
  const model = await loadModel(path, options);
  bar[Symbol.dispose]();
  if (verbose) await sayLoaded(model, performance.now() - started);
  return model;
}

async function sayLoaded({ info }: Model, ms: number): Promise<void> {
  const { librariesInfo } = await import("../mod.ts");
  const { llamaVersion, directory, cpuBackend } = await librariesInfo();
  say(`llama.cpp ${llamaVersion} from ${directory}, kernels ${cpuBackend}`);
  say(`${info.description} from ${info.path}, loaded in ${ms.toFixed(0)} ms`);
  say(`context of ${info.contextSize} tokens, batches of ${info.batchSize}, ${info.threads} threads`);
}
