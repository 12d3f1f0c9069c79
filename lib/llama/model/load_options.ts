import { fileURLToPath } from "node:url";
import type { Device } from "../../ggml/backend/device.ts";
import type { RemoteDevice } from "../../ggml/rpc/protocol.ts";
import { InvalidArgumentError } from "../../errors.ts";
import {
  type CheckedLoadOptions,
  checkLoadOptions,
  loadOptionNames,
  type LoadOptions,
} from "../../support/load_options.ts";
import { checkBoolean, checkInteger, checkOptions, checkText, isInstance, show } from "../../support/check.ts";

/** How a model is loaded. */
export interface ModelOptions extends LoadOptions {
  /**
   * How many tokens the context holds, prompt and answer together. 1 to 2,147,483,647, default the smaller of 4096 and what the model was trained for.
   * llama.cpp rounds it up; `model.info.contextSize` has what it really is. C: `n_ctx`.
   */
  contextSize?: number | undefined;
  /** How many tokens of a prompt are given to one decode. 1 to 2,147,483,647, default 2048; never more than the context holds. C: `n_batch`. */
  batchSize?: number | undefined;
  /** How many threads compute, at most. 1 to 4096, default one for each core; never more than that. C: `n_threads`, `n_threads_batch`. */
  threads?: number | undefined;
  /** How many layers go to a GPU. 0 to 2,147,483,647, default all if there is a GPU. C: `n_gpu_layers`. */
  gpuLayers?: number | undefined;
  /**
   * Where its layers go, shared out by how much memory is free: devices of this machine, from a Registry, and of others, from `connectRpc`. Default the
   * graphics cards, or the processor. C: `devices`.
   */
  devices?: readonly (RemoteDevice | Device)[] | undefined;
  /** Map the file into memory (true), or read it (false). Default what llama.cpp finds best for the device. C: `load_mode`. */
  mmap?: boolean | undefined;
}

/** Checked options of a load. */
export interface LoadSettings extends CheckedLoadOptions {
  /** See {@linkcode ModelOptions.contextSize}. */
  contextSize: number | undefined;
  /** See {@linkcode ModelOptions.batchSize}. */
  batchSize: number;
  /** See {@linkcode ModelOptions.threads}. */
  threads: number;
  /** See {@linkcode ModelOptions.gpuLayers}. */
  gpuLayers: number | undefined;
  /** See {@linkcode ModelOptions.devices}; not yet checked: `deviceOpener` does that, and is loaded only when there are some. */
  devices: readonly (RemoteDevice | Device)[] | undefined;
  /** See {@linkcode ModelOptions.mmap}. */
  mmap: boolean | undefined;
}

const names = [
  "contextSize",
  "batchSize",
  "threads",
  "gpuLayers",
  "devices",
  "mmap",
  ...loadOptionNames,
] as const;
const LARGEST = 0x7fff_ffff;
/** Upstream's default. */
const DEFAULT_BATCH_SIZE = 2048;
const MAX_THREADS = 4096;

/** Checks the options of `loadModel`. Throws {@linkcode InvalidArgumentError}. */
export function checkLoad(options: ModelOptions | undefined): LoadSettings {
  const given: ModelOptions = checkOptions("loadModel", options, names);
  const cores = navigator.hardwareConcurrency;
  const {
    contextSize,
    batchSize = DEFAULT_BATCH_SIZE,
    threads = cores,
    gpuLayers,
    devices,
    mmap,
  } = given;
  return {
    ...checkLoadOptions(given),
    contextSize: contextSize === undefined
      ? undefined
      : checkInteger("contextSize", contextSize, { min: 1, max: LARGEST }),
    batchSize: checkInteger("batchSize", batchSize, { min: 1, max: LARGEST }),
    threads: Math.min(cores, checkInteger("threads", threads, { min: 1, max: MAX_THREADS })),
    gpuLayers: gpuLayers === undefined ? undefined : checkInteger("gpuLayers", gpuLayers, { min: 0, max: LARGEST }),
    devices,
    mmap: mmap === undefined ? undefined : checkBoolean("mmap", mmap),
  };
}

/** The path that a path or a file URL stands for. Throws {@linkcode InvalidArgumentError} for anything else. */
export function modelPath(source: string | URL): string {
  if (isInstance(source, URL)) return pathOfUrl(source);
  const path = checkText("the path of the model", source);
  if (path === "") {
    throw new InvalidArgumentError("the path of the model is empty; give the path of a .gguf file", {
      value: path,
      expected: "a path",
    });
  }
  if (path.includes("\0")) {
    throw new InvalidArgumentError(`the path of the model holds a NUL character: ${show(path)}`, {
      value: path,
      expected: "a path without \\0",
    });
  }
  // One letter is a drive of Windows; a path may have a colon, and then no two slashes behind it.
  if (/^file:/i.test(path)) return pathOfUrl(path);
  if (/^([a-z][a-z0-9+.-]+:\/\/|(hf|huggingface|data|blob):)/i.test(path)) refuseAddress(path);
  return path;
}

function refuseAddress(address: string): never {
  throw new InvalidArgumentError(
    `${
      show(address)
    } is an address, and models at addresses aren't supported yet; download the file and give its path, or its file: URL`,
    { value: address, expected: "a path, or a file: URL" },
  );
}

function pathOfUrl(source: string | URL): string {
  const url = URL.parse(source);
  if (url?.protocol === "file:") {
    try {
      return fileURLToPath(url);
    } catch (cause) {
      refuseUrl(source, cause);
    }
  }
  if (url === null) refuseUrl(source);
  refuseAddress(url.href);
}

function refuseUrl(source: string | URL, cause?: unknown): never {
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  throw new InvalidArgumentError(
    `${
      show(String(source))
    } is no file: URL of a file on this machine${why}; give a path, or a URL made by pathToFileURL`,
    { value: String(source), expected: "a file: URL such as file:///models/model.gguf", cause },
  );
}
