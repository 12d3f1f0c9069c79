/**
 * Speech: Whisper models by whisper.cpp, on the same libraries as the language models.
 *
 * @module
 */

export type { LogLine, OnAbort } from "../../ffi/thread.ts";
export { GgmlError, type GgmlErrorDetails, type SerializedError } from "../errors.ts";
export type { WhisperAudio } from "./gather_audio.ts";
export { defaultSpeechFile, speechModelPath } from "./default_models.ts";
export * from "./errors.ts";
export type { LiveAudio, LiveOptions, LiveText } from "./live.ts";
export type { LoadOptions } from "../load_options.ts";
export type { Alignment, WhisperOptions, WhisperSource } from "./load_options.ts";
export type { Segment, Token, Word } from "./segment.ts";
export type { LanguageProbability, SpeechSegment } from "./thread/protocol.ts";
export type { DecodingOptions, TranscribeOptions } from "./transcribe_options.ts";
export { Transcription, type TranscriptionResult, type TranscriptionTimings } from "./transcription.ts";
export type { VadOptions } from "./vad_options.ts";
export { type AudioOptions, type DetectSpeechOptions } from "./audio_options.ts";
export { loadWhisper } from "./load_whisper.ts";
export { Whisper } from "./whisper.ts";
export { type WhisperInfo } from "./whisper_info.ts";
export * from "./audio/mod.ts";
export * from "./convert/mod.ts";
export * from "./formats/mod.ts";
