/**
 * Audio: reading it from files and streams, changing its rate.
 *
 * @module
 */

export type { AudioSource } from "./byte_reader.ts";
export {
  AudioAccessError,
  AudioEmptyError,
  AudioFormatError,
  AudioNotFoundError,
  AudioSampleError,
  AudioTruncatedError,
  FfmpegError,
} from "./errors.ts";
export type { AudioFileOptions, ReadAudioOptions } from "./options.ts";
export { type AudioInfo, decodeAudio, readAudio, readWavInfo, type ReadWavInfoOptions } from "./read.ts";
export { resample, Resampler, WHISPER_SAMPLE_RATE } from "./resampler.ts";
export type { ChannelChoice } from "./sample_decoder.ts";
export type { DataChunks, PcmFormat, SampleEncoding } from "./wav_header.ts";
export { encodeWav, type EncodeWavOptions } from "./wav_writer.ts";
