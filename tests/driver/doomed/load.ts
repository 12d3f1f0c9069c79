/** Models whose native thread can be made to abort. */

import { open } from "../../../ffi/mod.ts";
import { NativeThread } from "../../../ffi/thread/native_thread.ts";
import { readGgufHeader } from "../../../lib/ggml/mod.ts";
import { bytesPerToken } from "../../../lib/llama/model/kv_size.ts";
import { createModel, type Model } from "../../../lib/llama/model/model.ts";
import { ModelHandle } from "../../../lib/llama/model/model_handle.ts";
import { checkWhisper } from "../../../lib/whisper/model/load_options.ts";
import { ThreadPool, type WhisperThread } from "../../../lib/whisper/model/thread_pool.ts";
import { createWhisper, type Whisper } from "../../../lib/whisper/model/whisper.ts";
import type { tasks } from "./entry.ts";

/** A model, and the way to make its thread abort. */
export interface Doomed<M> {
  readonly model: M;
  /** Aborts, after the work that was asked for before; rejects when that is contained. */
  fail(): Promise<void>;
}

const entry = new URL("./entry.ts", import.meta.url);

/** Loads a language model. */
export async function loadDoomedModel(path: string): Promise<Doomed<Model>> {
  const native = await open();
  const thread = await NativeThread.start<typeof tasks>(native, { entry });
  const header = await readGgufHeader(path);
  const loaded = await thread.run("load", {
    path,
    vocabOnly: false,
    contextSize: 256,
    bytesPerToken: bytesPerToken(header),
    batchSize: 256,
    threads: 1,
    gpuLayers: undefined,
    mmap: undefined,
    progress: false,
    cancellable: false,
  });
  const handle = new ModelHandle({ native, thread, loaded, header, path, devices: undefined });
  return { model: createModel(handle), fail: () => thread.run("fault", undefined) };
}

/** Loads a speech model. */
export async function loadDoomedWhisper(path: string): Promise<Doomed<Whisper>> {
  const native = await open();
  const thread = await NativeThread.start<typeof tasks>(native, { entry });
  const settings = checkWhisper({ threads: 1 });
  const gpu = { useGpu: false, gpuDevice: 0 };
  const { flashAttention, alignmentHeads } = settings;
  const loaded = await thread.run("loadWhisper", { model: { path }, gpu, flashAttention, alignmentHeads });
  const start = () => Promise.reject(new RangeError("one thread is enough"));
  const pool = new ThreadPool(thread as unknown as WhisperThread, start, 1);
  return {
    model: createWhisper({ native, pool, loaded, settings, vad: undefined, path }),
    fail: () => thread.run("fault", undefined),
  };
}
