/**
 * The speech models that `npm run setup -- --speech` brings in a source tree.
 *
 * @module
 */

import { access } from "node:fs/promises";
import { join } from "node:path";
import { ModelNotFoundError } from "../errors.ts";
import { cacheFolder } from "./default_model.ts";

/** The file of the default model: Whisper tiny.en, MIT. */
export const DEFAULT_SPEECH_FILE = "ggml-tiny.en.bin";

/**
 * The path of the default model. It knows English alone.
 *
 * Throws {@linkcode ModelNotFoundError} when it isn't there.
 */
export async function speechModelPath(): Promise<string> {
  const path = join(cacheFolder(), "models", DEFAULT_SPEECH_FILE);
  try {
    await access(path);
    return path;
  } catch (cause) {
    throw new ModelNotFoundError(
      `the default speech model isn't there (${path}); run \`npm run setup -- --speech\`, or give a model of your own`,
      { value: path, expected: "a model in the cache", cause },
    );
  }
}
