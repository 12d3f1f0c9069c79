import { loadModelSpec } from "../../lib/llama/model/load_options.ts";
import type { Model, ModelOptions } from "../../mod.ts";
import { UsageError } from "../errors.ts";
import { say, styled } from "../terminal/output.ts";
import { DownloadBar } from "../terminal/download_bar.ts";
import { ProgressBar } from "../terminal/progress_bar.ts";
import { type Flag, grouped, optionFlag } from "./flag.ts";
import type { Given } from "./parse.ts";

const { rules } = loadModelSpec;

/** The flag that names the model file. */
export const MODEL_FLAG: Flag = {
  name: "model",
  short: "m",
  takes: "text",
  placeholder: "MODEL",
  default: "a small one",
  group: "Model",
  help: "the model: a GGUF file, an https: URL, or hf:owner/repo/file.gguf; addresses are downloaded once",
};

/** The flags that decide how a model is loaded. */
export const MODEL_FLAGS: readonly Flag[] = grouped("Model", [
  MODEL_FLAG,
  optionFlag("contextSize", rules, {
    name: "ctx-size",
    short: "c",
    default: "4096, or what the model was trained for if less",
    help: "tokens that the context holds, prompt and answer together",
  }),
  optionFlag("threads", rules, {
    name: "threads",
    short: "t",
    default: "one per core",
    help: "maximum number of compute threads",
  }),
  optionFlag("gpuLayers", rules, {
    name: "gpu-layers",
    also: ["-ngl", "--n-gpu-layers"],
    default: "all, if there is a GPU",
    help: "layers to put on a GPU",
  }),
  {
    name: "rpc",
    takes: "text",
    placeholder: "HOST:PORT",
    many: true,
    option: "devices",
    help: "compute on the devices of this RPC server (see rpc-server)",
  },
  {
    name: "no-mmap",
    option: "mmap",
    help: "read the file into memory instead of mapping it",
  },
]);

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
  const { loadModel } = await import("../../mod.ts");
  using download = new DownloadBar();
  const path = flag ?? argument ?? await givenDefault(signal, download);
  const verbose = given.has("verbose");
  const devices = await remoteDevices(given, signal);
  using bar = new ProgressBar("loading the model");
  const options: ModelOptions = {
    signal,
    download: { onProgress: (progress) => download.draw(progress) },
    contextSize: given.number("ctx-size"),
    threads: given.number("threads"),
    gpuLayers: given.number("gpu-layers"),
    devices,
    mmap: given.has("no-mmap") ? false : undefined,
    ...(verbose ? { onLog: ({ text }) => say(styled("dim", text)) } : { onProgress: (share) => bar.draw(share) }),
  };
  const started = performance.now();
  const model = await loadModel(path, options);
  bar[Symbol.dispose]();
  if (verbose) await sayLoaded(model, performance.now() - started);
  return model;
}

/** The path of the default model, which is downloaded on the first run. */
async function givenDefault(signal: AbortSignal, bar: DownloadBar): Promise<string> {
  const { pullDefaultModel } = await import("../../lib/models/pull_default.ts");
  const path = await pullDefaultModel({ signal, onProgress: (progress) => bar.draw(progress) });
  bar[Symbol.dispose]();
  return path;
}

/** The devices of the servers that `--rpc` names, upstream's list with commas too. */
async function remoteDevices(given: Given, signal: AbortSignal): Promise<ModelOptions["devices"]> {
  const endpoints = given.texts("rpc").flatMap((text) => text.split(","));
  if (endpoints.length === 0) return undefined;
  const { connectRpc } = await import("../../lib/ggml/mod.ts");
  const servers = await Promise.all(endpoints.map((endpoint) => connectRpc(endpoint, { signal })));
  return servers.flatMap(({ devices }) => devices);
}

/** The name of a model as people know it. */
export function modelName({ info }: Model): string {
  return `${info.name ?? info.path.replace(/^.*[\\/]/, "")} (${info.description})`;
}

async function sayLoaded(model: Model, ms: number): Promise<void> {
  const { librariesInfo } = await import("../../mod.ts");
  const { llamaVersion, directory, cpuBackend } = await librariesInfo();
  const { info } = model;
  say(`llama.cpp ${llamaVersion} from ${directory}, kernels ${cpuBackend}`);
  say(`${modelName(model)} from ${info.path}, loaded in ${ms.toFixed(0)} ms`);
  say(`context of ${info.contextSize} tokens, batches of ${info.batchSize}, ${info.threads} threads`);
}
