/**
 * The errors of speech.
 *
 * @module
 */

import { detailsOf, registerErrors } from "../../base/error.ts";
import { GgmlError, type GgmlErrorDetails } from "../../base/errors.ts";
import type { Segment } from "./transcribe/segment.ts";

/** A file isn't in whisper.cpp's format: it starts with something else. */
export class NotWhisperModelError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "NOT_WHISPER_MODEL";
}

/** A file in whisper.cpp's format ends before what its header announces. */
export class WhisperTruncatedError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "WHISPER_TRUNCATED";
}

/** A file in whisper.cpp's format contradicts itself. */
export class WhisperFormatError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "WHISPER_FORMAT";
}

/** whisper.cpp failed while it transcribed; the model can be used again. */
export class TranscriptionError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "TRANSCRIPTION";
}

/** Details of a {@linkcode TranscriptionCancelledError}. */
export interface TranscriptionCancelledErrorDetails extends GgmlErrorDetails {
  /** The segments so far. */
  partial?: readonly Segment[];
}

/** The loop over a transcription was left before its end, which cancelled it. */
export class TranscriptionCancelledError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "TRANSCRIPTION_CANCELLED";
  /** The segments so far. */
  readonly partial: readonly Segment[];

  /** Makes an error from its message and details. */
  constructor(message: string, details: TranscriptionCancelledErrorDetails = {}) {
    super(message, details);
    this.partial = detailsOf(details).partial ?? [];
  }
}

registerErrors(
  NotWhisperModelError,
  WhisperTruncatedError,
  WhisperFormatError,
  TranscriptionError,
  TranscriptionCancelledError,
);
