/**
 * What goes back and forth between a Whisper model and its native threads: plain data only.
 *
 * @module
 */

import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { DecodingSettings } from "../transcribe/options.ts";
import type { VadSettings } from "../vad/options.ts";
import type { Segment } from "../transcribe/segment.ts";
import type { WhisperNumbers } from "../model_file/speech_model.ts";

/** Where a model comes from: a path, or bytes. */
export type ModelInput = { readonly path: string } | { readonly bytes: Uint8Array<ArrayBuffer> };

/** The device that computes, as whisper.cpp is told it. */
export interface GpuChoice {
  /** Use a GPU if there is one. C: `use_gpu`. */
  readonly useGpu: boolean;
  /** Its number among the GPUs. C: `gpu_device`. */
  readonly gpuDevice: number;
}

/** What the load task is given. */
export interface LoadInput {
  /** The model. */
  model: ModelInput;
  /** The device that computes. */
  gpu: GpuChoice;
  /** Attention in one step. */
  flashAttention: boolean;
  /** Which of the model's heads tell when a token is said, `enum whisper_alignment_heads_preset`; 0 for none. */
  alignmentHeads: number;
}

/** What the load task tells. */
export interface LoadedWhisper {
  /** The model. */
  context: Pointer<"whisper_context">;
  /** What its file says. */
  numbers: WhisperNumbers;
  /** Whether it knows more languages than English. */
  multilingual: boolean;
  /** What whisper.cpp calls its size, such as `"tiny"`. */
  size: string;
  /** The type of its weights, as the file numbers it. */
  fileType: number;
  /** What whisper.cpp says of the processor. */
  systemInfo: string;
}

/** A model for voice activity. It is small, so it is opened for each use. */
export interface VadModelInput {
  /** What it is called in messages. */
  name: string;
  /** The model. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** What the transcribe task is given. */
export interface TranscribeInput {
  /** The model. */
  context: Pointer<"whisper_context">;
  /** The part of the audio that is transcribed, at 16 kHz. */
  samples: Float32Array<ArrayBuffer>;
  /** Where that part starts, in milliseconds. */
  fromMs: number;
  /** How it is decoded. */
  decoding: DecodingSettings;
  /** How speech is found before; `undefined` for not at all. */
  vad: { model: VadModelInput; settings: VadSettings } | undefined;
  /** Whether the model was loaded with heads that tell when tokens are said. */
  alignment: boolean;
  /** Compute threads at most. */
  threads: number;
  /** Whether messages about progress are wanted. */
  progress: boolean;
}

/** What the transcribe task posts. */
export type TranscribeMessage =
  /** More text. */
  | { segments: Segment[] }
  /** From 0 to 1. */
  | { progress: number }
  /** The thread waits for cores, and lives. */
  | { waiting: true };

/** What the transcribe task gives in the end. */
export interface TranscribeOutput {
  /** The language of the text; `""` when it was to be heard and there was nothing to hear. */
  language: string;
  /** How probable each language is, where that was asked for. */
  languages: LanguageProbability[] | undefined;
  /** Where speech was found, where that was asked for. */
  speech: SpeechSegment[] | undefined;
  /** Milliseconds in which voice activity was looked for. */
  vadMs: number;
  /** Milliseconds in which it was transcribed. */
  transcribeMs: number;
}

/** How probable a language is. */
export interface LanguageProbability {
  /** The language as a short code such as `"en"`. */
  readonly language: string;
  /** From 0 to 1. */
  readonly probability: number;
}

/** A stretch of the audio in which somebody speaks. */
export interface SpeechSegment {
  /** Where it starts, in seconds. */
  readonly start: number;
  /** Where it ends, in seconds. */
  readonly end: number;
}

/** What the speech task is given. */
export interface SpeechInput {
  /** The model for voice activity. */
  model: VadModelInput;
  /** The audio at 16 kHz. */
  samples: Float32Array<ArrayBuffer>;
  /** What counts as speech. */
  settings: VadSettings;
  /** Compute threads at most. */
  threads: number;
}

/** What the language task is given. */
export interface LanguageInput {
  /** The model. */
  context: Pointer<"whisper_context">;
  /** The audio at 16 kHz; its first 30 seconds count. */
  samples: Float32Array<ArrayBuffer>;
  /** Compute threads at most. */
  threads: number;
}
