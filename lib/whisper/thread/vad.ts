/**
 * Finding speech on the native thread.
 *
 * @module
 */

import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { ModelLoadError } from "../../errors.ts";
import { loggedErrors } from "../../support/native_log.ts";
import { TranscriptionError } from "../errors.ts";
import { MemoryModel, ModelCursor } from "../model_file/source.ts";
import { readVadModel } from "../model_file/vad_model.ts";
import { speechOf } from "../vad/segments.ts";
import { Loader } from "./loader.ts";
import type { SpeechInput, SpeechSegment, VadModelInput } from "./protocol.ts";
import { waiting } from "./waiting.ts";

const RATE = 16_000;
/** Windows of the model that are computed between two looks at whether it was cancelled: some 16 seconds of audio. */
const BLOCK_WINDOWS = 512;

/** Detects speech. */
export function detectSpeech(
  input: SpeechInput,
  task: TaskContext<{ progress: number } | { waiting: true }>,
): SpeechSegment[] {
  return findSpeech(input, task, (progress) => task.post({ progress }));
}

/** Finds speech; calls `onProgress` with numbers from 0 to 1. */
export function findSpeech(
  { model, samples, settings }: SpeechInput,
  task: TaskContext<never>,
  onProgress: (part: number) => void,
): SpeechSegment[] {
  const { lib } = task;
  const { context, window } = open(model, task);
  try {
    const probabilities = new Float32Array(Math.ceil(samples.length / window));
    const block = BLOCK_WINDOWS * window;
    lib.whisper_vad_reset_state(context);
    for (let at = 0; at < samples.length; at += block) {
      task.throwIfCancelled();
      if (task.cores.acquire(1, waiting(task)) === 0) task.throwIfCancelled();
      const part = samples.subarray(at, Math.min(at + block, samples.length));
      if (!lib.whisper_vad_detect_speech_no_reset(context, part, part.length)) failed();
      probabilities.set(computed(context, task), at / window);
      onProgress(Math.min(1, (at + block) / samples.length));
    }
    task.cores.release();
    // The last window may reach beyond the audio.
    const length = Math.floor(samples.length * 100 / RATE) / 100;
    return speechOf(probabilities, settings, window)
      .map(({ start, end }) => ({ start, end: Math.min(end, length) })).filter(({ start, end }) => start < end);
  } finally {
    lib.whisper_vad_free(context);
  }
}

/** Opens a model for voice activity for audio that comes piece by piece. */
export function openVadStream(model: VadModelInput, task: TaskContext<never>): Pointer<"whisper_vad_context"> {
  const { context } = open(model, task);
  task.lib.whisper_vad_reset_state(context);
  return context;
}

/** The probabilities of frames that follow those of the call before. */
export function processVad(
  { vadStream, samples }: { vadStream: Pointer<"whisper_vad_context">; samples: Float32Array<ArrayBuffer> },
  task: TaskContext<{ waiting: true }>,
): Float32Array {
  if (task.cores.acquire(1, waiting(task)) === 0) task.throwIfCancelled();
  if (!task.lib.whisper_vad_detect_speech_no_reset(vadStream, samples, samples.length)) failed();
  return computed(vadStream, task as TaskContext<never>).slice();
}

/** Ends what {@linkcode openVadStream} opened. */
export function closeVadStream(vadStream: Pointer<"whisper_vad_context">, { lib }: TaskContext): void {
  lib.whisper_vad_free(vadStream);
}

function computed(context: Pointer<"whisper_vad_context">, { lib, native }: TaskContext<never>): Float32Array {
  const count = lib.whisper_vad_n_probs(context);
  const pointer = lib.whisper_vad_probs(context);
  return pointer === null ? new Float32Array(0) : native.viewFloat32(pointer, count);
}

function failed(): never {
  throw new TranscriptionError("whisper.cpp couldn't look for speech; is there memory for it?", {
    value: false,
    expected: "true",
  });
}

function open(
  model: VadModelInput,
  { native, lib }: TaskContext<never>,
): { context: Pointer<"whisper_vad_context">; window: number } {
  using source = new MemoryModel(model.bytes, model.name);
  const cursor = new ModelCursor(source);
  const { window } = readVadModel(cursor);
  const params = native.defaults("whisper_vad_context_params");
  // Its graph is so small that more threads only wait for each other.
  params.n_threads = 1;
  params.use_gpu = false;
  using loader = new Loader(native, source, source.size);
  const mark = native.logMark();
  const context = lib.whisper_vad_init_with_params(loader.struct, params);
  if (context !== null) return { context, window };
  const words = loggedErrors(native, mark) ?? "is there memory for it?";
  throw new ModelLoadError(
    `whisper.cpp can't load the model for voice activity, though its header is sound: ${words}`,
    {
      value: model.name,
      expected: "a Silero model in whisper.cpp's format",
    },
  );
}
