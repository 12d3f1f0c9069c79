/**
 * Messages between a Whisper model and its native threads: plain data only.
 *
 * @module
 */

import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { DecodingSettings } from "../transcribe/options.ts";
import type { VadSettings } from "../vad/options.ts";
import type { Segment } from "../transcribe/segment.ts";
import type { WhisperNumbers } from "../model_file/speech_model.ts";

/** Source of a model: a path, or bytes. */
export type ModelInput = { readonly path: string } | { readonly bytes: Uint8Array<ArrayBuffer> };

/** The device that computes, as whisper.cpp is told it. */
export interface GpuChoice {
  /** Use a GPU if there is one. C: `use_gpu`. */
  readonly useGpu: boolean;
  /** Its number among the GPUs. C: `gpu_device`. */
  readonly gpuDevice: number;
}

/** Input of the load task. */
export interface LoadInput {
  /** The model. */
  model: ModelInput;
  /** The device that computes. */
  gpu: GpuChoice;
  /** Attention in one step. */
  flashAttention: boolean;
  /** Preset of attention heads that align tokens, `enum whisper_alignment_heads_preset`; 0 for none. */
  alignmentHeads: number;
}

/** Output of the load task. */
export interface LoadedWhisper {
  /** The model. */
  context: Pointer<"whisper_context">;
  /** Numbers of its file's header. */
  numbers: WhisperNumbers;
  /** Whether it is multilingual. */
  multilingual: boolean;
  /** whisper.cpp's name of its size, such as `"tiny"`. */
  size: string;
  /** The type of its weights, as the file numbers it. */
  fileType: number;
  /** Processor features in use. */
  systemInfo: string;
}

/** A model for voice activity. It is small, so it is opened for each use. */
export interface VadModelInput {
  /** Name in messages. */
  name: string;
  /** The model. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** Input of the transcribe task. */
export interface TranscribeInput {
  /** The model. */
  context: Pointer<"whisper_context">;
  /** The part of the audio that is transcribed, at 16 kHz. */
  samples: Float32Array<ArrayBuffer>;
  /** Start of that part in milliseconds. */
  fromMs: number;
  /** Options of decoding. */
  decoding: DecodingSettings;
  /** Voice activity detection; `undefined` for none. */
  vad: { model: VadModelInput; settings: VadSettings } | undefined;
  /** Whether the model was loaded with heads that tell when tokens are said. */
  alignment: boolean;
  /** Maximum number of compute threads. */
  threads: number;
  /** Whether messages about progress are wanted. */
  progress: boolean;
}

/** Messages of the transcribe task. */
export type TranscribeMessage =
  /** More text. */
  | { segments: Segment[] }
  /** From 0 to 1. */
  | { progress: number }
  /** The thread waits for cores, and lives. */
  | { waiting: true };

/** Output of the transcribe task. */
export interface TranscribeOutput {
  /** The language of the text; `""` when it was to be detected and there was no audio. */
  language: string;
  /** Probability of each language, where it was detected. */
  languages: LanguageProbability[] | undefined;
  /** Stretches of detected speech, where speech was detected. */
  speech: SpeechSegment[] | undefined;
  /** Milliseconds in which voice activity was looked for. */
  vadMs: number;
  /** Milliseconds in which it was transcribed. */
  transcribeMs: number;
}

/** Probability of a language. */
export interface LanguageProbability {
  /** The language as a short code such as `"en"`. */
  readonly language: string;
  /** From 0 to 1. */
  readonly probability: number;
}

/** A stretch of the audio in which somebody speaks. */
export interface SpeechSegment {
  /** Start in seconds. */
  readonly start: number;
  /** End in seconds. */
  readonly end: number;
}

/** Input of the speech task. */
export interface SpeechInput {
  /** The model for voice activity. */
  model: VadModelInput;
  /** The audio at 16 kHz. */
  samples: Float32Array<ArrayBuffer>;
  /** How speech is detected. */
  settings: VadSettings;
  /** Maximum number of compute threads. */
  threads: number;
}

/** Input of the language task. */
export interface LanguageInput {
  /** The model. */
  context: Pointer<"whisper_context">;
  /** The audio at 16 kHz; its first 30 seconds count. */
  samples: Float32Array<ArrayBuffer>;
  /** Maximum number of compute threads. */
  threads: number;
}
