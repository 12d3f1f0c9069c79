/**
 * Loading a Whisper model on the native thread.
 *
 * @module
 */

import { InvalidArgumentError, LibraryVersionError } from "../../../base/errors.ts";
import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { tableVersions } from "../../../ffi/tables/versions.ts";
import { ModelLoadError } from "../../errors.ts";
import { loggedErrors } from "../../support/native_log.ts";
import { MemoryModel, ModelCursor, ModelFile, type ModelSource } from "../model_file/source.ts";
import { Loader } from "./loader.ts";
import { readSpeechModel, type SpeechModelHeader } from "../model_file/speech_model.ts";
import type { LoadedWhisper, LoadInput, ModelInput } from "./protocol.ts";

/** Loads a model without a state. Posts numbers from 0 to 1. */
export function loadWhisperModel(input: LoadInput, task: TaskContext<number>): LoadedWhisper {
  const { native, lib } = task;
  checkVersion(native);
  using source = openModel(input.model);
  const header = readSpeechModel(new ModelCursor(source));
  checkAlignment(input.alignmentHeads, header.numbers);
  task.throwIfCancelled();
  const context = loadFrom(source, header, input, task);
  if (task.cancelled()) lib.whisper_free(context);
  task.throwIfCancelled();
  return {
    context,
    numbers: header.numbers,
    multilingual: lib.whisper_is_multilingual(context) !== 0,
    size: native.readCString(lib.whisper_model_type_readable(context)),
    fileType: lib.whisper_model_ftype(context),
    systemInfo: native.readCString(lib.whisper_print_system_info()),
  };
}

/** Layers and heads of the decoders that the presets are for, from `WHISPER_AHEADS_TINY_EN` on. */
const FIRST_PRESET = 3;
const presetLayers = [4, 4, 6, 6, 12, 12, 24, 24, 32, 32, 32, 4];
const presetHeads = [6, 6, 8, 8, 12, 12, 16, 16, 20, 20, 20, 20];

/** whisper.cpp frees memory twice when heads aren't there. */
function checkAlignment(preset: number, { textLayers, textHeads }: SpeechModelHeader["numbers"]): void {
  if (preset === 0) return;
  const [layers, heads] = [presetLayers[preset - FIRST_PRESET], presetHeads[preset - FIRST_PRESET]];
  if (layers === textLayers && heads === textHeads) return;
  throw new InvalidArgumentError(
    `alignment is for a model of ${layers} layers with ${heads} heads, this one has ${textLayers} with ${textHeads}; give the kind of this model`,
    { value: `${layers} layers, ${heads} heads`, expected: `${textLayers} layers, ${textHeads} heads` },
  );
}

/** Frees a model. Its states are gone before. */
export function unloadWhisperModel(context: Pointer<"whisper_context">, { lib }: TaskContext): void {
  lib.whisper_free(context);
}

/** Opens what a model is read from. */
export function openModel(input: ModelInput): ModelSource {
  return "path" in input ? new ModelFile(input.path) : new MemoryModel(input.bytes);
}

/** The tables' structs are those of one release. */
function checkVersion(native: Native): void {
  const found = native.readCString(native.lib.whisper_version());
  if (found === tableVersions.whisperVersion) return;
  throw new LibraryVersionError(
    `the libraries have whisper.cpp ${found}, but this release of ggml-ffi is made for whisper.cpp ${tableVersions.whisperVersion}`,
    { value: found, expected: tableVersions.whisperVersion },
  );
}

function loadFrom(
  source: ModelSource,
  header: SpeechModelHeader,
  input: LoadInput,
  task: TaskContext<number>,
): Pointer<"whisper_context"> {
  const { native, lib } = task;
  const params = native.defaults("whisper_context_params");
  params.use_gpu = input.gpu.useGpu;
  params.gpu_device = input.gpu.gpuDevice;
  params.flash_attn = input.flashAttention;
  params.dtw_token_timestamps = input.alignmentHeads !== 0;
  params.dtw_aheads_preset = input.alignmentHeads as never;
  const skip = (position: number): boolean => {
    if (task.cancelled()) return true;
    task.post(position / source.size);
    return false;
  };
  using loader = new Loader(native, source, header.tensorPlaces[0] ?? 0, skip);
  const mark = native.logMark();
  const context = lib.whisper_init_with_params_no_state(loader.struct, params);
  if (loader.failure !== undefined) {
    if (context !== null) lib.whisper_free(context);
    throw loader.failure;
  }
  if (context !== null) return context;
  const words = loggedErrors(native, mark) ?? "is there memory for it?";
  throw new ModelLoadError(`whisper.cpp can't load ${source.name}, though its header is sound: ${words}`, {
    value: source.name,
    expected: "a model that whisper.cpp supports",
  });
}
