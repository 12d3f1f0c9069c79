/**
 * Speech models of other programs to whisper.cpp's format.
 *
 * @module
 */

export { convertCt2Whisper } from "./ct2_whisper.ts";
export { ConversionError } from "./errors.ts";
export { type ConvertSafetensorsOptions, convertSafetensorsWhisper } from "./hf_whisper.ts";
export { writeModel, type WriteModelOptions } from "./output.ts";
export type { FilePart, FileParts } from "./parts.ts";
export { type ConvertSileroOptions, convertSileroVad } from "./silero.ts";
export { quantizeWhisper, type WhisperQuantization, whisperQuantizations } from "./quantize_model.ts";
