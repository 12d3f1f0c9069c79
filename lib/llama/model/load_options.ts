import { fileURLToPath } from "node:url";
import type { Device } from "../../ggml/backend/device.ts";
import type { RemoteDevice } from "../../ggml/rpc/protocol.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { type LoadOptions, loadRules } from "../../support/load_options.ts";
import { checkText, isInstance, show } from "../../support/check.ts";
import { boolean, custom, integer, options, type RulesOf, type Settings } from "../../support/options.ts";

/** Options of `loadModel`. */
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

/** The largest number of C's `int`. */
const MAX_INT = 0x7fff_ffff;
/** Upstream's default. */
const DEFAULT_BATCH_SIZE = 2048;
const MAX_THREADS = 4096;

const spec = options(
  "loadModel",
  {
    contextSize: integer({ min: 1, max: MAX_INT }),
    batchSize: integer({ min: 1, max: MAX_INT, default: DEFAULT_BATCH_SIZE }),
    threads: integer({ min: 1, max: MAX_THREADS, default: () => navigator.hardwareConcurrency }),
    gpuLayers: integer({ min: 0, max: MAX_INT }),
    // `deviceOpener` checks them, and is loaded only when there are some.
    devices: custom("an array of devices", (_, value) => value as readonly (RemoteDevice | Device)[]),
    mmap: boolean(),
    ...loadRules,
  } satisfies RulesOf<ModelOptions>,
);

/** {@linkcode ModelOptions}, checked; but for `devices`. */
export type LoadSettings = Settings<typeof spec>;

/** Checks the options of `loadModel`. Throws {@linkcode InvalidArgumentError}. */
export function checkLoad(given: ModelOptions | undefined): LoadSettings {
  const settings = spec.check(given);
  return { ...settings, threads: Math.min(navigator.hardwareConcurrency, settings.threads) };
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
