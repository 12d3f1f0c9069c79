/**
 * The errors of reading audio.
 *
 * @module
 */

import { registerErrors } from "../../../base/error.ts";
import { GgmlError } from "../../../base/errors.ts";

/** There is no audio file at the path, or it is a folder or another thing that isn't a regular file. */
export class AudioNotFoundError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "AUDIO_NOT_FOUND";
}

/** The system, or the runtime's own permissions, refused to let the audio be read: `cause` has its message. */
export class AudioAccessError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "AUDIO_ACCESS";
}

/** The audio is of a format that can't be read, or its header contradicts itself. */
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

/** ffmpeg, which decodes every format but WAV, isn't installed or refused the audio; `cause` or the message has its output. */
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
