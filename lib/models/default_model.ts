/**
 * The small model that the command line uses when it is given none.
 *
 * @module
 */

import { access } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { ModelNotFoundError } from "../errors.ts";

/** The file of the default model: SmolLM2 135M Instruct, quantized to four bits, Apache-2.0. */
export const defaultModelFile = "SmolLM2-135M-Instruct.Q4_1.gguf";

/** The folder that models and libraries are kept in: `$GGML_FFI_CACHE`, else the system's cache folder and `ggml-ffi`. */
export function cacheFolder(): string {
  const { GGML_FFI_CACHE, LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
  if (GGML_FFI_CACHE) return GGML_FFI_CACHE;
  if (process.platform === "win32") return join(LOCALAPPDATA ?? join(homedir(), "AppData", "Local"), "ggml-ffi");
  if (process.platform === "darwin") return join(homedir(), "Library", "Caches", "ggml-ffi");
  return join(XDG_CACHE_HOME || join(homedir(), ".cache"), "ggml-ffi");
}

/**
 * The path of the default model, which set-up brought into the cache.
 *
 * Throws {@linkcode ModelNotFoundError} when it isn't there.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { defaultModelPath } from "./default_model.ts";
 *
 * assert.match(await defaultModelPath(), /SmolLM2/);
 * ```
 */
export async function defaultModelPath(): Promise<string> {
  const path = join(cacheFolder(), "models", defaultModelFile);
  try {
    await access(path);
    return path;
  } catch (cause) {
    throw new ModelNotFoundError(
      `the default model isn't there (${path}); run \`npm run setup\`, or give a model of your own`,
      {
        value: path,
        expected: "a model in the cache",
        cause,
      },
    );
  }
}
