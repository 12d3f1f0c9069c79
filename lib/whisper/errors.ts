/**
 * The errors of speech.
 *
 * @module
 */

import { GgmlError, registerErrors } from "../../ffi/errors.ts";

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

/** A file in whisper.cpp's format says something that can't be true. */
export class WhisperFormatError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "WHISPER_FORMAT";
}

/** whisper.cpp failed while it transcribed; the model can be used again. */
export class TranscriptionError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "TRANSCRIPTION";
}

/** The loop over a transcription was left before its end, so that there is no result. */
export class TranscriptionCancelledError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "TRANSCRIPTION_CANCELLED";
}

registerErrors(
  NotWhisperModelError,
  WhisperTruncatedError,
  WhisperFormatError,
  TranscriptionError,
  TranscriptionCancelledError,
);
