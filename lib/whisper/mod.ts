/**
 * Speech: Whisper models by whisper.cpp, on the same libraries as the language models.
 *
 * @module
 */

export * from "../ggml/tensor/errors.ts";
export type { LogLevel, LogLine, NativeAbortPolicy } from "../../ffi/thread/native_thread.ts";
export * from "../errors.ts";
export type { WhisperAudio } from "./transcribe/audio_input.ts";
export { DEFAULT_SPEECH_FILE, speechModelPath } from "../models/default_speech_models.ts";
export * from "./errors.ts";
export type { LiveAudio, LiveOptions, LiveText } from "./live/live.ts";
export type { LoadOptions } from "../support/load_options.ts";
export type { DownloadOptions, DownloadProgress } from "../support/download_options.ts";
export type { Alignment, WhisperOptions, WhisperSource } from "./model/load_options.ts";
export type { Segment, Token, Word } from "./transcribe/segment.ts";
export type { LanguageProbability, SpeechSegment } from "./thread/protocol.ts";
export type { DecodingOptions, TranscribeOptions } from "./transcribe/options.ts";
export { type Transcription, type TranscriptionResult, type TranscriptionTimings } from "./transcribe/transcription.ts";
export type { VadOptions } from "./vad/options.ts";
export type { AudioOptions, DetectSpeechOptions } from "./transcribe/audio_options.ts";
export { loadWhisper } from "./model/load_whisper.ts";
export type { Whisper } from "./model/whisper.ts";
export type { WhisperInfo } from "./model/info.ts";
export * from "./audio/mod.ts";
export * from "./convert/mod.ts";
export * from "./formats/mod.ts";
