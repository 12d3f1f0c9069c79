import process from "node:process";
import { defaultModelPath, loadModel, type Model, type ModelOptions } from "../mod.ts";
import type { Flag, Given } from "./flags.ts";
import { ProgressBar } from "./terminal.ts";

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

/** Loads the model that the flags ask for, with a progress bar on a terminal. */
export async function loadGivenModel(given: Given, signal: AbortSignal): Promise<Model> {
  const path = given.text("model") ?? await defaultModelPath();
  const contextSize = given.number("ctx-size");
  const threads = given.number("threads");
  const gpuLayers = given.number("gpu-layers");
  using bar = new ProgressBar("loading the model");
  const options: ModelOptions = {
    signal,
    onProgress: (share) => bar.draw(share),
    ...(contextSize === undefined ? {} : { contextSize }),
    ...(threads === undefined ? {} : { threads }),
    ...(gpuLayers === undefined ? {} : { gpuLayers }),
    ...(given.has("verbose") ? { onLog: (text: string) => void process.stderr.write(text) } : {}),
  };
  return await loadModel(path, options);
}
