import { open } from "../../../ffi/mod.ts";
import { startThread } from "../../worker/start.ts";
import { pullSettings, threadOptions, watchedLoad } from "../../support/load_options.ts";
import { ThreadPool, type WhisperThread } from "./thread_pool.ts";
import { checkWhisper, localInput, type WhisperOptions, type WhisperSource } from "./load_options.ts";
import type { GpuChoice } from "../thread/protocol.ts";
import type { WhisperTasks } from "../thread/tasks.ts";
import { checkSource } from "../../models/source.ts";
import { readVad } from "../vad/source.ts";
import { createWhisper, type Whisper } from "./whisper.ts";

/** The first GPU, if there is one. */
const AUTO: GpuChoice = { useGpu: true, gpuDevice: 0 };

/**
 * Loads a Whisper model in whisper.cpp's format: from a path or a `file:` URL, from an `https:` URL or the Hugging Face Hub (`hf:owner/repo/file.bin`), which
 * is downloaded into the cache once, from bytes or a Blob. The file is validated first; the load runs on a native thread, so the event loop stays free.
 *
 * Throws {@linkcode InvalidArgumentError} for a bad option, ModelNotFoundError, ModelAccessError, NotWhisperModelError, WhisperTruncatedError or
 * WhisperFormatError for a bad file, ModelDownloadError, ModelHashError or ModelCacheError for a model at an address, ModelLoadError when whisper.cpp refuses, one of the Library…Errors when the native libraries can't be used, and the
 * signal's reason.
 */
export async function loadWhisper(source: WhisperSource | Blob, options?: WhisperOptions): Promise<Whisper> {
  const settings = checkWhisper(options);
  const checked = checkSource(source);
  settings.signal?.throwIfAborted();
  const model = await localInput(checked, pullSettings(settings));
  const vad = await readVad(settings.vadModel);
  const native = open(settings.libraryPath === undefined ? {} : { libraryPath: settings.libraryPath });
  const start = async (): Promise<WhisperThread> => await startThread<WhisperTasks>(native, threadOptions(settings));
  const [opened, thread] = await Promise.all([native, start()]);
  const { signal, onMessage } = watchedLoad(settings);
  try {
    const { devices, flashAttention, alignmentHeads } = settings;
    // Only where some were given: the classes of ggml aren't needed else.
    const gpu = devices === undefined ? AUTO : (await import("./devices.ts")).chooseGpu(opened, devices);
    const loaded = await thread.run("loadWhisper", { model, gpu, flashAttention, alignmentHeads }, {
      signal,
      onMessage,
      transfer: "bytes" in model ? [model.bytes.buffer] : [],
    });
    if (signal.aborted) await thread.run("unloadWhisper", loaded.context);
    signal.throwIfAborted();
    const path = "path" in model ? model.path : undefined;
    return createWhisper({
      native: opened,
      pool: new ThreadPool(thread, start, settings.parallel),
      loaded,
      settings,
      vad,
      path,
    });
  } catch (error) {
    await thread[Symbol.asyncDispose]();
    throw error;
  }
}
