/**
 * The default speech models.
 *
 * @module
 */

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { rethrowDenied } from "../../base/permission.ts";
import { ModelNotFoundError } from "../errors.ts";
import { cacheFolder } from "../../ffi/runtime/cache_folder.ts";

/** File name of the default speech model: Whisper tiny.en, MIT. */
export const DEFAULT_SPEECH_FILE = "ggml-tiny.en.bin";

/**
 * Returns the path of the default speech model in the cache. It transcribes English only.
 *
 * Throws {@linkcode ModelNotFoundError} when it isn't there.
 */
export async function speechModelPath(): Promise<string> {
  const path = join(cacheFolder(), "models", DEFAULT_SPEECH_FILE);
  try {
    await stat(path);
    return path;
  } catch (cause) {
    rethrowDenied(cause, "looking for the default speech model", `--allow-read=${path}`);
    throw new ModelNotFoundError(
      `there is no default speech model in the cache (${path}); give the path of a Whisper model in whisper.cpp's format, or run \`npm run setup -- --speech\` in a clone of the repository`,
      { value: path, expected: "a model in the cache", cause },
    );
  }
}
