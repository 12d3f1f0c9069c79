import type { Device } from "../../ggml/backend/device.ts";
import type { RemoteDevice } from "../../ggml/rpc/protocol.ts";
import { type LoadOptions, loadRules } from "../../support/load_options.ts";
import { boolean, custom, integer, options, type RulesOf, type Settings } from "../../../base/options.ts";

/** Options of `loadModel`. */
export interface ModelOptions extends LoadOptions {
  /**
   * The size of the context in tokens, for prompt and answer together. 1 to 2,147,483,647, default the smaller of 4096 and the size that the model was
   * trained for. llama.cpp rounds it up; `model.info.contextSize` is the actual size. C: `n_ctx`.
   */
  contextSize?: number | undefined;
  /** The number of prompt tokens per decode. 1 to 2,147,483,647, default 2048; at most the context size. C: `n_batch`. */
  batchSize?: number | undefined;
  /** The maximum number of compute threads. 1 to 4096, default one per core; never more than that. C: `n_threads`, `n_threads_batch`. */
  threads?: number | undefined;
  /** The number of layers on a GPU. 0 to 2,147,483,647, default all if there is a GPU. C: `n_gpu_layers`. */
  gpuLayers?: number | undefined;
  /**
   * The devices for the layers, which are distributed by free memory: devices of this machine, from a Registry, and of others, from `connectRpc`. Default
   * all GPUs, or the CPU. C: `devices`.
   */
  devices?: readonly (RemoteDevice | Device)[] | undefined;
  /** Maps the file into memory (true), or reads it (false). Default llama.cpp's choice for the device. C: `load_mode`. */
  mmap?: boolean | undefined;
}

/** The largest number of C's `int`. */
const MAX_INT = 0x7fff_ffff;
/** Upstream's default. */
const DEFAULT_BATCH_SIZE = 2048;
const MAX_THREADS = 4096;

/** The specification of {@linkcode ModelOptions}. */
export const loadModelSpec = options(
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
export type LoadSettings = Settings<typeof loadModelSpec>;

/** Checks the options of `loadModel`. Throws {@linkcode InvalidArgumentError}. */
export function checkLoad(given: ModelOptions | undefined): LoadSettings {
  const settings = loadModelSpec.check(given);
  return { ...settings, threads: Math.min(navigator.hardwareConcurrency, settings.threads) };
}
