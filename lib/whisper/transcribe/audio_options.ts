import type { DataChunks } from "../audio/mod.ts";
import type { VadOptions } from "../vad/options.ts";

/** Options of `Whisper.detectSpeech`. */
export interface DetectSpeechOptions extends VadOptions, AudioOptions {
  /** Called while it works with a number from 0 to 1. */
  onProgress?: ((part: number) => void) | undefined;
}

/** Options of audio alone. */
export interface AudioOptions {
  /** For samples: how many there are a second, 1,000 to 768,000. Default 16,000. */
  sampleRate?: number | undefined;
  /** For files: the channel that is heard, its number from 0, or `"mix"`. Default `"mix"`. */
  channel?: number | "mix" | undefined;
  /** For files: the program that reads what isn't WAV, `false` for none. Default `"ffmpeg"`. */
  ffmpeg?: string | false | undefined;
  /** For files: accept a WAV file that is cut off and use what is there, instead of rejecting with AudioTruncatedError. Default false. */
  allowTruncated?: boolean | undefined;
  /** For files: the `data` chunks of a WAV file that are read, `"all"` one after another or the `"first"` alone. Default `"all"`. */
  dataChunks?: DataChunks | undefined;
  /** How many threads compute, at most. */
  threads?: number | undefined;
  /** Stops it: the promise then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** The names of {@linkcode AudioOptions}. */
export const audioNames = [
  "sampleRate",
  "channel",
  "ffmpeg",
  "allowTruncated",
  "dataChunks",
  "threads",
  "signal",
] as const;
