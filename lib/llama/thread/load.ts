/**
 * Loading a model and making its context, on the native thread.
 *
 * @module
 */

import type { NativeCallback } from "../../../ffi/call/callback.ts";
import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { ContextError, ModelLoadError } from "../../errors.ts";
import { loggedErrors } from "../../support/native_log.ts";
import { addContext, ContextState, removeContext } from "./context_state.ts";
import type { LoadedModel, LoadInput, ModelFacts } from "./protocol.ts";

/** Default context size for a model that was trained for more. */
const DEFAULT_CONTEXT_SIZE = 4096;
/** Physical batch size; llama.cpp's default. C: `n_ubatch`. */
const MICRO_BATCH_SIZE = 512;
/** `LLAMA_LOAD_MODE_NONE` and `_MMAP`. */
const READ_FILE = 0;
const MAP_FILE = 1;

/** Loads a model. Posts numbers from 0 to 1 if progress is wanted. */
export function load(input: LoadInput, task: TaskContext<number>): LoadedModel {
  const { native, lib } = task;
  const model = loadFile(input, task);
  try {
    const vocab = lib.llama_model_get_vocab(model);
    if (vocab === null) {
      throw new ModelLoadError(`${input.path} has no vocabulary`, {
        value: input.path,
        expected: "a model with a vocabulary",
      });
    }
    task.throwIfCancelled();
    const context = input.vocabOnly ? null : createContext(input, model, task);
    if (context !== null) addContext(new ContextState(native, context, vocab, input.threads));
    return { model, vocab, context, facts: facts(native, model, vocab, context, input) };
  } catch (error) {
    lib.llama_model_free(model);
    throw error;
  }
}

function loadFile(input: LoadInput, task: TaskContext<number>): Pointer<"llama_model"> {
  const { native, lib } = task;
  const params = native.defaults("llama_model_params");
  params.vocab_only = input.vocabOnly;
  if (input.gpuLayers !== undefined) params.n_gpu_layers = input.gpuLayers;
  // The array ends with a NULL.
  if (input.devices !== undefined) native.assign(params, { devices: BigUint64Array.of(...input.devices, 0n) });
  if (input.mmap !== undefined) params.load_mode = input.mmap ? MAP_FILE : READ_FILE;
  using progress = watch(input, task);
  if (progress !== undefined) params.progress_callback = progress.pointer;
  const mark = native.logMark();
  if (input.file?.mappable === false) params.load_mode = READ_FILE;
  using stream = input.file === undefined ? undefined : native.openStream(input.file.fd, input.file.offset);
  const model = stream === undefined
    ? lib.llama_model_load_from_file(input.path, params)
    : lib.llama_model_load_from_file_ptr(stream.pointer, params);
  if (model !== null) return model;
  task.throwIfCancelled();
  const reason = loggedErrors(native, mark) ?? "the architecture may be unknown to this version";
  throw new ModelLoadError(
    `llama.cpp can't load ${input.path}, though its header is sound: ${reason}`,
    {
      value: input.path,
      expected: "a model that llama.cpp supports",
    },
  );
}

/** Returns a callback for llama.cpp, called between tensors: reports progress, and returns whether to continue. */
function watch(
  { progress, cancellable }: LoadInput,
  { native, post, cancelled }: TaskContext<number>,
): NativeCallback<"llama_progress_callback"> | undefined {
  if (!progress && !cancellable) return undefined;
  return native.callback("llama_progress_callback", (part) => {
    if (progress) post(part);
    return !cancelled();
  });
}

function createContext(
  input: LoadInput,
  model: Pointer<"llama_model">,
  { native, lib, cancel }: TaskContext,
): Pointer<"llama_context"> {
  const trained = lib.llama_model_n_ctx_train(model);
  const size = input.contextSize ?? (trained > 0 ? Math.min(trained, DEFAULT_CONTEXT_SIZE) : DEFAULT_CONTEXT_SIZE);
  checkMemory(native, model, size, input);
  const params = native.defaults("llama_context_params");
  params.n_ctx = size;
  params.n_batch = Math.min(input.batchSize, size);
  params.n_ubatch = Math.min(MICRO_BATCH_SIZE, input.batchSize, size);
  params.n_threads = input.threads;
  params.n_threads_batch = input.threads;
  params.abort_callback = cancel.callback;
  params.abort_callback_data = cancel.data;
  const mark = native.logMark();
  const context = lib.llama_init_from_model(model, params);
  if (context !== null) return context;
  const reason = loggedErrors(native, mark) ?? "there may be too little memory";
  throw new ContextError(
    `llama.cpp can't make a context of ${size} tokens for ${input.path}: ${reason}; try a smaller contextSize`,
    {
      value: size,
      expected: "a contextSize that fits into memory",
    },
  );
}

/** `GGML_BACKEND_DEVICE_TYPE_CPU` and `_ACCEL`, which use main memory. */
const inMainMemory = [0, 3];
/** `GGML_BACKEND_DEVICE_TYPE_GPU` and `_IGPU`. */
const graphicsTypes = [1, 2];
type Device = Pointer<"ggml_backend_device">;

/** Memory that the runtime takes while a model answers, in bytes. */
const RUNTIME_BYTES = 16 << 20;
/** Vectors of the model's width that llama.cpp keeps for each token of a batch: as measured, and rounded up. */
const VECTORS_PER_TOKEN = 16;

/** Throws ContextError for a context that exceeds the free main memory. One on a GPU is left to llama.cpp. */
function checkMemory(native: Native, model: Pointer<"llama_model">, size: number, input: LoadInput): void {
  const { path, bytesPerToken, devices, batchSize } = input;
  if (devices !== undefined) return;
  const batch = Math.min(MICRO_BATCH_SIZE, batchSize, size);
  const working = RUNTIME_BYTES + batch * native.lib.llama_model_n_embd(model) * 4 * VECTORS_PER_TOKEN;
  const needed = size * bytesPerToken + working;
  const free = native.freeMemory();
  if (free === undefined || needed <= free) return;
  const { lib } = native;
  if (allDevices(lib).some((device) => !inMainMemory.includes(lib.ggml_backend_dev_type(device)))) return;
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  throw new ContextError(
    `a context of ${size} tokens for ${path} takes ${megabytes(needed)}, but ${
      megabytes(free)
    } of memory are free; try a smaller contextSize`,
    { value: size, expected: `at most ${Math.max(0, Math.floor((free - working) / bytesPerToken))}` },
  );
}

function facts(
  native: Native,
  model: Pointer<"llama_model">,
  vocab: Pointer<"llama_vocab">,
  context: Pointer<"llama_context"> | null,
  { threads, devices, gpuLayers }: LoadInput,
): ModelFacts {
  const { lib } = native;
  const layerCount = lib.llama_model_n_layer(model);
  return {
    description: description(lib, model),
    parameterCount: Number(lib.llama_model_n_params(model)),
    byteSize: Number(lib.llama_model_size(model)),
    contextSize: context === null ? 0 : lib.llama_n_ctx(context),
    trainedContextSize: lib.llama_model_n_ctx_train(model),
    embeddingSize: lib.llama_model_n_embd(model),
    layerCount,
    // It reads the first layer, and aborts if there is none.
    headCount: layerCount > 0 ? lib.llama_model_n_head(model) : 0,
    vocabularySize: lib.llama_vocab_n_tokens(vocab),
    hasEncoder: lib.llama_model_has_encoder(model),
    hasDecoder: lib.llama_model_has_decoder(model),
    threads,
    batchSize: context === null ? 0 : lib.llama_n_batch(context),
    devices: deviceNames(native, gpuLayers === 0 ? [] : devices ?? graphicsCards(lib)),
  };
}

/** Returns the names of devices; that of the CPU if there are none. */
function deviceNames(native: Native, devices: readonly Device[]): string[] {
  const names = devices.map((device) => native.readCString(native.lib.ggml_backend_dev_name(device)));
  return names.length === 0 ? ["CPU"] : names;
}

/** Returns the devices that llama.cpp uses by default. */
function graphicsCards(lib: Native["lib"]): Device[] {
  return allDevices(lib).filter((device) => graphicsTypes.includes(lib.ggml_backend_dev_type(device)));
}

function allDevices(lib: Native["lib"]): Device[] {
  return Array.from(
    { length: Number(lib.ggml_backend_dev_count()) },
    (_, index) => lib.ggml_backend_dev_get(BigInt(index)),
  ).filter((device) => device !== null);
}

function description(lib: Native["lib"], model: Pointer<"llama_model">): string {
  const bytes = new Uint8Array(256);
  const length = lib.llama_model_desc(model, bytes, BigInt(bytes.length));
  return new TextDecoder().decode(bytes.subarray(0, Math.min(Math.max(0, length), bytes.length - 1)));
}

/** Input of the task `unload`. */
export interface UnloadInput {
  /** The model. */
  model: Pointer<"llama_model">;
  /** Its context. */
  context: Pointer<"llama_context"> | null;
}

/** Frees a model and its context. */
export function unload({ model, context }: UnloadInput, { lib }: TaskContext): void {
  if (context !== null) {
    removeContext(context);
    lib.llama_free(context);
  }
  lib.llama_model_free(model);
}
