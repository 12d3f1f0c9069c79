/**
 * The errors of reading audio.
 *
 * @module
 */

import { registerErrors } from "../../../base/error.ts";
import { GgmlError } from "../../../base/errors.ts";

/** There is no audio file at the path that was given, or what is there is no file. */
export class AudioNotFoundError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "AUDIO_NOT_FOUND";
}

/** The system, or the runtime's own permissions, refused to let the audio be read: `cause` has its words. */
export class AudioAccessError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "AUDIO_ACCESS";
}

/** The audio is of a kind that can't be read, or its header says something that can't be true. */
export class AudioFormatError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "AUDIO_FORMAT";
}

/** The audio ends before what its header announces. */
export class AudioTruncatedError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "AUDIO_TRUNCATED";
}

/** The audio has no samples. */
export class AudioEmptyError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "AUDIO_EMPTY";
}

/** A sample is not finite, or larger than any recording has. */
export class AudioSampleError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "AUDIO_SAMPLE";
}

/** The program ffmpeg, which reads what isn't WAV, isn't there or refused the audio; `cause` or the message has its words. */
export class FfmpegError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "FFMPEG";
}

registerErrors(
  AudioNotFoundError,
  AudioAccessError,
  AudioFormatError,
  AudioTruncatedError,
  AudioEmptyError,
  AudioSampleError,
  FfmpegError,
);
