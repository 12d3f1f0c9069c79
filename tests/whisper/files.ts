/** The files that the speech tests use: `npm run setup -- --speech` brings the models, set-up the recording. */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "../../ffi/runtime/cache_folder.ts";

/** Eleven seconds of speech, 16 kHz, one channel, sixteen bits. */
export const jfkPath: string = fileURLToPath(
  new URL("../../csrc/upstream/whisper.cpp-samples/jfk.wav", import.meta.url),
);

/** Whisper tiny.en, which knows English only. */
export const tinyEnglishPath: string = join(cacheFolder(), "models", "ggml-tiny.en.bin");

/** Whisper base, which knows many languages. */
export const basePath: string = join(cacheFolder(), "models", "ggml-base.bin");

/** Silero's voice activity model. */
export const voiceActivityPath: string = join(cacheFolder(), "models", "ggml-silero-v6.2.3.bin");
