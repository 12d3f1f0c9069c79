import { open } from "../../../ffi/mod.ts";
import { startThread } from "../../worker/start.ts";
import type { Native } from "../../../ffi/native.ts";
import type { GgufHeader } from "../../gguf/header.ts";
import { pullSettings, threadOptions, watchedLoad } from "../../support/load_options.ts";
import { bytesPerToken } from "./kv_size.ts";
import { checkLoad, type LoadSettings, type ModelOptions } from "./load_options.ts";
import { localSource } from "../../models/resolve.ts";
import { checkSource, type ModelSource } from "../../models/source.ts";
import { createModel, type Model } from "./model.ts";
import { ModelHandle, type ModelThread } from "./model_handle.ts";
import type { OpenDevices } from "./devices.ts";
import { type ModelInput, type OpenInput, openInput, readInput } from "./model_input.ts";
import type { LlamaTasks } from "../thread/tasks.ts";

/**
 * Loads a model: from a path or a `file:` URL, from an `https:` URL, or from the Hugging Face Hub, `hf:owner/repo/file.gguf`, which is
 * downloaded into the cache first, once; from an open file, bytes or a Blob. The header of the file is checked before native code reads it; the load runs on a native thread and doesn't block the event loop.
 *
 * Throws {@linkcode InvalidArgumentError} for a bad option, ModelNotFoundError, ModelAccessError, NotGgufError, GgufVersionError, GgufByteOrderError,
 * GgufTruncatedError or GgufFormatError for a bad file, ModelDownloadError, ModelHashError, ModelCacheError or ModelPartError for a model at an address, ModelLoadError or ContextError when llama.cpp refuses, one of the Library…Errors when the native
 * libraries can't be used, and the signal's reason.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadModel } from "./load_model.ts";
 * import { defaultModelPath } from "../../models/default_model.ts";
 *
 * await using model = await loadModel(await defaultModelPath(), { contextSize: 1024 });
 * const { text } = await model.complete("1, 2, 3,", { maxTokens: 4, temperature: 0 });
 * assert.match(text, /4/);
 * ```
 */
export async function loadModel(source: ModelSource, options?: ModelOptions): Promise<Model> {
  const checked = checkSource(source);
  const settings = checkLoad(options);
  // The code for other machines is loaded only if devices are given.
  const openDevices = settings.devices === undefined
    ? undefined
    : (await import("./devices.ts")).deviceOpener(settings.devices);
  settings.signal?.throwIfAborted();
  const local = await localSource(checked, pullSettings(settings));
  const [{ path, header }, [native, thread]] = await both(readInput(local), openOnThread(settings));
  const { signal, onMessage } = watchedLoad(settings);
  let devices: OpenDevices | undefined;
  try {
    devices = await openDevices?.(thread, signal);
    using input = await openInput(local, native, signal);
    const loaded = await thread.run("load", {
      path,
      file: input === undefined
        ? undefined
        : { fd: input.fd, offset: input.offset, mappable: isMappable(input, header) },
      vocabOnly: header.tensors.length === 0,
      contextSize: settings.contextSize,
      bytesPerToken: bytesPerToken(header),
      batchSize: settings.batchSize,
      threads: settings.threads,
      gpuLayers: settings.gpuLayers,
      devices: devices?.pointers,
      mmap: settings.mmap,
      progress: settings.onProgress !== undefined,
      cancellable: settings.signal !== undefined,
    }, { signal, onMessage });
    if (signal.aborted) await thread.run("unload", loaded);
    signal.throwIfAborted();
    return createModel(new ModelHandle({ native, thread, loaded, header, path, devices }));
  } catch (error) {
    await devices?.close();
    await thread[Symbol.asyncDispose]();
    throw error;
  }
}

/** What ggml wants the data of tensors to be aligned to. */
const ALIGNMENT = 32;

/** Whether a model inside of a larger file can be mapped. */
function isMappable({ offset }: OpenInput, { dataOffset }: GgufHeader): boolean {
  return (offset + dataOffset) % ALIGNMENT === 0;
}

/** Opens the libraries, and starts a thread meanwhile. */
function openOnThread(settings: LoadSettings): Promise<[Native, ModelThread]> {
  const native = open(settings.libraryPath === undefined ? {} : { libraryPath: settings.libraryPath });
  return Promise.all([native, startThread<LlamaTasks>(native, threadOptions(settings))]);
}

/** Returns both results. If the header is bad, rejects with that error and gives the thread back. */
async function both(
  header: Promise<ModelInput>,
  thread: Promise<[Native, ModelThread]>,
): Promise<[ModelInput, [Native, ModelThread]]> {
  const [first, second] = await Promise.allSettled([header, thread]);
  if (first.status === "rejected") {
    if (second.status === "fulfilled") await second.value[1][Symbol.asyncDispose]();
    throw first.reason;
  }
  if (second.status === "rejected") throw second.reason;
  return [first.value, second.value];
}
